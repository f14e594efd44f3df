// Waiting entries: announced entries of a follower, up to a limit, so that it need not read the journal.
import {
  type DurableEntry,
  type DurableItem,
  type DurableRows,
  isRows,
  sampleCountOf,
} from '../model/journal-entry.ts';

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

export function createWaitingEntries(limits: BatchLimits): WaitingEntries {
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
