// A follower of the journal: gives its entries in order, in batches, one batch at a time, to somebody whose effects are durable.
// Announcements are only a shortcut past the disk: whatever is not in memory is read from the journal, so none can be missed.
import { setImmediate as pause } from 'node:timers/promises';
import { type DurableEntry, isWritten } from '../model/journal-entry.ts';
import type { SampleStore } from '../samples/sample-store.ts';

/** Announced entries that wait in memory; beyond it they are read from the journal when their turn comes. */
const waitingLimits = { entriesMax: 10_000, samplesMax: 200_000 } as const;
/** What one call of `handle` gets at most, but for a single entry that is larger. */
const batchLimits = { entriesMax: 1_000, samplesMax: 20_000 } as const;
const retryDelaysMs = [1_000, 2_000, 5_000, 10_000, 30_000] as const;

export interface JournalFollower {
  /** To be told of every entry that became durable; costs no more than remembering it. */
  follow(entry: DurableEntry): void;
  /** Resolves when everything durable by now was handled; rejects when an attempt to handle it fails or the follower is closed. */
  settled(): Promise<void>;
  /** Waits for the batch under way; what is left is handled after the next start. */
  close(): Promise<void>;
}

export interface JournalFollowerParts {
  /** The position in the journal is kept under this name. */
  readonly name: string;
  readonly store: Pick<
    SampleStore,
    'followerPosition' | 'setFollowerPosition' | 'entriesFrom' | 'position'
  >;
  /** Resolves when its effects are durable. Gets entries again after a failure or a crash, so it must bear repetition. */
  readonly handle: (entries: readonly DurableEntry[]) => Promise<void>;
  readonly failed: (error: unknown) => void;
  /** Calls back once, later; returns how to cancel. */
  readonly schedule?: (task: () => void, delayMs: number) => () => void;
}

interface Waiter {
  readonly position: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Starts where the follower of this name stopped; a new one starts at the journal's present end. The journal keeps what it has
 * not handled yet.
 */
export function createJournalFollower(parts: JournalFollowerParts): JournalFollower {
  const { name, store, handle, schedule = laterBy } = parts;
  let next = store.followerPosition(name) ?? store.position;
  store.setFollowerPosition(name, next);
  let wanted = store.position;
  const waiting = waitingEntries();
  const waiters: Waiter[] = [];
  let running: Promise<void> | undefined;
  let cancelRetry: (() => void) | undefined;
  let failures = 0;
  let closed = false;

  async function handleBatch(entries: readonly DurableEntry[]): Promise<void> {
    const fresh = entries.filter((entry) => entry.position >= next);
    const last = fresh.at(-1);
    if (last === undefined) return;
    await handle(fresh);
    failures = 0;
    next = last.position + 1;
    store.setFollowerPosition(name, next);
    settleWaiters();
  }

  async function readJournal(): Promise<void> {
    for await (const entries of store.entriesFrom(next)) {
      for (let from = 0; from < entries.length && !closed; ) {
        const batch = batchFrom(entries, from);
        from += batch.length;
        await handleBatch(batch);
      }
      waiting.dropBefore(next);
      if (closed || waiting.has(next)) return;
    }
    if (next >= wanted) return;
    // Durable entries that the journal cannot give are damage, which the store reports; nobody can wait for them.
    parts.failed(
      new Error(
        `The journal has no entries from ${next} to ${wanted}; follower ${name} goes on behind them`,
      ),
    );
    next = wanted;
    store.setFollowerPosition(name, next);
    settleWaiters();
  }

  async function catchUp(): Promise<void> {
    while (!closed && next < wanted) {
      const batch = waiting.takeFrom(next);
      if (batch.length > 0) await handleBatch(batch);
      else await readJournal();
    }
  }

  function wake(): void {
    if (closed || running !== undefined || cancelRetry !== undefined || next >= wanted) return;
    // Not at once: whoever announces is about to answer a device, and entries of one fsync come one after the other.
    running = pause()
      .then(catchUp)
      .catch(retryLater)
      .finally(() => {
        running = undefined;
        wake();
      });
  }

  function retryLater(error: unknown): void {
    parts.failed(error);
    for (const waiter of waiters.splice(0)) waiter.reject(error);
    const delayMs = retryDelaysMs[Math.min(failures, retryDelaysMs.length - 1)]!;
    failures += 1;
    if (closed) return;
    cancelRetry = schedule(() => {
      cancelRetry = undefined;
      wake();
    }, delayMs);
  }

  function settleWaiters(): void {
    for (let i = waiters.length - 1; i >= 0; i--) {
      if (waiters[i]!.position <= next) waiters.splice(i, 1)[0]!.resolve();
    }
  }

  wake();
  return {
    follow(entry) {
      if (closed || entry.position < next || !isWritten(entry)) return;
      waiting.add(entry);
      wanted = Math.max(wanted, entry.position + 1);
      wake();
    },
    settled() {
      if (closed) return Promise.reject(new Error(`Follower ${name} is closed`));
      wanted = Math.max(wanted, store.position);
      if (next >= wanted) return Promise.resolve();
      // Whoever asks does not wait for the pause after a failure.
      cancelRetry?.();
      cancelRetry = undefined;
      const settled = new Promise<void>((resolve, reject) => {
        waiters.push({ position: wanted, resolve, reject });
      });
      wake();
      return settled;
    },
    async close() {
      closed = true;
      cancelRetry?.();
      await running;
      for (const waiter of waiters.splice(0))
        waiter.reject(new Error(`Follower ${name} is closed`));
    },
  };
}

function laterBy(task: () => void, delayMs: number): () => void {
  const timer = setTimeout(task, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
}

function batchFrom(entries: readonly DurableEntry[], from: number): readonly DurableEntry[] {
  let samples = 0;
  let to = from;
  while (to < entries.length && to - from < batchLimits.entriesMax) {
    samples += entries[to]!.samples.length;
    if (samples > batchLimits.samplesMax && to > from) break;
    to += 1;
  }
  return from === 0 && to === entries.length ? entries : entries.slice(from, to);
}

/** Entries that were announced and not handled yet, by position. */
function waitingEntries() {
  const entries = new Map<number, DurableEntry>();
  let samples = 0;

  function drop(position: number): DurableEntry | undefined {
    const entry = entries.get(position);
    if (entry !== undefined && entries.delete(position)) samples -= entry.samples.length;
    return entry;
  }

  return {
    /** Beyond the limits it is not kept: the journal has it. */
    add(entry: DurableEntry): void {
      if (entries.size >= waitingLimits.entriesMax || samples >= waitingLimits.samplesMax) return;
      drop(entry.position);
      entries.set(entry.position, entry);
      samples += entry.samples.length;
    },
    has: (position: number): boolean => entries.has(position),
    /** The unbroken run from the position on, as far as one batch goes; it waits no longer. */
    takeFrom(position: number): readonly DurableEntry[] {
      const run: DurableEntry[] = [];
      for (let at = position; run.length < batchLimits.entriesMax && entries.has(at); at++)
        run.push(entries.get(at)!);
      const batch = batchFrom(run, 0);
      for (const entry of batch) drop(entry.position);
      return batch;
    },
    dropBefore(position: number): void {
      for (const known of [...entries.keys()]) if (known < position) drop(known);
    },
  };
}
