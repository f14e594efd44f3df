// Opens the records database of a data folder, brings it to this program's version and hands out Kysely.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, SqliteAdapter, sql } from 'kysely';
import type { Actor } from '../../model/actor.ts';
import { type Quotas, standardQuotas } from '../../model/quota.ts';
import type { RecordChange } from '../../model/record.ts';
import { changesLists, type KeptLists, keptLists } from './kept-lists.ts';
import { migrate } from './migrations.ts';
import { keepCheckWord } from './records-check.ts';
import type { RecordTables } from './schema.ts';
import { type Sealer, sealerOf, secretsKey } from './sealed-text.ts';
import { sqliteDialect } from './sqlite-dialect.ts';

const busyTimeoutMs = 5_000;
const busyTimeoutAtStopMs = 200;
const cacheKiB = 32 * 1024;

/** Kysely itself or a transaction of it. */
export type RecordsDb = Kysely<RecordTables>;

export interface Records {
  readonly db: RecordsDb;
  readonly sealer: Sealer;
  /** Tells what changed, after the change is durable. */
  readonly announce: (change: RecordChange) => void;
  /** Sees what is committed, also while a transaction of `db` is under way. For reading alone. */
  readonly committed: RecordsDb;
  /** In whose name the request under way changes things; undefined for the platform itself. */
  readonly actor: () => Actor | undefined;
  readonly now: () => number;
  readonly lists: KeptLists;
  /** How many records an organization may have. */
  readonly quotas: Quotas;
}

export interface OpenRecords extends Records {
  close(): Promise<void>;
}

/**
 * Opens `<directory>/records.sqlite`, creating what is missing. Every commit is on disk when it returns.
 * Throws when the folder was written by a newer version of the program.
 */
export async function openRecords(options: {
  readonly directory: string;
  /** The operator's `SECRETS_KEY`; without it a key file in the folder. */
  readonly secretsKey?: string | undefined;
  readonly announce: (change: RecordChange) => void;
  /** In whose name changes are made, for the audit log; without it none is written. */
  readonly actor?: (() => Actor | undefined) | undefined;
  readonly now?: (() => number) | undefined;
  readonly quotas?: Quotas | undefined;
}): Promise<OpenRecords> {
  mkdirSync(options.directory, { recursive: true });
  const path = join(options.directory, 'records.sqlite');
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: true, timeout: busyTimeoutMs });
  database.exec('pragma journal_mode = wal');
  database.exec('pragma synchronous = full');
  database.exec(`pragma cache_size = -${cacheKiB}`);
  let written = 0;
  const ran = (statement: string): void => {
    if (changesLists(statement)) written += 1;
  };
  const db = new Kysely<RecordTables>({ dialect: sqliteDialect(database, ran) });
  try {
    // New indexes begin without statistics, and the query planner would pass them over.
    if (await migrate(db)) await refreshStatistics(db);
    const sealer = sealerOf(secretsKey(options.directory, options.secretsKey));
    await keepCheckWord(db, sealer);
    const reader = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs });
    const committed = new Kysely<RecordTables>({ dialect: sqliteDialect(reader) });
    const { announce, actor = () => undefined, now = Date.now, quotas = standardQuotas } = options;
    const close = async () => {
      await committed.destroy();
      await db.destroy();
    };
    const lists = keptLists(() => written);
    return { db, sealer, announce, committed, actor, now, lists, quotas, close };
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

/**
 * A transaction whose commit does not wait for the disk, for what can be made again from the journal: the caller's thread never
 * stands still. After a power cut the newest of them may be missing, whole; the next commit of any other kind makes them durable.
 */
export function lazyTransaction<T>(db: RecordsDb, work: (step: RecordsDb) => Promise<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    await sql`pragma synchronous = normal`.execute(connection);
    try {
      return await connection.transaction().execute(work);
    } finally {
      await sql`pragma synchronous = full`.execute(connection);
    }
  });
}

/** Waits only briefly from now on for another process that holds the write lock: for a stop, which must not hang on it. */
export async function hurryLocks(db: RecordsDb): Promise<void> {
  if (!(db.getExecutor().adapter instanceof SqliteAdapter)) return;
  await sql`pragma busy_timeout = ${sql.lit(busyTimeoutAtStopMs)}`.execute(db);
}

/**
 * Tells SQLite how many rows its indexes stand for, where that changed much: without, it walks whole lists where an index on a
 * custom field would find the device at once. PostgreSQL sees to that itself.
 */
export async function refreshStatistics(db: RecordsDb): Promise<void> {
  if (!(db.getExecutor().adapter instanceof SqliteAdapter)) return;
  await sql`pragma analysis_limit = 1000`.execute(db);
  // All tables that were ever given an index, whether this connection read them or not.
  await sql`pragma optimize = 0x10002`.execute(db);
}
