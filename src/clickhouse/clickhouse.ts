// ClickHouse: the servers that one setting names, their version, and the tables in their databases.
import { setTimeout as delay } from 'node:timers/promises';
import { ClickHouseError, isTemporary } from './clickhouse-error.ts';
import { missing } from '../structures/missing.ts';
import { openReplica, type Replica } from './replica.ts';
import { placeOf, type ServerAddress } from './server-addresses.ts';
import { featuresOf, oldestVersion, type VersionFeatures } from './server-version.ts';
import { createShard, type Shard } from './shard.ts';
import { quoted } from './sql-literals.ts';
import { addColumns, createStatement, type TableDefinition, type TablePlace } from './table.ts';

const startLimits = {
  /** How long a start waits for a server that does not answer yet. */
  waitMsMax: 30_000,
  retryMs: 500,
} as const;

/** The servers cannot be used; the message says why and what to do. */
export class ClickHouseStartError extends Error {
  override readonly name = 'ClickHouseStartError';
}

export interface ClickHouse {
  readonly shards: readonly Shard[];
  /** The oldest version among the servers. */
  readonly version: string;
  /** Whether tables are replicated; without it a shard has one server. */
  readonly isReplicated: boolean;
  /** Creates the tables where they are missing, and adds columns that they lack. */
  prepareTables(tables: readonly TableDefinition[]): Promise<void>;
  close(): Promise<void>;
}

export interface ClickHouseOptions {
  readonly shards: readonly (readonly ServerAddress[])[];
  /** How long the start waits for servers. */
  readonly waitMsMax?: number;
}

/**
 * Asks every server for its version first, and creates its database. Throws ClickHouseStartError
 * when one does not answer in time, refuses the user, or is too old.
 */
export async function openClickHouse({
  shards: addresses,
  waitMsMax = startLimits.waitMsMax,
}: ClickHouseOptions): Promise<ClickHouse> {
  const found: Opened[][] = [];
  const prepared = new Map<string, TableDefinition>();
  try {
    for (const replicas of addresses)
      found.push(await Promise.all(replicas.map((address) => openServer(address, waitMsMax))));
    const isReplicated = replicationOf(found);
    const shards = found.map((servers) =>
      createShard(
        servers.map(({ replica }) => replica),
        {
          insertSettings: servers[0]?.features.insert ?? {},
          catchUp: (replica) => catchUp(replica, [...prepared.keys()]),
        },
      ),
    );
    return {
      shards,
      version: oldestOf(found.flat().map(({ version }) => version)),
      isReplicated,
      async prepareTables(tables) {
        for (const table of tables) {
          for (const server of found.flat()) await prepareTable(table, server, isReplicated);
          prepared.set(table.name, table);
        }
      },
      close: async () => {
        await Promise.all(shards.map((shard) => shard.close()));
      },
    };
  } catch (error) {
    await Promise.all(found.flat().map(({ replica }) => replica.close()));
    throw error;
  }
}

interface Opened {
  readonly replica: Replica;
  readonly version: string;
  readonly features: VersionFeatures;
  /** Whether the server knows its shard and replica, and has a ZooKeeper. */
  readonly canReplicate: boolean;
}

async function openServer(address: ServerAddress, waitMsMax: number): Promise<Opened> {
  const place = placeOf(address);
  // The database may be missing, so the first statements go to one that every server has.
  const first = openReplica({ ...address, database: 'system' });
  try {
    const version = await firstAnswer(first, place, waitMsMax);
    const features = featuresOf(version);
    if (features === undefined)
      throw new ClickHouseStartError(
        `SAMPLES_URL cannot be used: ${place} has version ${version}; ${oldestVersion} or later is needed`,
      );
    await first.text({ sql: `create database if not exists ${address.database}` });
    return {
      replica: openReplica(address),
      version,
      features,
      canReplicate: await replicates(first),
    };
  } catch (error) {
    if (!(error instanceof ClickHouseError)) throw error;
    throw new ClickHouseStartError(`SAMPLES_URL cannot be used: ${error.message}`);
  } finally {
    await first.close();
  }
}

async function firstAnswer(server: Replica, place: string, waitMsMax: number): Promise<string> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return (await server.text({ sql: 'select version()', timeoutMs: 5_000 })).trim();
    } catch (error) {
      const isOver = performance.now() - startedAt > waitMsMax;
      if (!isTemporary(error) || isOver)
        throw new ClickHouseStartError(
          `SAMPLES_URL cannot be used: ${(error as Error).message || place}`,
        );
    }
    await delay(startLimits.retryMs);
  }
}

/** Servers with the macros `shard` and `replica` replicate their tables; others have no replicas. */
async function replicates(server: Replica): Promise<boolean> {
  const names = await server.text({
    sql: "select macro from system.macros where macro in ('shard', 'replica')",
  });
  return names.trim().split('\n').filter(Boolean).length === 2;
}

function replicationOf(shards: readonly (readonly Opened[])[]): boolean {
  const all = shards.flat();
  const isReplicated = all.every(({ canReplicate }) => canReplicate);
  const plain = all.find(({ canReplicate }) => !canReplicate);
  if (plain !== undefined && shards.some(({ length }) => length > 1))
    throw new ClickHouseStartError(
      `SAMPLES_URL cannot be used: it names replicas, but ${plain.replica.place} has no macros shard and replica; set them and ZooKeeper in its configuration`,
    );
  return isReplicated;
}

async function prepareTable(
  table: TableDefinition,
  { replica, features }: Opened,
  isReplicated: boolean,
): Promise<void> {
  const { database } = replica;
  const place: TablePlace = { features, isReplicated, database };
  await replica.text({ sql: createStatement(table, place) });
  const existing = await replica.text({
    sql: `select name from system.columns where database = ${quoted(database)} and table = ${quoted(table.name)} format JSONEachRow`,
  });
  const names = existing
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { name: string }).name);
  for (const sql of addColumns(table, new Set(names), place)) await replica.text({ sql });
}

/** Waits until the replica has everything that another has acknowledged. */
async function catchUp(replica: Replica, tables: readonly string[]): Promise<void> {
  for (const table of tables) await replica.text({ sql: `system sync replica ${table}` });
}

function oldestOf(versions: readonly string[]): string {
  const parts = (version: string): number[] => version.split('.').map(Number);
  const sorted = versions.toSorted((a, b) => {
    const [left, right] = [parts(a), parts(b)];
    return (left[0] ?? 0) - (right[0] ?? 0) || (left[1] ?? 0) - (right[1] ?? 0);
  });
  return sorted[0] ?? missing('version');
}
