// Entry tail: the newest announced entries, shared by all feeds, so that these rarely read the journal.
import {
  type DurableEntry,
  type DurableItem,
  type DurableRows,
  isRows,
  isWritten,
  sampleCountOf,
} from '../model/journal-entry.ts';

const entryTailLimits = {
  entriesMax: 4_096,
  samplesMax: 40_000,
  /** An entry with more samples is read from the journal. */
  entrySamplesMax: 4_000,
  /** Entries that are taken together. */
  takenMax: 500,
} as const;

export interface EntryTail {
  announced(entry: DurableEntry): void;
  announcedRows(rows: DurableRows): void;
  /** The unbroken run of entries from the position on; empty where the journal must be read. */
  from(position: number): readonly DurableEntry[];
  /** Keeps entries, and calls the listener after each announcement, until the function is called. */
  follow(listener: () => void): () => void;
}

export function createEntryTail(): EntryTail {
  const followers = new Set<() => void>();
  /** The item of each position from `first` on; undefined where it is not known. */
  const run: (DurableItem | undefined)[] = [];
  let first = 0;
  let samples = 0;

  function drop(positions: number): void {
    for (const item of run.splice(0, positions)) samples -= samplesAt(item);
    first += positions;
  }

  function makeRoom(): void {
    const { entriesMax, samplesMax } = entryTailLimits;
    // In larger steps, because the rest is moved each time.
    if (run.length > entriesMax + entriesMax / 4) drop(run.length - entriesMax);
    while (samples > samplesMax) drop(Math.max(1, run.length >> 2));
  }

  function keep(position: number, length: number, item: DurableItem): void {
    const end = position + length;
    if (run.length === 0 || position > first + run.length + entryTailLimits.entriesMax) {
      drop(run.length);
      first = position;
    }
    while (first + run.length < end) run.push(undefined);
    for (let at = Math.max(position, first); at < end; at++) {
      samples += samplesAt(item) - samplesAt(run[at - first]);
      run[at - first] = item;
    }
    makeRoom();
  }

  function wakeAll(): void {
    for (const wake of followers) wake();
  }

  return {
    announced(entry) {
      if (followers.size === 0 || !isWritten(entry)) return;
      if (sampleCountOf(entry) <= entryTailLimits.entrySamplesMax) keep(entry.position, 1, entry);
      wakeAll();
    },
    announcedRows(rows) {
      if (followers.size === 0) return;
      if (rows.length <= entryTailLimits.entrySamplesMax) keep(rows.position, rows.length, rows);
      wakeAll();
    },
    from: (position) => entriesFrom(run, first, position),
    follow(listener) {
      followers.add(listener);
      return () => {
        followers.delete(listener);
        if (followers.size === 0) drop(run.length);
      };
    },
  };
}

function entriesFrom(
  run: readonly (DurableItem | undefined)[],
  first: number,
  position: number,
): readonly DurableEntry[] {
  const entries: DurableEntry[] = [];
  if (position < first) return entries;
  while (entries.length < entryTailLimits.takenMax) {
    const at = position + entries.length;
    const item = run[at - first];
    if (item === undefined) break;
    entries.push(isRows(item) ? item.entryAt(at - item.position) : item);
  }
  return entries;
}

/** Of one position. */
function samplesAt(item: DurableItem | undefined): number {
  if (item === undefined) return 0;
  return isRows(item) ? 1 : sampleCountOf(item);
}
