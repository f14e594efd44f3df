// Records connection: one writer whose commits are synced off the event loop, and readers that never wait for it (decision 0011).
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { isDiskFull } from '../../../model/errors.ts';
import { type Problem, problem } from '../../../model/problem.ts';
import {
  type EngineConnection,
  isSelect,
  type OpenTransaction,
  type StatementResult,
} from '../engine.ts';
import { createTenantTurns, createWriteLock, type WriteLock } from '../turns.ts';
import { type CommitSync, createCommitSync } from './commit-sync.ts';
import { createRecordsThread, type RecordsThread } from './records-thread.ts';
import { type Statements, statementsOf } from './statements.ts';

const connectionLimits = {
  /** Of each connection. */
  cacheKiB: 32 * 1024,
  /** The longest wait for another program that holds the write lock. */
  busyMsMax: 5_000,
  /** The same while the process stops. */
  busyAtStopMsMax: 200,
} as const;

/**
 * With SQLite's write lock from the start, a write of another process cannot fail the transaction
 * halfway.
 */
const beginImmediate = 'begin immediate';

/**
 * All functions reject with `storageFull`, `recordsFailed`, `recordsBusy` or the error of SQLite.
 */
export interface RecordsConnection extends EngineConnection {
  /**
   * Adds temporary triggers, which are not part of the file. They pass one text to the function of
   * this name, during the statement.
   */
  addTriggers(sql: string, name: string, call: (text: string) => void): void;
  /** From now on waits only briefly for a lock that another program holds. */
  hurry(): void;
  /** The failed sync after which no write is accepted. */
  readonly stoppedBy: Error | undefined;
}

export interface ConnectionEvents {
  /** Called before each statement of the writer except selects, and after `commit`. */
  readonly ran: (statement: string) => void;
  /** Called once, when a sync failed. Later writes are rejected with `recordsStopped`. */
  readonly stopped: (error: Error) => void;
}

/**
 * Opens the database at `path`, and creates it if it does not exist. Throws the errors of SQLite.
 */
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
  const { ran } = events;
  const runner: StatementRunner = { database, writer, readers, elsewhere, turns, ran, patience };
  const durable = () => sync.committed().catch(rethrowStopped);
  const lockToWrite = () => takeWriteLock(lock, sync);

  return {
    async run(text, parameters) {
      if (isSelect(text)) return select(runner, text, parameters);
      const release = await lockToWrite();
      let result: StatementResult;
      try {
        result = await write(runner, text, parameters);
        checkpoints.committed();
      } finally {
        release();
      }
      await durable();
      return result;
    },
    async begin() {
      const release = await lockToWrite();
      await write(runner, beginImmediate, []).catch((error: unknown) => {
        release();
        throw error;
      });
      return openTransaction({ database, writer, turns, events, release, checkpoints, durable });
    },
    async readElsewhere(tenant, text, parameters) {
      const read = () => elsewhere.rows(text, parameters);
      const rows = await elsewhereTurns.run(tenant, read).catch(rethrow);
      return { rows };
    },
    addTriggers(sql, name, call) {
      database.function(name, (text) => {
        call(String(text));
        return null;
      });
      database.exec(sql);
    },
    hurry() {
      patience.ms = connectionLimits.busyAtStopMsMax;
    },
    get stoppedBy() {
      return sync.stoppedBy;
    },
    async close() {
      checkpoints.close();
      const release = await lock.take();
      await Promise.all([elsewhere.close(), checkpointer.close(), sync.close()]);
      readers.close();
      closeWriter(database);
      release();
    },
  };
}

function rethrowStopped(error: Error): never {
  throw recordsStopped(error);
}

function rethrow(error: unknown): never {
  throw recordsError(error);
}

/** Throws `recordsStopped` after a failed sync. */
async function takeWriteLock(lock: WriteLock, sync: CommitSync): Promise<() => void> {
  const release = await lock.take();
  if (sync.stoppedBy === undefined) return release;
  release();
  throw recordsStopped(sync.stoppedBy);
}

/**
 * The last connection copies the log into the database and removes it. Both must be on disk first.
 */
function closeWriter(database: DatabaseSync): void {
  database.exec('pragma synchronous = full');
  database.close();
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
    publish: () => undefined,
    async rollback() {
      if (!isOpen) return;
      try {
        // A full disk or a failed write has already rolled the transaction back.
        if (database.isTransaction) writer.run('rollback', []);
      } finally {
        events.ran('rollback');
        end();
      }
    },
  };
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
    // From now on the commit sync waits for the disk, and the checkpoints keep the order of log and
    // database.
    database.exec(`pragma synchronous = ${isEmptied ? 'off' : 'normal'}`);
    database.exec('pragma busy_timeout = 0');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Makes the log of an earlier process durable. False when the disk is too full, or another program
 * reads.
 */
function emptyLog(database: DatabaseSync): boolean {
  try {
    return database.prepare('pragma wal_checkpoint(truncate)').all()[0]?.['busy'] === 0;
  } catch (error) {
    if (isDiskFull(error)) return false;
    throw error;
  }
}

function syncNamed(name: string): void {
  // Windows cannot open folders. It makes their entries durable with the files.
  if (process.platform === 'win32') return;
  const descriptor = openSync(name, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * The connection for reads while a transaction is open on the writer. It sees committed data only.
 */
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

// Checkpoints: a long write-ahead log is copied into the database by a thread, and emptied (decision 0011).

export const checkpointLimits = {
  /** A log of this length is copied into the database; writers wait for that. */
  checkpointBytes: 8 * 1024 * 1024,
  /** Pause after a checkpoint that did not reach the end of the log. */
  checkpointRetryMs: 1_000,
} as const;

interface CheckpointParts {
  readonly database: DatabaseSync;
  readonly sync: CommitSync;
  readonly lock: WriteLock;
  readonly thread: RecordsThread;
}

/**
 * Copies a long log into the database, on a thread, while nobody writes. A log that was not emptied
 * on disk could begin anew over old frames, and a power cut could bring those back; SQLite itself
 * syncs the new beginning then (synchronous = normal).
 */
function createCheckpoints({ database, sync, lock, thread }: CheckpointParts) {
  let isWanted = false;
  let isClosed = false;
  let notBefore = 0;

  const checkpoint = async (): Promise<void> => {
    const release = await lock.take();
    try {
      if (isClosed) return;
      const isTruncated = await thread.checkpoint();
      database.exec(`pragma synchronous = ${isTruncated ? 'off' : 'normal'}`);
      if (!isTruncated) notBefore = performance.now() + checkpointLimits.checkpointRetryMs;
    } catch (error) {
      notBefore = performance.now() + checkpointLimits.checkpointRetryMs;
      database.exec('pragma synchronous = normal');
      if (!isDiskFull(error) && !isBusy(error)) sync.stop(error as Error);
    } finally {
      isWanted = false;
      release();
    }
  };

  return {
    /** Call after every commit. */
    committed(): void {
      if (
        isWanted ||
        isClosed ||
        sync.bytes < checkpointLimits.checkpointBytes ||
        performance.now() < notBefore
      )
        return;
      isWanted = true;
      void checkpoint();
    },
    close(): void {
      isClosed = true;
    },
  };
}

// Statement runner: reads and writes of the records connection, in turns of the event loop.

const busyRetryMs = 20;

/** The parts of a connection that run statements. */
interface StatementRunner {
  readonly database: DatabaseSync;
  readonly writer: Statements;
  /** The connection for reads while a transaction is open on the writer. */
  readonly readers: { statements(): Statements; renew(): void };
  readonly elsewhere: RecordsThread;
  readonly turns: Turns;
  /** Called before each statement of the writer except selects. */
  readonly ran: (statement: string) => void;
  readonly patience: { readonly ms: number };
}

/** Statements that do not see an open transaction. */
function readerOf({ database, readers, writer }: StatementRunner): Statements {
  if (database.isTransaction) return readers.statements();
  return writer;
}

async function select(
  open: StatementRunner,
  text: string,
  parameters: readonly unknown[],
): Promise<StatementResult> {
  const turn = open.turns.take(false);
  if (turn !== undefined) await turn;
  return translated(() => readerOf(open).run(text, parameters));
}

/** Call with the write lock. */
async function write(
  { turns, ran, writer, readers, elsewhere, patience }: StatementRunner,
  text: string,
  parameters: readonly unknown[],
): Promise<StatementResult> {
  await turns.take(true);
  if (!isSelect(text)) ran(text);
  const result = await retried(() => writer.run(text, parameters), patience);
  if (/^\s*pragma optimize\b/i.test(text))
    for (const reader of [readers, elsewhere]) reader.renew();
  return result;
}

/** Throws the errors of SQLite as problems. */
function translated<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw recordsError(error);
  }
}

/** Retries while another program holds the lock, without blocking the event loop. */
async function retried<T>(work: () => T, patience: { readonly ms: number }): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += busyRetryMs) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || waitedMs >= patience.ms) throw recordsError(error);
    }
    await wait(busyRetryMs);
  }
}

// Result codes of SQLite: the lower byte of its extended codes.
const busy = 5;
const locked = 6;
const ioError = 10;
const full = 13;

function resultCode(error: unknown): number | undefined {
  const { errcode } = error as { readonly errcode?: unknown };
  return typeof errcode === 'number' ? errcode & 0xff : undefined;
}

/** Whether another connection held the lock; what was asked was not begun. */
function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === busy || code === locked;
}

/**
 * `storageFull` (507), `recordsFailed` or `recordsBusy` (503) with the error as their cause; any
 * other error as it is.
 */
function recordsError(error: unknown): unknown {
  const code = resultCode(error);
  let refusal: Problem | undefined;
  if (code === full) refusal = problem('storageFull');
  else if (code === ioError)
    refusal = problem('recordsFailed', { reason: (error as Error).message });
  else if (isBusy(error)) refusal = problem('recordsBusy');
  return refusal === undefined ? error : Object.assign(refusal, { cause: error });
}

/** `recordsStopped` (503) with the failed sync as its cause. */
function recordsStopped(cause: Error): Problem {
  return Object.assign(problem('recordsStopped', { reason: cause.message }), { cause });
}

// Turn budget: limits the time of statements per turn of the event loop, so that no caller blocks the process.

/**
 * Statements of one turn of the event loop take about this long together; a single one may take
 * longer.
 */
const turnMsMax = 5;

interface Turns {
  /**
   * Undefined when a statement may run now, else a promise that resolves in its turn. `isUrgent` is
   * for statements of a transaction, because others wait for its end: they come before all that
   * wait.
   */
  take(isUrgent: boolean): Promise<void> | undefined;
}

/** `clock` tells milliseconds, for lengths of time only. */
export function createTurns(clock: () => number = () => performance.now()): Turns {
  const urgent = new Set<() => void>();
  const waiting = new Set<() => void>();
  /** Undefined when nothing has run in the current turn. */
  let startedAt: number | undefined;

  const next = (): (() => void) | undefined => {
    const queue = urgent.size > 0 ? urgent : waiting;
    const [first] = queue;
    if (first !== undefined) queue.delete(first);
    return first;
  };

  const turn = async (): Promise<void> => {
    if (urgent.size + waiting.size === 0) {
      startedAt = undefined;
      return;
    }
    const start = clock();
    startedAt = start;
    do {
      next()?.();
      // What follows the statement runs first, so that its time counts too.
      await new Promise<void>((resolve) => process.nextTick(resolve));
    } while (urgent.size + waiting.size > 0 && clock() - start < turnMsMax);
    setImmediate(() => void turn());
  };

  return {
    take(isUrgent) {
      const now = clock();
      if (startedAt === undefined) {
        startedAt = now;
        setImmediate(() => void turn());
      }
      const isFirst = (isUrgent ? 0 : waiting.size) + urgent.size === 0;
      if (isFirst && now - startedAt < turnMsMax) return undefined;
      return new Promise((resolve) => (isUrgent ? urgent : waiting).add(resolve));
    },
  };
}
