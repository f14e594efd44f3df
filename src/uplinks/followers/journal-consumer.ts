// Journal follower: gives the entries of the journal to a handler in order, in batches, one batch at a time.
// Announcements are only a shortcut past the disk: what is not in memory is read from the
// journal, so none can be missed.
import { setImmediate as pause } from 'node:timers/promises';
import type { EntryLog } from '../../storage/log/entry-log.ts';
import {
  type DurableEntry,
  type DurableItem,
  type DurableRows,
  isRows,
  isWritten,
  sampleCountOf,
} from '../../model/journal-entry.ts';
import { RetryingWorker } from '../../structures/retrying-worker.ts';
import { setTimer as realTimer, type SetTimer } from '../../structures/timers.ts';

const batchLimits: BatchLimits = { entriesMax: 1_000, samplesMax: 20_000 };
const standardDelaysMs = [1_000, 2_000, 5_000, 10_000, 30_000] as const;

export type FollowedLog = Pick<
  EntryLog,
  'followerPosition' | 'setFollowerPosition' | 'entriesFrom' | 'behindLost' | 'position'
>;

export interface JournalFollowerParts {
  /** The log keeps the position under this name. */
  readonly name: string;
  readonly log: FollowedLog;
  /**
   * Resolves when its effects are durable. Gets entries again after a failure or a crash, so it
   * must bear repetition.
   */
  readonly handle: (entries: readonly DurableEntry[]) => Promise<void>;
  /**
   * `told`: the log is told the position after each batch. `ownTransaction`: the handler keeps its
   * position with its effects, and whoever knows that both are on the disk tells the log.
   */
  readonly durability: 'told' | 'ownTransaction';
  /** Called with every entry as it is announced, before it is handled. Rows are only samples. */
  readonly announced?: (entry: DurableEntry) => void;
  /**
   * Where to start, for a handler that keeps its position; else the position that the log keeps.
   */
  readonly from?: number | undefined;
  /**
   * A batch waits this long for more entries, unless `entriesMax` wait or somebody calls `settled`.
   * 0 without it.
   */
  readonly batchWaitMs?: number;
  readonly batch?: BatchLimits;
  /**
   * What of an announced entry is kept in memory until it is handled; all of it without this
   * function.
   */
  readonly keep?: (entry: DurableEntry) => DurableEntry;
  /** The same for rows. */
  readonly keepRows?: (rows: DurableRows) => DurableRows;
  /** Entries from this position on are still needed, although they may have been handled. */
  readonly neededFrom?: () => number;
  readonly failed: (error: unknown) => void;
  /** See `RetryingWorkerParts`. */
  readonly retryDelaysMs?: readonly [number, ...number[]];
  readonly setTimer?: SetTimer;
}

export class JournalFollower {
  readonly #parts: JournalFollowerParts;
  readonly #batch: BatchLimits;
  readonly #waiting: WaitingEntries;
  readonly #worker: RetryingWorker;
  readonly #waiters = new Set<{ readonly position: number } & PromiseWithResolvers<void>>();
  /** The position of the entry to handle next. */
  #next: number;
  /** Everything before it is known to be durable. */
  #wanted: number;
  /** Everything before it must be handled without further waiting. */
  #due: number;
  #cancelWait: (() => void) | undefined;
  #isClosed = false;

  /**
   * Starts where the follower of this name stopped; a new one starts at the present end of the
   * journal. The journal keeps what it has not handled yet.
   */
  constructor(parts: JournalFollowerParts) {
    const { name, log, durability, batch = batchLimits, from, setTimer = realTimer } = parts;
    this.#parts = parts;
    this.#batch = batch;
    this.#waiting = new WaitingEntries(batch);
    this.#next = from ?? log.followerPosition(name) ?? log.position;
    this.#wanted = log.position;
    this.#due = log.position;
    if (durability === 'told' || log.followerPosition(name) === undefined) this.tell();
    this.#worker = new RetryingWorker({
      hasWork: () => this.#next < this.#due,
      work: async (progressed) => {
        // Not at once: the caller that announces is about to answer a device, and entries of one
        // fsync come one by one.
        await pause();
        await this.#catchUp(progressed);
      },
      failed: (error) => {
        parts.failed(error);
        this.#rejectWaiters(error);
      },
      retryDelaysMs: parts.retryDelaysMs ?? standardDelaysMs,
      setTimer,
    });
    this.#handleAllNow();
  }

  /** Call for every entry that became durable; the entry is only remembered. */
  readonly follow = (entry: DurableEntry): void => {
    // An entry of which nothing was left is not in the journal.
    if (!isWritten(entry)) return;
    const { announced, keep } = this.#parts;
    announced?.(entry);
    if (this.#isClosed || entry.position < this.#next) return;
    this.#waiting.add(keep === undefined ? entry : keep(entry));
    this.#want(entry.position + 1);
  };

  /** The same for the entries of rows together. */
  readonly followRows = (rows: DurableRows): void => {
    const { keepRows } = this.#parts;
    const end = rows.position + rows.length;
    if (this.#isClosed || end <= this.#next) return;
    this.#waiting.addRows(keepRows === undefined ? rows : keepRows(rows));
    this.#want(end);
  };

  /**
   * Resolves when everything durable by now was handled; rejects when an attempt to handle it fails
   * or the follower is closed.
   */
  readonly settled = (): Promise<void> => {
    const { name, log } = this.#parts;
    if (this.#isClosed) return Promise.reject(new Error(`Consumer ${name} is closed`));
    this.#wanted = Math.max(this.#wanted, log.position);
    if (this.#next >= this.#wanted) return Promise.resolve();
    const waiter = { position: this.#wanted, ...Promise.withResolvers<void>() };
    this.#waiters.add(waiter);
    this.#handleAllNow();
    this.#worker.retryNow();
    return waiter.promise;
  };

  /** Waits for the batch in progress; the next start handles the rest. */
  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    this.#cancelWait?.();
    await this.#worker.close();
    this.#rejectWaiters(new Error(`Consumer ${this.#parts.name} is closed`));
  };

  /** Gives the log the position again; call it when `neededFrom` has changed. */
  readonly tell = (): void => {
    const { name, log, neededFrom } = this.#parts;
    const needed = neededFrom === undefined ? this.#next : neededFrom();
    log.setFollowerPosition(name, Math.min(this.#next, needed));
  };

  /** Entries before the position are durable. */
  #want(position: number): void {
    const { batchWaitMs = 0, setTimer = realTimer } = this.#parts;
    this.#wanted = Math.max(this.#wanted, position);
    if (batchWaitMs === 0 || this.#waiting.size >= this.#batch.entriesMax) this.#handleAllNow();
    else this.#cancelWait ??= setTimer(() => this.#handleAllNow(), batchWaitMs);
  }

  #handleAllNow(): void {
    this.#cancelWait?.();
    this.#cancelWait = undefined;
    this.#due = this.#wanted;
    this.#worker.wake();
  }

  #moveTo(position: number): void {
    this.#next = position;
    if (this.#parts.durability === 'told') this.tell();
    for (const waiter of this.#waiters) {
      if (waiter.position <= this.#next && this.#waiters.delete(waiter)) waiter.resolve();
    }
  }

  #rejectWaiters(error: unknown): void {
    for (const waiter of this.#waiters) waiter.reject(error);
    this.#waiters.clear();
  }

  async #catchUp(progressed: () => void): Promise<void> {
    while (!this.#isClosed && this.#next < this.#due) {
      const batch = this.#waiting.takeFrom(this.#next);
      if (batch.length > 0) await this.#handleBatch(batch);
      else await this.#readJournal();
      progressed();
    }
  }

  async #handleBatch(entries: readonly DurableEntry[]): Promise<void> {
    const fresh = entries.filter((entry) => entry.position >= this.#next);
    const last = fresh.at(-1);
    if (last === undefined) return;
    await this.#parts.handle(fresh);
    this.#moveTo(last.position + 1);
  }

  async #readJournal(): Promise<void> {
    const { name, log, failed } = this.#parts;
    for await (const entries of log.entriesFrom(this.#next)) {
      for (let from = 0; from < entries.length && !this.#isClosed; ) {
        const batch = batchFrom(entries, from, this.#batch);
        from += batch.length;
        await this.#handleBatch(batch);
      }
      this.#waiting.dropBefore(this.#next);
      if (this.#isClosed || this.#waiting.has(this.#next)) return;
    }
    const [next, wanted] = [this.#next, this.#wanted];
    if (next >= wanted) return;
    // Durable entries that the journal cannot give are damage; nothing else can be waited for.
    const behindLost = log.behindLost(next);
    if (behindLost > next) return this.#moveTo(behindLost);
    failed(
      new Error(
        `The journal has no entries from ${next} to ${wanted}; follower ${name} continues after them`,
      ),
    );
    this.#moveTo(wanted);
  }
}

// Waiting entries: announced entries of a follower, up to a limit, so that it need not read the journal.

/** A batch is at most this large, but for a single entry that is larger. */
interface BatchLimits {
  readonly entriesMax: number;
  readonly samplesMax: number;
}

/** Batches of announced entries kept in memory. */
const batchesKept = 10;

class WaitingEntries {
  readonly #batch: BatchLimits;
  readonly #entriesMax: number;
  readonly #samplesMax: number;
  /** The entry of each position from `first` on, or the rows that have it; undefined where it is not known. */
  #run: (DurableItem | undefined)[] = [];
  #first = 0;
  #size = 0;
  #samples = 0;

  constructor(batch: BatchLimits) {
    this.#batch = batch;
    this.#entriesMax = batch.entriesMax * batchesKept;
    this.#samplesMax = batch.samplesMax * batchesKept;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Keeps the entry, unless the limit is reached: then the follower reads it from the journal. Its
   * position is at most so far from those of the others.
   */
  add(entry: DurableEntry): void {
    const { position } = entry;
    if (this.#isFull() || !this.#reach(position, position)) return;
    this.#set(position - this.#first, entry);
  }

  /** The same for the entries of rows, which are all kept or none. */
  addRows(rows: DurableRows): void {
    const { position, length } = rows;
    if (this.#isFull() || !this.#reach(position, position + length - 1)) return;
    for (let place = 0; place < length; place++) this.#set(position + place - this.#first, rows);
  }

  has(position: number): boolean {
    return this.#run[position - this.#first] !== undefined;
  }

  /**
   * Removes and returns the unbroken run of entries from the position on, one batch at most. Older
   * entries are removed too.
   */
  takeFrom(position: number): readonly DurableEntry[] {
    const { entriesMax, samplesMax } = this.#batch;
    const start = position - this.#first;
    if (this.#run[start] === undefined) return [];
    let end = start;
    let taken = 0;
    while (end - start < entriesMax) {
      const item = this.#run[end];
      taken += item === undefined ? 0 : samplesAt(item);
      if (item === undefined || (taken > samplesMax && end > start)) break;
      end += 1;
    }
    const taking = this.#cut(end).slice(start) as DurableItem[];
    return taking.map((item, i) =>
      isRows(item) ? item.entryAt(position + i - item.position) : item,
    );
  }

  dropBefore(position: number): void {
    this.#cut(Math.min(Math.max(0, position - this.#first), this.#run.length));
  }

  /** Removes this number of positions and returns what they have. */
  #cut(positions: number): (DurableItem | undefined)[] {
    const removed = this.#run.splice(0, positions);
    this.#first += removed.length;
    for (const item of removed) {
      if (item === undefined) continue;
      this.#size -= 1;
      this.#samples -= samplesAt(item);
    }
    return removed;
  }

  /** Returns whether the positions up to `last` are within the run, which grows up to the limit. */
  #reach(position: number, last: number): boolean {
    if (this.#size === 0) {
      this.#run = [];
      this.#first = position;
    }
    const end = Math.max(last, this.#first + this.#run.length - 1);
    if (end - Math.min(position, this.#first) >= this.#entriesMax) return false;
    while (position < this.#first) {
      this.#run.unshift(undefined);
      this.#first -= 1;
    }
    while (last >= this.#first + this.#run.length) this.#run.push(undefined);
    return true;
  }

  #set(at: number, item: DurableItem): void {
    const before = this.#run[at];
    this.#run[at] = item;
    this.#size += before === undefined ? 1 : 0;
    this.#samples += samplesAt(item) - (before === undefined ? 0 : samplesAt(before));
  }

  #isFull(): boolean {
    return this.#size >= this.#entriesMax || this.#samples >= this.#samplesMax;
  }
}

/** Of one position. */
function samplesAt(item: DurableItem): number {
  return isRows(item) ? 1 : sampleCountOf(item);
}

/** The entries from an index on that make one batch. */
function batchFrom(
  entries: readonly DurableEntry[],
  from: number,
  limits: BatchLimits,
): readonly DurableEntry[] {
  const batch: DurableEntry[] = [];
  let samples = 0;
  for (const entry of entries.slice(from, from + limits.entriesMax)) {
    samples += sampleCountOf(entry);
    if (samples > limits.samplesMax && batch.length > 0) break;
    batch.push(entry);
  }
  return batch;
}
