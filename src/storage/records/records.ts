// Opens the records database of a data folder, brings it to this program's version and hands out Kysely and transactions.
import type { Kysely } from 'kysely';
import type { Actor } from '../../model/principal.ts';
import { type Quotas, standardQuotas } from '../../model/quota.ts';
import type { RecordChange } from '../../model/record.ts';
import type { EngineEvents, OpenEngine } from './engine.ts';
import { ListCaches } from './list-cache.ts';
import type { RecordTables } from './schema.ts';
import { Sealer, secretsKey } from './secret-encryption.ts';
import { publishChanges, withoutSync } from './connection-pool.ts';

/** Kysely itself or a transaction of it. */
export type RecordsDb = Kysely<RecordTables>;

/** Takes a task that must not see the records as they were before the transaction. */
type AfterCommit = (task: () => void) => void;

/** What reads and writes records with secrets. */
export interface SealedDb {
  readonly db: RecordsDb;
  readonly sealer: Sealer;
}

export interface Records extends SealedDb {
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
  /** See `RecordsEngine.listsChanged`. */
  readonly listsChanged: (organizationIds: readonly string[] | 'all') => void;
  /**
   * Waits only briefly from now on for another process that holds the write lock: for a stop, which
   * must not hang on it.
   */
  hurry(): void;
  close(): Promise<void>;
}

/** Opens the records in the database of the engine. The key of their secrets is in the folder. */
export async function openRecords(options: {
  readonly directory: string;
  readonly engine: OpenEngine;
  /** The operator's `SECRETS_KEY`; without it a key file in the folder. */
  readonly secretsKey?: string | undefined;
  readonly announce: (change: RecordChange) => void;
  /** In whose name changes are made, for the audit log; without it none is written. */
  readonly actor?: (() => Actor | undefined) | undefined;
  readonly now?: (() => number) | undefined;
  readonly quotas?: Quotas | undefined;
  /** See `EngineEvents.stopped`. */
  readonly stopped?: ((error: Error) => void) | undefined;
  /** See `EngineEvents.published`. */
  readonly published?: (() => void) | undefined;
  readonly migrating?: EngineEvents['migrating'];
}): Promise<OpenRecords> {
  const { announce, actor = () => undefined, now = Date.now } = options;
  const { quotas = standardQuotas, stopped = () => undefined } = options;
  const engine = await options.engine({
    stopped,
    published: options.published,
    migrating: options.migrating,
  });
  const { db, elsewhere, listsChanged, hurry, close } = engine;
  try {
    const sealer = new Sealer(secretsKey(options.directory, options.secretsKey));
    await keepCheckWord(db, sealer);
    return {
      db,
      sealer,
      announce,
      elsewhere,
      actor,
      now,
      quotas,
      // Reads outside of a transaction never see what is not committed.
      committed: db,
      afterCommit: (task) => task(),
      lists: new ListCaches(engine.revisionOf),
      listsChanged,
      hurry,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

// Check word: a string sealed with the secrets key, so that a start notices another key.

const checkWord = 'heliograph';

/** Keeps a word sealed with the key of the first start, so that another key is noticed. */
async function keepCheckWord(db: Kysely<RecordTables>, sealer: Sealer): Promise<void> {
  const kept = await db.selectFrom('keyCheck').select('word').limit(1).executeTakeFirst();
  if (kept === undefined)
    await db
      .insertInto('keyCheck')
      .values({ word: sealer.seal(checkWord) })
      .execute();
}

// Transaction of the records: changes that are committed together, and the tasks that begin once they are.

/** A transaction while it is open. */
export interface TransactionStep {
  readonly db: RecordsDb;
  /** Runs the tasks in order once the changes are committed. A rollback drops them. */
  readonly afterCommit: AfterCommit;
}

/**
 * Runs the work in a transaction. `lazy`: the commit does not wait for the disk, for what can be
 * made again from the journal. After a power cut the newest of them may be missing, whole; the next
 * commit of any other kind makes them durable.
 */
export async function transaction<T>(
  db: RecordsDb,
  work: (step: TransactionStep) => Promise<T>,
  durability: 'synced' | 'lazy' = 'synced',
): Promise<T> {
  const tasks: (() => void)[] = [];
  const afterCommit: AfterCommit = (task) => void tasks.push(task);
  const execute = (own: RecordsDb) =>
    own.transaction().execute((step) => work({ db: step, afterCommit }));
  const result = await (durability === 'lazy' ? withoutSync(db, execute) : execute(db));
  runAll(tasks);
  return result;
}

/** Announces the changes once they are committed: in this process, and to other nodes. */
export async function announceAfterCommit(
  { db, afterCommit }: TransactionStep,
  announce: (change: RecordChange) => void,
  changes: readonly RecordChange[],
): Promise<void> {
  await publishChanges(db, changes);
  afterCommit(() => changes.forEach(announce));
}

/** A task that throws keeps no other from running: what they follow from is committed. */
function runAll(tasks: readonly (() => void)[]): void {
  const errors: unknown[] = [];
  for (const task of tasks) {
    try {
      task();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
