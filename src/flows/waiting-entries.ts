// Waiting entries: announced entries of a follower, up to a limit, so that it need not read the journal.
import { type DurableEntry, sampleCountOf } from '../model/journal-entry.ts';

/** A batch is at most this large, but for a single entry that is larger. */
export interface BatchLimits {
  readonly entriesMax: number;
  readonly samplesMax: number;
}

/** Batches of announced entries kept in memory. */
const batchesKept = 10;

export interface WaitingEntries {
  readonly size: number;
  /**
   * Keeps the entry, unless the limit is reached: then the follower reads it from the journal. Its
   * position is at most so far from those of the others.
   */
  add(entry: DurableEntry): void;
  has(position: number): boolean;
  /**
   * Removes and returns the unbroken run of entries from the position on, one batch at most. Older
   * entries are removed too.
   */
  takeFrom(position: number): readonly DurableEntry[];
  dropBefore(position: number): void;
}

export function createWaitingEntries(limits: BatchLimits): WaitingEntries {
  const entriesMax = limits.entriesMax * batchesKept;
  const samplesMax = limits.samplesMax * batchesKept;
  /** The entry of each position from `first` on; undefined where it is not known. */
  let run: (DurableEntry | undefined)[] = [];
  let first = 0;
  let size = 0;
  let samples = 0;

  /** Removes this number of positions and returns their entries. */
  function cut(positions: number): (DurableEntry | undefined)[] {
    const removed = run.splice(0, positions);
    first += removed.length;
    for (const entry of removed) {
      if (entry === undefined) continue;
      size -= 1;
      samples -= sampleCountOf(entry);
    }
    return removed;
  }

  /** Returns whether the position is within the run, which grows up to the limit. */
  function reach(position: number): boolean {
    if (size === 0) {
      run = [];
      first = position;
    }
    const last = Math.max(position, first + run.length - 1);
    if (last - Math.min(position, first) >= entriesMax) return false;
    while (position < first) {
      run.unshift(undefined);
      first -= 1;
    }
    while (position >= first + run.length) run.push(undefined);
    return true;
  }

  return {
    get size() {
      return size;
    },
    add(entry) {
      if (size >= entriesMax || samples >= samplesMax || !reach(entry.position)) return;
      const at = entry.position - first;
      const before = run[at];
      run[at] = entry;
      size += before === undefined ? 1 : 0;
      samples += sampleCountOf(entry) - (before === undefined ? 0 : sampleCountOf(before));
    },
    has: (position) => run[position - first] !== undefined,
    takeFrom(position) {
      const start = position - first;
      if (run[start] === undefined) return [];
      let end = start;
      let taken = 0;
      while (end - start < limits.entriesMax) {
        const entry = run[end];
        taken += entry === undefined ? 0 : sampleCountOf(entry);
        if (entry === undefined || (taken > limits.samplesMax && end > start)) break;
        end += 1;
      }
      return cut(end).slice(start) as DurableEntry[];
    },
    dropBefore(position) {
      cut(Math.min(Math.max(0, position - first), run.length));
    },
  };
}

/** The entries from an index on that make one batch. */
export function batchFrom(
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
