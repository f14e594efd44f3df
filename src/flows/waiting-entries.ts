// Waiting entries: announced entries of a follower, up to a limit, so that it need not read the journal.
import { type DurableEntry, sampleCountOf } from '../model/journal-entry.ts';

/** A batch is at most this large, but for a single entry that is larger. */
export interface BatchLimits {
  readonly entriesMax: number;
  readonly samplesMax: number;
}

/** Announced entries kept in memory: so many batches. */
const batchesKept = 10;

export interface WaitingEntries {
  readonly size: number;
  /** Keeps the entry, unless the limit is reached: then the follower reads it from the journal. */
  add(entry: DurableEntry): void;
  has(position: number): boolean;
  /** Removes and returns the unbroken run of entries from the position on, one batch at most. */
  takeFrom(position: number): readonly DurableEntry[];
  dropBefore(position: number): void;
}

export function createWaitingEntries(limits: BatchLimits): WaitingEntries {
  const entries = new Map<number, DurableEntry>();
  let samples = 0;

  function drop(position: number): void {
    const entry = entries.get(position);
    if (entry !== undefined && entries.delete(position)) samples -= sampleCountOf(entry);
  }

  return {
    get size() {
      return entries.size;
    },
    add(entry) {
      const isFull =
        entries.size >= limits.entriesMax * batchesKept ||
        samples >= limits.samplesMax * batchesKept;
      if (isFull) return;
      drop(entry.position);
      entries.set(entry.position, entry);
      samples += sampleCountOf(entry);
    },
    has: (position) => entries.has(position),
    takeFrom(position) {
      const run: DurableEntry[] = [];
      for (let at = position; run.length < limits.entriesMax; at++) {
        const entry = entries.get(at);
        if (entry === undefined) break;
        run.push(entry);
      }
      const batch = batchFrom(run, 0, limits);
      for (const entry of batch) drop(entry.position);
      return batch;
    },
    dropBefore(position) {
      for (const known of [...entries.keys()]) if (known < position) drop(known);
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
