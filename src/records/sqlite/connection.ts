// Records connection: one writer whose commits are synced off the event loop, and readers that never wait for it (decision 0011).
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { isDiskFull } from '../../model/disk-full.ts';
import { createCheckpoints } from './checkpoints.ts';
import { createCommitSync } from './commit-sync.ts';
import { createRecordsThread } from './records-thread.ts';
import { isBusy, recordsError, recordsStopped } from './records-error.ts';
import { isSelect, type StatementResult, type Statements, statementsOf } from './statements.ts';
import { createTenantTurns } from './tenant-turns.ts';
import { createTurns, type Turns } from './turns.ts';
import { createWriteLock } from './write-lock.ts';

const connectionLimits = {
  /** Of each connection. */
  cacheKiB: 32 * 1024,
  /** Another program that holds the write lock is waited for so long. */
  busyMsMax: 5_000,
  busyRetryMs: 20,
  /** The same while the process stops. */
  busyAtStopMsMax: 200,
} as const;

/** A transaction that was begun; ends with exactly one of both. */
export interface OpenTransaction {
  run(text: string, parameters: readonly unknown[]): Promise<StatementResult>;
  /** Resolves when the commit is on disk, or at once with `isLazy`. */
  commit(isLazy: boolean): Promise<void>;
  rollback(): Promise<void>;
}

/** Everything rejects with `storageFull`, `recordsFailed`, `recordsBusy`, or what SQLite says. */
export interface RecordsConnection {
  /** A statement outside of any transaction; a write is on disk when it resolves. */
  run(text: string, parameters: readonly unknown[]): Promise<StatementResult>;
  rows(text: string, parameters: readonly unknown[]): Iterable<unknown>;
  begin(): Promise<OpenTransaction>;
  /** A select on a thread of its own, for what may take long; tenants that wait for it take turns. */
  readElsewhere(
    tenant: string,
    text: string,
    parameters: readonly unknown[],
  ): Promise<StatementResult>;
  /** Waits only briefly from now on for a lock that another program holds. */
  hurry(): void;
  /** Resolves when the transactions that are open or wait now have ended. */
  idle(): Promise<void>;
  /** The failed sync after which nothing is written any more. */
  readonly stoppedBy: Error | undefined;
  close(): Promise<void>;
}

export interface ConnectionEvents {
  /** Told each statement of the writer that is no select before it runs, `commit` after it. */
  readonly ran: (statement: string) => void;
  /** Told once, when a sync failed: later writes are refused with `recordsStopped`. */
  readonly stopped: (error: Error) => void;
}

/** Opens the database at `path`, which is created when it is missing. Throws what SQLite throws. */
export function openConnection(path: string, events: ConnectionEvents): RecordsConnection {
  const { cacheKiB, busyMsMax } = connectionLimits;
  const database = openWriter(path);
  const writer = statementsOf(database);
  const sync = createCommitSync(openSync(`${path}-wal`, 'r+'), events.stopped);
  const readers = openReaders(path);
  const start = { path, cacheKiB, busyTimeoutMs: busyMsMax };
  const elsewhere = createRecordsThread({ ...start, kind: 'reader' });
  const elsewhereTurns = createTenantTurns();
  const checkpointer = createRecordsThread({ ...start, kind: 'checkpointer' });
  const turns = createTurns();
  const patience: { ms: number } = { ms: busyMsMax };
  const lock = createWriteLock();
  const checkpoints = createCheckpoints({ database, sync, lock, thread: checkpointer });
  const refuseWhenStopped = () => {
    if (sync.stoppedBy !== undefined) throw recordsStopped(sync.stoppedBy);
  };
  const durable = async () => {
    await sync.committed().catch((error: Error) => Promise.reject(recordsStopped(error)));
  };
  const write = async (text: string, parameters: readonly unknown[]): Promise<StatementResult> => {
    await turns.take(true);
    if (!isSelect(text)) events.ran(text);
    const result = await retried(() => writer.run(text, parameters), patience);
    if (/^\s*pragma optimize\b/i.test(text))
      for (const reader of [readers, elsewhere]) reader.renew();
    return result;
  };

  return {
    async run(text, parameters) {
      if (isSelect(text)) {
        const turn = turns.take(false);
        if (turn !== undefined) await turn;
        return translated(() =>
          (database.isTransaction ? readers.statements() : writer).run(text, parameters),
        );
      }
      const release = await lock.take();
      let result: StatementResult;
      try {
        refuseWhenStopped();
        result = await write(text, parameters);
        checkpoints.committed();
      } finally {
        release();
      }
      await durable();
      return result;
    },
    rows: (text, parameters) =>
      (database.isTransaction ? readers.statements() : writer).rows(text, parameters),
    async begin() {
      const release = await lock.take();
      try {
        refuseWhenStopped();
        // Taking SQLite's write lock at once keeps a transaction from failing halfway when another process writes.
        await write('begin immediate', []);
      } catch (error) {
        release();
        throw error;
      }
      return openTransaction({ database, writer, turns, events, release, checkpoints, durable });
    },
    async readElsewhere(tenant, text, parameters) {
      try {
        return { rows: await elsewhereTurns.run(tenant, () => elsewhere.rows(text, parameters)) };
      } catch (error) {
        throw recordsError(error);
      }
    },
    hurry() {
      patience.ms = connectionLimits.busyAtStopMsMax;
    },
    idle: lock.idle,
    get stoppedBy() {
      return sync.stoppedBy;
    },
    async close() {
      checkpoints.close();
      const release = await lock.take();
      await Promise.all([elsewhere.close(), checkpointer.close(), sync.close()]);
      readers.close();
      // The last connection copies the log into the database and removes it; both must be on disk first.
      database.exec('pragma synchronous = full');
      database.close();
      release();
    },
  };
}

interface TransactionParts {
  readonly database: DatabaseSync;
  readonly writer: Statements;
  readonly turns: Turns;
  readonly events: ConnectionEvents;
  readonly release: () => void;
  readonly checkpoints: { committed(): void };
  readonly durable: () => Promise<void>;
}

function openTransaction(parts: TransactionParts): OpenTransaction {
  const { database, writer, turns, events, release } = parts;
  let isOpen = true;
  const end = (): void => {
    isOpen = false;
    release();
  };
  return {
    async run(text, parameters) {
      const turn = turns.take(true);
      if (turn !== undefined) await turn;
      if (!isSelect(text)) events.ran(text);
      return translated(() => writer.run(text, parameters));
    },
    async commit(isLazy) {
      translated(() => writer.run('commit', []));
      events.ran('commit');
      parts.checkpoints.committed();
      end();
      if (!isLazy) await parts.durable();
    },
    async rollback() {
      if (!isOpen) return;
      try {
        // A full disk or a failed write has undone the transaction already.
        if (database.isTransaction) writer.run('rollback', []);
      } finally {
        events.ran('rollback');
        end();
      }
    },
  };
}

function translated<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw recordsError(error);
  }
}

/** Waits for another program's lock without holding the event loop. */
async function retried<T>(work: () => T, patience: { readonly ms: number }): Promise<T> {
  const { busyRetryMs } = connectionLimits;
  for (let waitedMs = 0; ; waitedMs += busyRetryMs) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || waitedMs >= patience.ms) throw recordsError(error);
    }
    await wait(busyRetryMs);
  }
}

function openWriter(path: string): DatabaseSync {
  const { busyMsMax, cacheKiB } = connectionLimits;
  const database = new DatabaseSync(path, {
    enableForeignKeyConstraints: true,
    timeout: busyMsMax,
  });
  try {
    database.exec('pragma journal_mode = wal');
    database.exec('pragma synchronous = full');
    database.exec(`pragma cache_size = -${cacheKiB}`);
    database.exec('pragma wal_autocheckpoint = 0');
    const isEmptied = emptyLog(database);
    for (const name of [`${path}-wal`, dirname(path)]) syncNamed(name);
    // From here on the commit sync waits for the disk, and the checkpoints see to the order of log and database.
    database.exec(`pragma synchronous = ${isEmptied ? 'off' : 'normal'}`);
    database.exec('pragma busy_timeout = 0');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Makes durable what an earlier process left in the log. False when the disk is too full for that, or another program reads. */
function emptyLog(database: DatabaseSync): boolean {
  try {
    return database.prepare('pragma wal_checkpoint(truncate)').all()[0]?.['busy'] === 0;
  } catch (error) {
    if (isDiskFull(error)) return false;
    throw error;
  }
}

function syncNamed(name: string): void {
  // Windows opens no folders, and makes their entries durable with the files.
  if (process.platform === 'win32') return;
  const descriptor = openSync(name, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The connection for reads while a transaction is open on the writer: it sees what is committed. */
function openReaders(path: string) {
  const { cacheKiB, busyMsMax } = connectionLimits;
  let open: { readonly database: DatabaseSync; readonly statements: Statements } | undefined;
  const close = (): void => {
    open?.database.close();
    open = undefined;
  };
  return {
    statements(): Statements {
      if (open === undefined) {
        const database = new DatabaseSync(path, { readOnly: true, timeout: busyMsMax });
        database.exec(`pragma cache_size = -${cacheKiB}`);
        open = { database, statements: statementsOf(database) };
      }
      return open.statements;
    },
    renew: close,
    close,
  };
}
