// Kept memory: the kept rows of all devices, within limits of rows and characters.
import type { EpochMs } from '../../../model/instant.ts';
import type { OpenPlace } from './open-rows.ts';
import { compareRows } from './sample-tables.ts';

export const keptMemoryLimits = {
  /** Of all devices. */
  rowsMax: 200_000,
  charactersMax: 32 * 1024 * 1024,
  rowsOfDeviceMax: 10_000,
  charactersOfDeviceMax: 4 * 1024 * 1024,
} as const;

type KeptMemoryLimits = { readonly [K in keyof typeof keptMemoryLimits]: number };

/** What a read needs: rows from a time on, or at least this number of the newest ones. */
export interface WantedRows {
  readonly from: EpochMs | undefined;
  readonly rows: number;
}

/** Rows of a device: all that are at or after `from`. */
export interface Kept {
  readonly loadedAt: number;
  readonly wanted: WantedRows;
  from: EpochMs;
  /** Whether the limits of a device keep no older rows. */
  isFull: boolean;
  places: OpenPlace[];
  isSorted: boolean;
  /** Of the data of the rows. */
  characters: number;
}

export class KeptMemory {
  readonly #limits: KeptMemoryLimits;
  // A Map iterates in the order of insertion: the first device is the least recently used.
  readonly #kept = new Map<string, Kept>();
  readonly #sums = { rows: 0, characters: 0 };

  constructor(limits: KeptMemoryLimits) {
    this.#limits = limits;
  }

  get(deviceId: string): Kept | undefined {
    return this.#kept.get(deviceId);
  }

  /** Makes the device the last one to be evicted. */
  used(deviceId: string): void {
    const known = this.#kept.get(deviceId);
    if (known !== undefined && this.#kept.delete(deviceId)) this.#kept.set(deviceId, known);
  }

  /** Replaces what is kept of the device. */
  set(deviceId: string, added: Kept): void {
    this.delete(deviceId);
    this.#kept.set(deviceId, added);
    this.#sums.rows += added.places.length;
    this.#sums.characters += added.characters;
  }

  /** Adds a row to a device that is kept. */
  add(deviceId: string, place: OpenPlace, characters: number): void {
    const to = this.#kept.get(deviceId);
    if (to === undefined) return;
    const last = to.places.at(-1);
    if (last !== undefined && compareRows(place, last) < 0) to.isSorted = false;
    to.places.push(place);
    to.characters += characters;
    this.#sums.rows += 1;
    this.#sums.characters += characters;
    if (!this.#isFull(to)) return;
    this.delete(deviceId);
    this.set(deviceId, halfOf(to));
  }

  delete(deviceId: string): void {
    const known = this.#kept.get(deviceId);
    if (known === undefined) return;
    this.#sums.rows -= known.places.length;
    this.#sums.characters -= known.characters;
    this.#kept.delete(deviceId);
  }

  clear(): void {
    this.#kept.clear();
    [this.#sums.rows, this.#sums.characters] = [0, 0];
  }

  /** Evicts the devices that were not used for the longest, until the limits hold. */
  makeRoom(): void {
    for (const deviceId of this.#kept.keys()) {
      if (
        this.#sums.rows <= this.#limits.rowsMax &&
        this.#sums.characters <= this.#limits.charactersMax
      )
        return;
      this.delete(deviceId);
    }
  }

  get size(): number {
    return this.#kept.size;
  }

  #isFull({ places, characters }: Kept): boolean {
    return (
      places.length > this.#limits.rowsOfDeviceMax ||
      characters > this.#limits.charactersOfDeviceMax
    );
  }
}

/** The newer half, so that a device with many rows is not loaded again and again. */
function halfOf(kept: Kept): Kept {
  const places = sortedPlaces(kept).slice(Math.ceil(kept.places.length / 2));
  const half: Kept = { ...kept, places, characters: kept.characters / 2, isFull: true };
  beginBehindFirst(half);
  return half;
}

/** Of the instant of the first row, older ones may be omitted. */
export function beginBehindFirst(kept: Kept): void {
  const [first] = kept.places;
  if (first === undefined) return;
  kept.from = first.ts + 1;
  kept.places = kept.places.filter(({ ts }) => ts >= kept.from);
}

/** In the order of reading. */
export function sortedPlaces(kept: Kept): OpenPlace[] {
  if (!kept.isSorted) kept.places.sort(compareRows);
  kept.isSorted = true;
  return kept.places;
}
