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

export interface JournalFollower {
  /** Call for every entry that became durable; the entry is only remembered. */
  follow(entry: DurableEntry): void;
  /** The same for the entries of rows together. */
  followRows(rows: DurableRows): void;
  /**
   * Resolves when everything durable by now was handled; rejects when an attempt to handle it fails
   * or the follower is closed.
   */
  settled(): Promise<void>;
  /** Gives the log the position again; call it when `neededFrom` has changed. */
  tell(): void;
  /** Waits for the batch in progress; the next start handles the rest. */
  close(): Promise<void>;
}

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

/**
 * Starts where the follower of this name stopped; a new one starts at the present end of the
 * journal. The journal keeps what it has not handled yet.
 */
export function createJournalFollower(parts: JournalFollowerParts): JournalFollower {
  const { name, log, batchWaitMs = 0, batch = batchLimits, setTimer = realTimer } = parts;
  const { keep = (entry) => entry, keepRows = (rows) => rows } = parts;
  const { retryDelaysMs = standardDelaysMs } = parts;
  const progress = new Progress(parts, batch);
  const { waiting } = progress;
  let cancelWait: (() => void) | undefined;
  let closed = false;
  const worker: RetryingWorker = new RetryingWorker({
    hasWork: () => progress.next < progress.due,
    work: async (progressed) => {
      // Not at once: the caller that announces is about to answer a device, and entries of one
      // fsync come one by one.
      await pause();
      await catchUp(progress, () => closed, progressed);
    },
    failed: (error) => {
      parts.failed(error);
      progress.rejectWaiters(error);
    },
    retryDelaysMs,
    setTimer,
  });

  function handleAllNow(): void {
    cancelWait?.();
    cancelWait = undefined;
    progress.due = progress.wanted;
    worker.wake();
  }

  /** Entries before the position are durable. */
  function want(position: number): void {
    progress.wanted = Math.max(progress.wanted, position);
    if (batchWaitMs === 0 || waiting.size >= batch.entriesMax) handleAllNow();
    else cancelWait ??= setTimer(handleAllNow, batchWaitMs);
  }

  handleAllNow();
  return {
    follow(entry) {
      if (closed || entry.position < progress.next || !isWritten(entry)) return;
      waiting.add(keep(entry));
      want(entry.position + 1);
    },
    followRows(rows) {
      const end = rows.position + rows.length;
      if (closed || end <= progress.next) return;
      waiting.addRows(keepRows(rows));
      want(end);
    },
    settled() {
      if (closed) return Promise.reject(new Error(`Consumer ${name} is closed`));
      progress.wanted = Math.max(progress.wanted, log.position);
      if (progress.next >= progress.wanted) return Promise.resolve();
      const settled = progress.reached(progress.wanted);
      handleAllNow();
      worker.retryNow();
      return settled;
    },
    tell: progress.tell,
    async close() {
      closed = true;
      cancelWait?.();
      await worker.close();
      progress.rejectWaiters(new Error(`Consumer ${name} is closed`));
    },
  };
}

/** How far a follower has come, and who waits for it. */
class Progress {
  readonly parts: JournalFollowerParts;
  readonly batch: BatchLimits;
  readonly waiting: ReturnType<typeof createWaitingEntries>;
  /** Everything before it is known to be durable. */
  wanted: number;
  /** Everything before it must be handled without further waiting. */
  due: number;
  readonly #name: string;
  readonly #log: FollowedLog;
  readonly #durability: 'told' | 'ownTransaction';
  readonly #waiters = new Set<{ readonly position: number } & PromiseWithResolvers<void>>();
  #next: number;
  readonly #neededFrom: () => number;

  constructor(parts: JournalFollowerParts, batch: BatchLimits) {
    this.parts = parts;
    this.batch = batch;
    const { name, log, durability } = parts;
    this.#name = name;
    this.#log = log;
    this.#durability = durability;
    this.#next = parts.from ?? this.#log.followerPosition(this.#name) ?? this.#log.position;
    const { neededFrom = () => this.#next } = parts;
    this.#neededFrom = neededFrom;
    if (this.#durability === 'told' || this.#log.followerPosition(this.#name) === undefined)
      this.tell();
    this.waiting = createWaitingEntries(batch);
    this.wanted = this.#log.position;
    this.due = this.#log.position;
  }

  /** See `JournalFollower`. */
  readonly tell = (): void =>
    this.#log.setFollowerPosition(this.#name, Math.min(this.#next, this.#neededFrom()));

  /** The position of the entry to handle next. */
  get next(): number {
    return this.#next;
  }

  moveTo(position: number): void {
    this.#next = position;
    if (this.#durability === 'told') this.tell();
    for (const waiter of this.#waiters) {
      if (waiter.position <= this.#next && this.#waiters.delete(waiter)) waiter.resolve();
    }
  }

  /** Resolves when everything before the position was handled. */
  reached(position: number): Promise<void> {
    const waiter = { position, ...Promise.withResolvers<void>() };
    this.#waiters.add(waiter);
    return waiter.promise;
  }

  rejectWaiters(error: unknown): void {
    for (const waiter of this.#waiters) waiter.reject(error);
    this.#waiters.clear();
  }
}

async function catchUp(
  progress: Progress,
  isClosed: () => boolean,
  progressed: () => void,
): Promise<void> {
  while (!isClosed() && progress.next < progress.due) {
    const batch = progress.waiting.takeFrom(progress.next);
    if (batch.length > 0) await handleBatch(progress, batch);
    else await readJournal(progress, isClosed);
    progressed();
  }
}

async function handleBatch(progress: Progress, entries: readonly DurableEntry[]): Promise<void> {
  const fresh = entries.filter((entry) => entry.position >= progress.next);
  const last = fresh.at(-1);
  if (last === undefined) return;
  await progress.parts.handle(fresh);
  progress.moveTo(last.position + 1);
}

async function readJournal(progress: Progress, isClosed: () => boolean): Promise<void> {
  const { waiting, parts } = progress;
  for await (const entries of parts.log.entriesFrom(progress.next)) {
    for (let from = 0; from < entries.length && !isClosed(); ) {
      const batch = batchFrom(entries, from, progress.batch);
      from += batch.length;
      await handleBatch(progress, batch);
    }
    waiting.dropBefore(progress.next);
    if (isClosed() || waiting.has(progress.next)) return;
  }
  const { next, wanted } = progress;
  if (next >= wanted) return;
  // Durable entries that the journal cannot give are damage; nothing else can be waited for.
  const behindLost = parts.log.behindLost(next);
  if (behindLost > next) {
    progress.moveTo(behindLost);
    return;
  }
  parts.failed(
    new Error(
      `The journal has no entries from ${next} to ${wanted}; follower ${parts.name} continues after them`,
    ),
  );
  progress.moveTo(wanted);
}

// Waiting entries: announced entries of a follower, up to a limit, so that it need not read the journal.

/** A batch is at most this large, but for a single entry that is larger. */
interface BatchLimits {
  readonly entriesMax: number;
  readonly samplesMax: number;
}

/** Batches of announced entries kept in memory. */
const batchesKept = 10;

interface WaitingEntries {
  readonly size: number;
  /**
   * Keeps the entry, unless the limit is reached: then the follower reads it from the journal. Its
   * position is at most so far from those of the others.
   */
  add(entry: DurableEntry): void;
  /** The same for the entries of rows, which are all kept or none. */
  addRows(rows: DurableRows): void;
  has(position: number): boolean;
  /**
   * Removes and returns the unbroken run of entries from the position on, one batch at most. Older
   * entries are removed too.
   */
  takeFrom(position: number): readonly DurableEntry[];
  dropBefore(position: number): void;
}

function createWaitingEntries(limits: BatchLimits): WaitingEntries {
  const entriesMax = limits.entriesMax * batchesKept;
  const samplesMax = limits.samplesMax * batchesKept;
  /** The entry of each position from `first` on, or the rows that have it; undefined where it is not known. */
  let run: (DurableItem | undefined)[] = [];
  let first = 0;
  let size = 0;
  let samples = 0;

  /** Removes this number of positions and returns what they have. */
  function cut(positions: number): (DurableItem | undefined)[] {
    const removed = run.splice(0, positions);
    first += removed.length;
    for (const item of removed) {
      if (item === undefined) continue;
      size -= 1;
      samples -= samplesAt(item);
    }
    return removed;
  }

  /** Returns whether the positions up to `last` are within the run, which grows up to the limit. */
  function reach(position: number, last: number): boolean {
    if (size === 0) {
      run = [];
      first = position;
    }
    const end = Math.max(last, first + run.length - 1);
    if (end - Math.min(position, first) >= entriesMax) return false;
    while (position < first) {
      run.unshift(undefined);
      first -= 1;
    }
    while (last >= first + run.length) run.push(undefined);
    return true;
  }

  function set(at: number, item: DurableItem): void {
    const before = run[at];
    run[at] = item;
    size += before === undefined ? 1 : 0;
    samples += samplesAt(item) - (before === undefined ? 0 : samplesAt(before));
  }

  function isFull(): boolean {
    return size >= entriesMax || samples >= samplesMax;
  }

  return {
    get size() {
      return size;
    },
    add(entry) {
      if (isFull() || !reach(entry.position, entry.position)) return;
      set(entry.position - first, entry);
    },
    addRows(rows) {
      const { position, length } = rows;
      if (isFull() || !reach(position, position + length - 1)) return;
      for (let place = 0; place < length; place++) set(position + place - first, rows);
    },
    has: (position) => run[position - first] !== undefined,
    takeFrom(position) {
      const start = position - first;
      if (run[start] === undefined) return [];
      let end = start;
      let taken = 0;
      while (end - start < limits.entriesMax) {
        const item = run[end];
        taken += item === undefined ? 0 : samplesAt(item);
        if (item === undefined || (taken > limits.samplesMax && end > start)) break;
        end += 1;
      }
      const taking = cut(end).slice(start) as DurableItem[];
      return taking.map((item, i) =>
        isRows(item) ? item.entryAt(position + i - item.position) : item,
      );
    },
    dropBefore(position) {
      cut(Math.min(Math.max(0, position - first), run.length));
    },
  };
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
