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

export class EntryTail {
  readonly #followers = new Set<() => void>();
  /** The item of each position from `first` on; undefined where it is not known. */
  readonly #run: (DurableItem | undefined)[] = [];
  #first = 0;
  #samples = 0;

  readonly announced = (entry: DurableEntry): void => {
    if (this.#followers.size === 0 || !isWritten(entry)) return;
    if (sampleCountOf(entry) <= entryTailLimits.entrySamplesMax)
      this.#keep(entry.position, 1, entry);
    this.#wakeAll();
  };

  readonly announcedRows = (rows: DurableRows): void => {
    if (this.#followers.size === 0) return;
    if (rows.length <= entryTailLimits.entrySamplesMax)
      this.#keep(rows.position, rows.length, rows);
    this.#wakeAll();
  };

  /** The unbroken run of entries from the position on; empty where the journal must be read. */
  from(position: number): readonly DurableEntry[] {
    return entriesFrom(this.#run, this.#first, position);
  }

  /** Keeps entries, and calls the listener after each announcement, until the function is called. */
  follow(listener: () => void): () => void {
    this.#followers.add(listener);
    return () => {
      this.#followers.delete(listener);
      if (this.#followers.size === 0) this.#drop(this.#run.length);
    };
  }

  #drop(positions: number): void {
    for (const item of this.#run.splice(0, positions)) this.#samples -= samplesAt(item);
    this.#first += positions;
  }

  #makeRoom(): void {
    const { entriesMax, samplesMax } = entryTailLimits;
    // In larger steps, because the rest is moved each time.
    if (this.#run.length > entriesMax + entriesMax / 4) this.#drop(this.#run.length - entriesMax);
    while (this.#samples > samplesMax) this.#drop(Math.max(1, this.#run.length >> 2));
  }

  #keep(position: number, length: number, item: DurableItem): void {
    const end = position + length;
    if (
      this.#run.length === 0 ||
      position > this.#first + this.#run.length + entryTailLimits.entriesMax
    ) {
      this.#drop(this.#run.length);
      this.#first = position;
    }
    while (this.#first + this.#run.length < end) this.#run.push(undefined);
    for (let at = Math.max(position, this.#first); at < end; at++) {
      this.#samples += samplesAt(item) - samplesAt(this.#run[at - this.#first]);
      this.#run[at - this.#first] = item;
    }
    this.#makeRoom();
  }

  #wakeAll(): void {
    for (const wake of this.#followers) wake();
  }
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
