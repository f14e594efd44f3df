// Kept memory: the kept rows of all devices, within limits of rows and characters.
import type { EpochMs } from '../../../model/instant.ts';
import type { OpenPlace } from './open-row.ts';
import { compareRows } from './sealed-rows.ts';

export const keptMemoryLimits = {
  /** Of all devices. */
  rowsMax: 200_000,
  charactersMax: 32 * 1024 * 1024,
  rowsOfDeviceMax: 10_000,
  charactersOfDeviceMax: 4 * 1024 * 1024,
} as const;

export type KeptMemoryLimits = { readonly [K in keyof typeof keptMemoryLimits]: number };

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

export interface KeptMemory {
  get(deviceId: string): Kept | undefined;
  /** Makes the device the last one to be evicted. */
  used(deviceId: string): void;
  /** Replaces what is kept of the device. */
  set(deviceId: string, kept: Kept): void;
  /** Adds a row to a device that is kept. */
  add(deviceId: string, place: OpenPlace, characters: number): void;
  delete(deviceId: string): void;
  clear(): void;
  /** Evicts the devices that were not used for the longest, until the limits hold. */
  makeRoom(): void;
  readonly size: number;
}

export function createKeptMemory(limits: KeptMemoryLimits): KeptMemory {
  // A Map iterates in the order of insertion: the first device is the least recently used.
  const kept = new Map<string, Kept>();
  const sums = { rows: 0, characters: 0 };

  function remove(deviceId: string): void {
    const known = kept.get(deviceId);
    if (known === undefined) return;
    sums.rows -= known.places.length;
    sums.characters -= known.characters;
    kept.delete(deviceId);
  }

  function set(deviceId: string, added: Kept): void {
    remove(deviceId);
    kept.set(deviceId, added);
    sums.rows += added.places.length;
    sums.characters += added.characters;
  }

  function makeRoom(): void {
    for (const deviceId of kept.keys()) {
      if (sums.rows <= limits.rowsMax && sums.characters <= limits.charactersMax) return;
      remove(deviceId);
    }
  }

  const isFull = ({ places, characters }: Kept): boolean =>
    places.length > limits.rowsOfDeviceMax || characters > limits.charactersOfDeviceMax;

  return {
    get: (deviceId) => kept.get(deviceId),
    used(deviceId) {
      const known = kept.get(deviceId);
      if (known !== undefined && kept.delete(deviceId)) kept.set(deviceId, known);
    },
    set,
    add(deviceId, place, characters) {
      const to = kept.get(deviceId);
      if (to === undefined) return;
      const last = to.places.at(-1);
      if (last !== undefined && compareRows(place, last) < 0) to.isSorted = false;
      to.places.push(place);
      to.characters += characters;
      sums.rows += 1;
      sums.characters += characters;
      if (!isFull(to)) return;
      remove(deviceId);
      set(deviceId, halfOf(to));
    },
    delete: remove,
    clear() {
      kept.clear();
      [sums.rows, sums.characters] = [0, 0];
    },
    makeRoom,
    get size() {
      return kept.size;
    },
  };
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
