// ClickHouse: the servers that one setting names, their version, and the tables in their databases.
import { setTimeout as delay } from 'node:timers/promises';
import { missing } from '../../structures/missing.ts';
import {
  ClickHouseError,
  isTemporary,
  placeOf,
  Replica,
  type ServerAddress,
  type Settings,
  Shard,
} from './replica.ts';
import { quoted } from './statement-values.ts';

const startLimits = {
  /** How long a start waits for a server that does not answer yet. */
  waitMsMax: 30_000,
  retryMs: 500,
  /** For the other replicas of a shard, when one has answered. */
  otherWaitMsMax: 3_000,
} as const;

/** The servers cannot be used; the message says why and what to do. */
export class ClickHouseStartError extends Error {
  override readonly name = 'ClickHouseStartError';
}

class NoAnswerError extends ClickHouseStartError {}

/** The servers of all shards. */
export class ClickHouse {
  readonly shards: readonly Shard[];
  /** The oldest version among the servers. */
  readonly version: string;
  /** Whether tables are replicated; without it a shard has one server. */
  readonly isReplicated: boolean;
  readonly #servers: readonly (readonly Opened[])[];
  readonly #prepared = new Map<string, TableDefinition>();

  private constructor(servers: readonly (readonly Opened[])[]) {
    this.#servers = servers;
    this.isReplicated = replicationOf(servers);
    this.version = oldestOf(servers.flat().map(({ version }) => version));
    this.shards = servers.map(
      (ofShard) =>
        new Shard(
          ofShard.map(({ replica }) => replica),
          ofShard[0]?.features.insert ?? {},
          (replica) => catchUp(replica, [...this.#prepared.keys()]),
        ),
    );
  }

  /**
   * Asks every server for its version first, and creates its database. Waits so many milliseconds
   * for servers. Throws ClickHouseStartError when no replica of a shard answers in time, or one
   * refuses the user or is too old.
   */
  static async open(
    addresses: readonly (readonly ServerAddress[])[],
    waitMsMax: number = startLimits.waitMsMax,
  ): Promise<ClickHouse> {
    const found: (readonly Opened[])[] = [];
    try {
      for (const replicas of addresses) found.push(await openReplicas(replicas, waitMsMax));
      return new ClickHouse(found);
    } catch (error) {
      await Promise.all(found.flat().map(({ replica }) => replica.close()));
      throw error;
    }
  }

  /** Creates the tables where they are missing, and adds columns that they lack. */
  async prepareTables(tables: readonly TableDefinition[]): Promise<void> {
    for (const table of tables) {
      for (const servers of this.#servers) await prepareOnAll(table, servers, this.isReplicated);
      this.#prepared.set(table.name, table);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.shards.map((shard) => shard.close()));
  }
}

interface Opened {
  readonly replica: Replica;
  readonly version: string;
  readonly features: VersionFeatures;
  /** Whether the server knows its shard and replica, and has a ZooKeeper. */
  readonly canReplicate: boolean;
}

/** Until when a server is waited for. */
interface Deadline {
  endsAt: number;
}

/**
 * One replica of a shard is enough: another that does not answer gets the same statements later,
 * and is taken for one of the same version. Throws when none answers, or when one is too old.
 */
async function openReplicas(
  addresses: readonly ServerAddress[],
  waitMsMax: number,
): Promise<readonly Opened[]> {
  const deadline: Deadline = { endsAt: performance.now() + waitMsMax };
  const results = await Promise.allSettled(
    addresses.map(async (address) => {
      const opened = await openServer(address, deadline);
      deadline.endsAt = Math.min(deadline.endsAt, performance.now() + startLimits.otherWaitMsMax);
      return opened;
    }),
  );
  const opened = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const [example] = opened;
  const failures = results.flatMap((result) =>
    result.status === 'rejected' ? [errorOf(result.reason)] : [],
  );
  const refusal = failures.find((error) => !(error instanceof NoAnswerError)) ?? failures[0];
  const isAnyUsable = example !== undefined && refusal instanceof NoAnswerError;
  if (refusal !== undefined && !isAnyUsable) {
    await Promise.all(opened.map(({ replica }) => replica.close()));
    throw refusal;
  }
  return addresses.flatMap((address, i) => {
    const result = results[i];
    if (result?.status === 'fulfilled') return [result.value];
    return example === undefined ? [] : [{ ...example, replica: new Replica(address) }];
  });
}

async function openServer(address: ServerAddress, deadline: Deadline): Promise<Opened> {
  const place = placeOf(address);
  // The database may be missing, so the first statements go to one that every server has.
  const first = new Replica({ ...address, database: 'system' });
  try {
    const version = await firstAnswer(first, place, deadline);
    const features = featuresOf(version);
    if (features === undefined)
      throw new ClickHouseStartError(
        `Invalid SAMPLES_URL: ${place} runs ClickHouse ${version}; ${oldestVersion} or later is required`,
      );
    await first.text({ sql: `create database if not exists ${address.database}` });
    return {
      replica: new Replica(address),
      version,
      features,
      canReplicate: await replicates(first),
    };
  } catch (error) {
    if (!(error instanceof ClickHouseError)) throw error;
    throw new ClickHouseStartError(`Invalid SAMPLES_URL: ${error.message}`);
  } finally {
    await first.close();
  }
}

async function firstAnswer(server: Replica, place: string, deadline: Deadline): Promise<string> {
  for (;;) {
    try {
      return (await server.text({ sql: 'select version()', timeoutMs: 5_000 })).trim();
    } catch (error) {
      const words = `Invalid SAMPLES_URL: ${(error as Error).message || place}`;
      if (!isTemporary(error)) throw new ClickHouseStartError(words);
      if (performance.now() > deadline.endsAt) throw new NoAnswerError(words);
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
      `Invalid SAMPLES_URL: it lists replicas, but ${plain.replica.place} does not define the macros shard and replica. Configure them, and ZooKeeper or Keeper, on that server.`,
    );
  return isReplicated;
}

function errorOf(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

/** A replica that is away gets its tables with a later start. */
async function prepareOnAll(
  table: TableDefinition,
  servers: readonly Opened[],
  isReplicated: boolean,
): Promise<void> {
  const results = await Promise.allSettled(
    servers.map((server) => prepareTable(table, server, isReplicated)),
  );
  const failures = results.flatMap((result) =>
    result.status === 'rejected' ? [errorOf(result.reason)] : [],
  );
  const [first] = failures;
  if (first !== undefined && failures.length === servers.length) throw first;
  for (const error of failures) if (!isTemporary(error)) throw error;
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

// Tables of ClickHouse: created when they are missing, and given the columns that a newer program adds.

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  /** Decides its codec, where the server has codecs. */
  readonly use: ColumnUse;
}

export interface TableDefinition {
  readonly name: string;
  readonly columns: readonly TableColumn[];
  /** `MergeTree`, or another of its family, without `Replicated`. */
  readonly engine: string;
  /** Arguments of the engine. */
  readonly engineArguments?: readonly string[];
  readonly partitionBy?: string;
  readonly orderBy: readonly string[];
  readonly indexGranularity?: number;
}

export function columnNames({ columns }: TableDefinition): readonly string[] {
  return columns.map(({ name }) => name);
}

interface TablePlace {
  readonly features: VersionFeatures;
  readonly isReplicated: boolean;
  readonly database: string;
}

function createStatement(table: TableDefinition, place: TablePlace): string {
  const { name, partitionBy, orderBy, indexGranularity = 1_024 } = table;
  const columns = table.columns.map((column) => columnText(column, place)).join(', ');
  const ofEngine = place.isReplicated ? place.features.replicatedTable : place.features.plainTable;
  const settings: Settings = { index_granularity: indexGranularity, ...ofEngine };
  const list = Object.entries(settings).map(([key, value]) => `${key} = ${value}`);
  const partition = partitionBy === undefined ? '' : `partition by ${partitionBy} `;
  return `create table if not exists ${name} (${columns}) engine = ${engineText(table, place)} ${partition}order by (${orderBy.join(', ')}) settings ${list.join(', ')}`;
}

/** One path for each shard and table; the server replaces its macros. */
function engineText(
  { name, engine, engineArguments = [] }: TableDefinition,
  { isReplicated, database }: TablePlace,
): string {
  const path = quoted(`/clickhouse/tables/{shard}/${database}/${name}`);
  const replication = isReplicated ? [path, quoted('{replica}')] : [];
  const all = [...replication, ...engineArguments].join(', ');
  return `${isReplicated ? 'Replicated' : ''}${engine}(${all})`;
}

function columnText({ name, type, use }: TableColumn, { features }: TablePlace): string {
  return `${name} ${type} ${features.codecs[use]}`.trimEnd();
}

/** Columns that the table does not have. A new one has its standard value in the rows that exist. */
function addColumns(
  { name, columns }: TableDefinition,
  existing: ReadonlySet<string>,
  place: TablePlace,
): readonly string[] {
  return columns
    .filter((column) => !existing.has(column.name))
    .map((column) => `alter table ${name} add column ${columnText(column, place)}`);
}

// Server version: what differs between ClickHouse 18.16 and current versions, in one table.

/** The oldest version that is supported, and the first that is written to as a current one. */
const oldest = [18, 16] as const;
const firstCurrent = [23, 3] as const;

/** What a column has, for its codec. */
type ColumnUse = 'time' | 'number' | 'count' | 'text';

interface VersionFeatures {
  /** Written behind the type of a column. */
  readonly codecs: Readonly<Record<ColumnUse, string>>;
  /** Settings of tables without replication, and of those with it. */
  readonly plainTable: Settings;
  readonly replicatedTable: Settings;
  /** Settings of an insert. */
  readonly insert: Settings;
}

/**
 * 18.16 knows neither codecs nor a sync of files, and refuses settings that it does not know.
 * Its limits of partitions and its forms of statements are those of current versions.
 */
const features = {
  '18.16': {
    codecs: { time: '', number: '', count: '', text: '' },
    plainTable: {},
    replicatedTable: { replicated_deduplication_window: 10_000 },
    insert: {},
  },
  current: {
    codecs: {
      time: 'codec(DoubleDelta, ZSTD(1))',
      number: 'codec(Gorilla, ZSTD(1))',
      count: 'codec(Delta, ZSTD(1))',
      text: 'codec(ZSTD(1))',
    },
    plainTable: {
      fsync_after_insert: 1,
      fsync_part_directory: 1,
      non_replicated_deduplication_window: 1_000,
    },
    replicatedTable: {
      fsync_after_insert: 1,
      fsync_part_directory: 1,
      replicated_deduplication_window: 10_000,
    },
    insert: { async_insert: 0 },
  },
} as const satisfies Record<string, VersionFeatures>;

/** Undefined for a version that is too old, or no version. */
function featuresOf(version: string): VersionFeatures | undefined {
  const [major = Number.NaN, minor = 0] = version.split('.').map(Number);
  const isFrom = ([first, second]: readonly [number, number]): boolean =>
    major > first || (major === first && minor >= second);
  if (!isFrom(oldest)) return undefined;
  return isFrom(firstCurrent) ? features.current : features['18.16'];
}

const oldestVersion = oldest.join('.');
