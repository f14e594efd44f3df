// Opens the records database of a data folder, brings it to this program's version and hands out Kysely.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely, SqliteAdapter, sql } from 'kysely';
import type { Actor } from '../model/actor.ts';
import { type Quotas, standardQuotas } from '../model/quota.ts';
import type { RecordChange } from '../model/record.ts';
import { syncFolder } from '../data-folder/data-folder.ts';
import { openConnection } from './sqlite/connection.ts';
import { createListCache, type ListCaches } from './list-cache.ts';
import { createListChanges } from './list-changes.ts';
import { migrate } from './migrations.ts';
import { keepCheckWord } from './records-check.ts';
import type { RecordTables } from './schema.ts';
import { type Sealer, sealerOf, secretsKey } from './secret-encryption.ts';
import { elsewhereDialect, sqliteDialect } from './sqlite/sqlite-dialect.ts';

/** Kysely itself or a transaction of it. */
export type RecordsDb = Kysely<RecordTables>;

/** Takes a task that must not see the records as they were before the transaction. */
export type AfterCommit = (task: () => void) => void;

export interface Records {
  readonly db: RecordsDb;
  readonly sealer: Sealer;
  /** Tells what changed, after the change is durable. */
  readonly announce: (change: RecordChange) => void;
  /** Runs the task once the transaction of `db` is committed; without one, immediately. */
  readonly afterCommit: AfterCommit;
  /** Sees what is committed, also while a transaction of `db` is under way. For reading alone. */
  readonly committed: RecordsDb;
  /**
   * For reads that may take long, such as filters over all devices: they hold up nothing else, and
   * of another organization only what is under way. Sees what is committed.
   */
  readonly elsewhere: (organizationId: string) => RecordsDb;
  /** In whose name the request under way changes things; undefined for the platform itself. */
  readonly actor: () => Actor | undefined;
  readonly now: () => number;
  readonly lists: ListCaches;
  /** How many records an organization may have. */
  readonly quotas: Quotas;
}

export interface OpenRecords extends Records {
  /**
   * Waits only briefly from now on for another process that holds the write lock: for a stop, which
   * must not hang on it.
   */
  hurry(): void;
  close(): Promise<void>;
}

/**
 * Opens `<directory>/records.sqlite`, creating what is missing. Every commit is on disk when it
 * returns. Throws when the folder was written by a newer version of the program.
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
  /**
   * Told once, when the disk failed: from then on nothing is written any more, and writers are
   * refused with `recordsStopped`.
   */
  readonly stopped?: ((error: Error) => void) | undefined;
}): Promise<OpenRecords> {
  mkdirSync(options.directory, { recursive: true });
  const { announce, actor = () => undefined, now = Date.now } = options;
  const { quotas = standardQuotas, stopped = () => undefined } = options;
  const listChanges = createListChanges();
  const { ran } = listChanges;
  const connection = openConnection(join(options.directory, 'records.sqlite'), { ran, stopped });
  const db = new Kysely<RecordTables>({ dialect: sqliteDialect(connection) });
  try {
    // New indexes begin without statistics, and the query planner would pass them over.
    if (await migrate(db)) await refreshStatistics(db);
    listChanges.follow(connection);
    const sealer = sealerOf(secretsKey(options.directory, options.secretsKey));
    await keepCheckWord(db, sealer);
    // SQLite syncs what it writes into its files; that the files are there is for us to keep.
    syncFolder(options.directory);
    const elsewhere = (organizationId: string) =>
      new Kysely<RecordTables>({ dialect: elsewhereDialect(connection, organizationId) });
    return {
      ...{ db, sealer, announce, elsewhere, actor, now, quotas },
      // Reads outside of a transaction never see what is not committed.
      committed: db,
      afterCommit: (task) => task(),
      lists: createListCache(listChanges.revisionOf),
      hurry: connection.hurry,
      close: () => db.destroy(),
    };
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

/**
 * Tells SQLite how many rows its indexes stand for, where that changed much: without, it walks
 * whole lists where an index on a custom field would find the device at once. PostgreSQL sees to
 * that itself.
 */
export async function refreshStatistics(db: RecordsDb): Promise<void> {
  if (!(db.getExecutor().adapter instanceof SqliteAdapter)) return;
  await sql`pragma analysis_limit = 1000`.execute(db);
  // All tables that were ever given an index, whether this connection read them or not.
  await sql`pragma optimize = 0x10002`.execute(db);
}
