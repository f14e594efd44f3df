// SQLite engine: the records in one file of the data folder, written by this process.
import {
  closeSync,
  existsSync,
  fdatasync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import { syncFolder } from '../../data-folder/data-folder.ts';
import {
  type EngineConnection,
  isSelect,
  type OpenEngine,
  type OpenTransaction,
  refreshStatistics,
  type StatementResult,
} from '../engine.ts';
import { type KyselyParts, openLanes, TenantTurns, WriteLock } from '../connection-pool.ts';
import { ListChanges, organizationOf } from '../list-cache.ts';
import { migrate } from '../migrations.ts';
import { isDiskFull, problem, type Problem } from '../../../model/problem.ts';
import { RecordsThread } from './records-thread.ts';
import { Statements } from './records-worker-messages.ts';
import {
  type CheckRecords,
  checkRecordsAt,
  findingsMax,
  type RecordsFindings,
  type RecordsProbe,
} from '../records-check.ts';

// Commit sync: makes commits durable without blocking the event loop; one fdatasync covers all earlier commits.

class CommitSync {
  readonly #descriptor: number;
  readonly #stopped: (error: Error) => void;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #stoppedBy: Error | undefined;

  /** `descriptor` is the open write-ahead log. `stopped` is told once. */
  constructor(descriptor: number, stopped: (error: Error) => void) {
    this.#descriptor = descriptor;
    this.#stopped = stopped;
  }

  /** Stops permanently, because later commits might be lost. */
  stop(error: Error): void {
    if (this.#stoppedBy !== undefined) return;
    this.#stoppedBy = error;
    this.#stopped(error);
  }

  async #sync(): Promise<void> {
    // After a failed sync the kernel can report lost pages as written, so later syncs cannot be
    // trusted.
    if (this.#stoppedBy !== undefined) throw this.#stoppedBy;
    try {
      await new Promise<void>((resolve, reject) => {
        fdatasync(this.#descriptor, (error) => (error === null ? resolve() : reject(error)));
      });
    } catch (error) {
      this.stop(error as Error);
      throw error;
    } finally {
      this.#running = undefined;
    }
  }

  /**
   * Resolves when everything that is committed now is on disk. Rejects when the disk fails; the
   * records are stopped then.
   */
  committed(): Promise<void> {
    if (this.#next !== undefined) return this.#next;
    if (this.#running === undefined) return (this.#running = this.#sync());
    // The sync in progress may have passed this commit by; all that come until it ends share the
    // next.
    this.#next = this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return (this.#running = this.#sync());
      });
    return this.#next;
  }

  /** Undefined while commits become durable. */
  get stoppedBy(): Error | undefined {
    return this.#stoppedBy;
  }

  /** Length of the write-ahead log. */
  get bytes(): number {
    return fstatSync(this.#descriptor).size;
  }

  async close(): Promise<void> {
    await (this.#next ?? this.#running)?.catch(() => undefined);
    closeSync(this.#descriptor);
  }
}

/**
 * Opens `<directory>/records.sqlite`, creating what is missing. Every commit is on disk when it
 * returns. Throws when the folder was written by a newer version of the program.
 */
export function sqliteEngine(directory: string): OpenEngine {
  return async ({ stopped, migrating }) => {
    mkdirSync(directory, { recursive: true });
    const { ran, changed, revisionOf } = new ListChanges();
    const connection = new RecordsConnection(join(directory, 'records.sqlite'), { ran, stopped });
    const lists = { revisionOf, listsChanged: () => undefined };
    return openLanes({ connection, kyselyParts: sqliteSql, ...lists }, async (db) => {
      // New indexes begin without statistics, and the query planner would pass them over.
      if (await migrate(db, { migrating })) await refreshStatistics(db);
      followListChanges(connection, changed);
      // SQLite syncs what it writes into its files; that the files are there is for us to keep.
      syncFolder(directory);
    });
  };
}

// List triggers of SQLite: temporary ones, which call this process during the statement.

const functionName = 'noteListChange';

/** Adds the triggers; call once, after the tables are migrated. */
function followListChanges(
  connection: RecordsConnection,
  changed: (organizationId: string) => void,
): void {
  connection.addTriggers([...triggers()].join('\n'), functionName, changed);
}

function* triggers(): Iterable<string> {
  const rowOf = { insert: 'new', update: 'new', delete: 'old' } as const;
  for (const [table, organization] of Object.entries(organizationOf))
    for (const [event, row] of Object.entries(rowOf))
      yield `create temp trigger "${table}ListChangedBy${event}" after ${event} on main."${table}" begin
        select ${functionName}("id") from (select ${organization(row)} as "id") where "id" is not null;
      end;`;
}

// SQL of SQLite for Kysely: its compiler, and no lock besides that of the records connection.

/**
 * No lock: the records connection queues its callers. Kysely's lock would notify all waiting
 * callers at every release.
 */
class OwnOrderAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }

  /**
   * SQLite rolls back changes of the schema like any other, so that migrations run in a
   * transaction.
   */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

export const sqliteSql: KyselyParts = {
  createQueryCompiler: () => new SqliteQueryCompiler(),
  createAdapter: () => new OwnOrderAdapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
};

// Records connection: one writer whose commits are synced off the event loop, and readers that never wait for it (decision 0011).

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

interface ConnectionEvents {
  /** Called before each statement of the writer except selects, and after `commit`. */
  readonly ran: (statement: string) => void;
  /** Called once, when a sync failed. Later writes are rejected with `recordsStopped`. */
  readonly stopped: (error: Error) => void;
}

/** Between two attempts while another program holds the lock. */
const busyRetryMs = 20;

/**
 * All functions reject with `storageFull`, `recordsFailed`, `recordsBusy` or the error of SQLite.
 */
export class RecordsConnection implements EngineConnection {
  readonly #database: DatabaseSync;
  readonly #writer: Statements;
  readonly #sync: CommitSync;
  readonly #readers: Readers;
  /** Threads: one reads for slow queries, the other one copies the log into the database. */
  readonly #elsewhere: RecordsThread;
  readonly #checkpointer: RecordsThread;
  readonly #elsewhereTurns = new TenantTurns();
  readonly #turns = new Turns();
  readonly #lock = new WriteLock();
  readonly #checkpoints: Checkpoints;
  readonly #events: ConnectionEvents;
  /** How long a statement waits for another program. */
  #patienceMs: number = connectionLimits.busyMsMax;

  /**
   * Opens the database at `path`, and creates it if it does not exist. Throws the errors of SQLite.
   */
  constructor(path: string, events: ConnectionEvents) {
    const { cacheKiB, busyMsMax } = connectionLimits;
    const start = { path, cacheKiB, busyTimeoutMs: busyMsMax };
    this.#events = events;
    this.#database = openWriter(path);
    this.#writer = new Statements(this.#database);
    this.#sync = new CommitSync(openSync(`${path}-wal`, 'r+'), events.stopped);
    this.#readers = new Readers(path);
    this.#elsewhere = new RecordsThread({ ...start, kind: 'reader' });
    this.#checkpointer = new RecordsThread({ ...start, kind: 'checkpointer' });
    this.#checkpoints = new Checkpoints(this.#database, this.#sync, this.#lock, this.#checkpointer);
  }

  async run(text: string, parameters: readonly unknown[]): Promise<StatementResult> {
    if (isSelect(text)) return this.#select(text, parameters);
    const release = await this.#lockToWrite();
    let result: StatementResult;
    try {
      result = await this.#write(text, parameters);
      this.#checkpoints.committed();
    } finally {
      release();
    }
    await this.#durable();
    return result;
  }

  async begin(): Promise<OpenTransaction> {
    const release = await this.#lockToWrite();
    await this.#write(beginImmediate, []).catch((error: unknown) => {
      release();
      throw error;
    });
    return this.#transaction(release);
  }

  async readElsewhere(
    tenant: string,
    text: string,
    parameters: readonly unknown[],
  ): Promise<StatementResult> {
    const read = () => this.#elsewhere.rows(text, parameters);
    return { rows: await this.#elsewhereTurns.run(tenant, read).catch(rethrow) };
  }

  /**
   * Adds temporary triggers, which are not part of the file. They pass one text to the function of
   * this name, during the statement.
   */
  addTriggers(triggers: string, name: string, call: (text: string) => void): void {
    this.#database.function(name, (text) => {
      call(String(text));
      return null;
    });
    this.#database.exec(triggers);
  }

  /** From now on waits only briefly for a lock that another program holds. */
  hurry(): void {
    this.#patienceMs = connectionLimits.busyAtStopMsMax;
  }

  /** The failed sync after which no write is accepted. */
  get stoppedBy(): Error | undefined {
    return this.#sync.stoppedBy;
  }

  async close(): Promise<void> {
    this.#checkpoints.close();
    const release = await this.#lock.take();
    await Promise.all([this.#elsewhere.close(), this.#checkpointer.close(), this.#sync.close()]);
    this.#readers.close();
    closeWriter(this.#database);
    release();
  }

  /** Throws `recordsStopped` after a failed sync. */
  async #lockToWrite(): Promise<() => void> {
    const release = await this.#lock.take();
    if (this.#sync.stoppedBy === undefined) return release;
    release();
    throw recordsStopped(this.#sync.stoppedBy);
  }

  async #durable(): Promise<void> {
    await this.#sync.committed().catch(rethrowStopped);
  }

  /** Does not see an open transaction. */
  async #select(text: string, parameters: readonly unknown[]): Promise<StatementResult> {
    const turn = this.#turns.take(false);
    if (turn !== undefined) await turn;
    const reader = this.#database.isTransaction ? this.#readers.statements() : this.#writer;
    return translated(() => reader.run(text, parameters));
  }

  /** Call with the write lock. */
  async #write(text: string, parameters: readonly unknown[]): Promise<StatementResult> {
    await this.#turns.take(true);
    if (!isSelect(text)) this.#events.ran(text);
    const result = await this.#retried(() => this.#writer.run(text, parameters));
    if (/^\s*pragma optimize\b/i.test(text)) {
      this.#readers.close();
      this.#elsewhere.renew();
    }
    return result;
  }

  /** Retries while another program holds the lock, without blocking the event loop. */
  async #retried<T>(work: () => T): Promise<T> {
    for (let waitedMs = 0; ; waitedMs += busyRetryMs) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || waitedMs >= this.#patienceMs) throw recordsError(error);
      }
      await wait(busyRetryMs);
    }
  }

  #transaction(release: () => void): OpenTransaction {
    let isOpen = true;
    const end = (): void => {
      isOpen = false;
      release();
    };
    return {
      run: async (text, parameters) => {
        const turn = this.#turns.take(true);
        if (turn !== undefined) await turn;
        if (!isSelect(text)) this.#events.ran(text);
        return translated(() => this.#writer.run(text, parameters));
      },
      commit: async (isLazy) => {
        translated(() => this.#writer.run('commit', []));
        this.#events.ran('commit');
        this.#checkpoints.committed();
        end();
        if (!isLazy) await this.#durable();
      },
      publish: () => undefined,
      rollback: async () => {
        if (!isOpen) return;
        try {
          // A full disk or a failed write has already rolled the transaction back.
          if (this.#database.isTransaction) this.#writer.run('rollback', []);
        } finally {
          this.#events.ran('rollback');
          end();
        }
      },
    };
  }
}

function rethrowStopped(error: Error): never {
  throw recordsStopped(error);
}

function rethrow(error: unknown): never {
  throw recordsError(error);
}

/**
 * The last connection copies the log into the database and removes it. Both must be on disk first.
 */
function closeWriter(database: DatabaseSync): void {
  database.exec('pragma synchronous = full');
  database.close();
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
class Readers {
  readonly #path: string;
  #open: { readonly database: DatabaseSync; readonly statements: Statements } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  statements(): Statements {
    if (this.#open === undefined) {
      const { cacheKiB, busyMsMax } = connectionLimits;
      const database = new DatabaseSync(this.#path, { readOnly: true, timeout: busyMsMax });
      database.exec(`pragma cache_size = -${cacheKiB}`);
      this.#open = { database, statements: new Statements(database) };
    }
    return this.#open.statements;
  }

  /** The next read opens it again. */
  close(): void {
    this.#open?.database.close();
    this.#open = undefined;
  }
}

// Checkpoints: a long write-ahead log is copied into the database by a thread, and emptied (decision 0011).

export const checkpointLimits = {
  /** A log of this length is copied into the database; writers wait for that. */
  checkpointBytes: 8 * 1024 * 1024,
  /** Pause after a checkpoint that did not reach the end of the log. */
  checkpointRetryMs: 1_000,
} as const;

/**
 * Copies a long log into the database, on a thread, while nobody writes. A log that was not emptied
 * on disk could begin anew over old frames, and a power cut could bring those back; SQLite itself
 * syncs the new beginning then (synchronous = normal).
 */
class Checkpoints {
  readonly #database: DatabaseSync;
  readonly #sync: CommitSync;
  readonly #lock: WriteLock;
  readonly #thread: RecordsThread;
  #isWanted = false;
  #isClosed = false;
  #notBefore = 0;

  constructor(database: DatabaseSync, sync: CommitSync, lock: WriteLock, thread: RecordsThread) {
    this.#database = database;
    this.#sync = sync;
    this.#lock = lock;
    this.#thread = thread;
  }

  /** Call after every commit. */
  committed(): void {
    if (
      this.#isWanted ||
      this.#isClosed ||
      this.#sync.bytes < checkpointLimits.checkpointBytes ||
      performance.now() < this.#notBefore
    )
      return;
    this.#isWanted = true;
    void this.#checkpoint();
  }

  close(): void {
    this.#isClosed = true;
  }

  async #checkpoint(): Promise<void> {
    const release = await this.#lock.take();
    try {
      if (this.#isClosed) return;
      const isTruncated = await this.#thread.checkpoint();
      this.#database.exec(`pragma synchronous = ${isTruncated ? 'off' : 'normal'}`);
      if (!isTruncated) this.#notBefore = performance.now() + checkpointLimits.checkpointRetryMs;
    } catch (error) {
      this.#notBefore = performance.now() + checkpointLimits.checkpointRetryMs;
      this.#database.exec('pragma synchronous = normal');
      if (!isDiskFull(error) && !isBusy(error)) this.#sync.stop(error as Error);
    } finally {
      this.#isWanted = false;
      release();
    }
  }
}

/** Throws the errors of SQLite as problems. */
function translated<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw recordsError(error);
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

export class Turns {
  readonly #clock: () => number;
  readonly #urgent = new Set<() => void>();
  readonly #waiting = new Set<() => void>();
  /** Undefined when nothing has run in the current turn. */
  #startedAt: number | undefined;

  /** `clock` tells milliseconds, for lengths of time only. */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  #next(): (() => void) | undefined {
    const queue = this.#urgent.size > 0 ? this.#urgent : this.#waiting;
    const [first] = queue;
    if (first !== undefined) queue.delete(first);
    return first;
  }

  async #turn(): Promise<void> {
    if (this.#urgent.size + this.#waiting.size === 0) {
      this.#startedAt = undefined;
      return;
    }
    const start = this.#clock();
    this.#startedAt = start;
    do {
      this.#next()?.();
      // What follows the statement runs first, so that its time counts too.
      await new Promise<void>((resolve) => process.nextTick(resolve));
    } while (this.#urgent.size + this.#waiting.size > 0 && this.#clock() - start < turnMsMax);
    setImmediate(() => void this.#turn());
  }

  /**
   * Undefined when a statement may run now, else a promise that resolves in its turn. `isUrgent` is
   * for statements of a transaction, because others wait for its end: they come before all that
   * wait.
   */
  take(isUrgent: boolean): Promise<void> | undefined {
    const now = this.#clock();
    if (this.#startedAt === undefined) {
      this.#startedAt = now;
      setImmediate(() => void this.#turn());
    }
    const isFirst = (isUrgent ? 0 : this.#waiting.size) + this.#urgent.size === 0;
    if (isFirst && now - this.#startedAt < turnMsMax) return undefined;
    return new Promise((resolve) => (isUrgent ? this.#urgent : this.#waiting).add(resolve));
  }
}

// Verification of records.sqlite, before it is opened and as a whole; it changes nothing.

/**
 * Reads the whole database of a folder that nobody has open. `refusal` is why a start would refuse
 * it.
 */
export function verifySqlite(directory: string, refusal?: string): RecordsFindings {
  const path = join(directory, 'records.sqlite');
  const refused = refusal === undefined ? [] : [refusal];
  if (!existsSync(path))
    return { path, damage: refused.length > 0 ? refused : ['The file is missing'] };
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    const rows = database.prepare(`pragma integrity_check(${findingsMax})`).all();
    const said = rows.map((row) => String(row['integrity_check']));
    return { path, damage: [...refused, ...said.filter((line) => line !== 'ok')] };
  } catch (error) {
    return { path, damage: refused.length > 0 ? refused : [(error as Error).message] };
  } finally {
    database?.close();
  }
}

// Check of records.sqlite before it is opened, at every start and by `verify`.

export const checkSqlite: CheckRecords = (check) => {
  const { directory } = check;
  const path = join(directory, 'records.sqlite');
  const fromBackup =
    'Restore records.sqlite and secrets.key from the same backup, or set DATA_DIR to an empty folder';
  return checkRecordsAt({ path, fromBackup, probe: async () => probeFile(path) }, check);
};

function probeFile(path: string): RecordsProbe | 'missing' | 'empty' {
  if (!existsSync(path)) return 'missing';
  if (statSync(path).size === 0) return 'empty';
  const database = new DatabaseSync(path, { readOnly: true });
  return {
    rows: async (query) => database.prepare(query).all(),
    hasTable: async (name) =>
      database
        .prepare(`select 1 from sqlite_master where type = 'table' and name = ?`)
        .get(name) !== undefined,
    close: async () => database.close(),
  };
}
