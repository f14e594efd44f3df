// Kept rows: what ClickHouse has of devices that are asked for often, so that their reads need no statement.
import type { EpochMs } from '../../../model/instant.ts';
import { type BoundedMap, createBoundedMap } from '../../../structures/caches.ts';
import { dataOfRow, type OpenPlace, type OpenRow, placeOf } from './open-rows.ts';
import { compareRows } from './sample-tables.ts';

// Kept memory: the kept rows of all devices, within limits of rows and characters.

const keptMemoryLimits = {
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
interface Kept {
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

class KeptMemory {
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
function beginBehindFirst(kept: Kept): void {
  const [first] = kept.places;
  if (first === undefined) return;
  kept.from = first.ts + 1;
  kept.places = kept.places.filter(({ ts }) => ts >= kept.from);
}

/** In the order of reading. */
function sortedPlaces(kept: Kept): OpenPlace[] {
  if (!kept.isSorted) kept.places.sort(compareRows);
  kept.isSorted = true;
  return kept.places;
}

const keptLimits = {
  ...keptMemoryLimits,
  /** How many of the newest rows are kept for a read without a beginning, if it needs no more. */
  newestRows: 1_000,
  /** Devices that are loaded at the same time. */
  loadsMax: 4,
  /** Devices of which it is known when they were asked for last. */
  askedMax: 10_000,
  /** A device that is asked for again within this time is loaded. */
  askedMsMax: 60_000,
  /** While a device is asked for, it is loaded again after this time, and not used after `msMax`. */
  refreshMs: 30_000,
  msMax: 60_000,
} as const;

export type KeptLimits = { readonly [K in keyof typeof keptLimits]: number };

/** Reads the newest rows of a device that ClickHouse has in this turn. */
export type LoadRows = (request: LoadRequest) => Promise<LoadedRows>;

export interface LoadRequest {
  readonly deviceId: string;
  readonly from: EpochMs | undefined;
  readonly rowsMax: number;
  readonly charactersMax: number;
}

export interface LoadedRows {
  /** In the order of reading. */
  readonly places: OpenPlace[];
  /** Of their data. */
  readonly characters: number;
  /** Whether there are older ones. */
  readonly isCut: boolean;
}

interface Loading {
  /** Rows of blocks that were shipped meanwhile. */
  readonly rows: OpenRow[];
  isOutdated: boolean;
}

/**
 * The rows of a device are read once, and those of each block are added when it is shipped. Only
 * the owner of a device may use it. What another node ships of it, such as after it was away, is
 * noticed by `changes`, and at the latest after `msMax`.
 */
export class KeptRows {
  readonly #load: LoadRows;
  readonly #journal: number;
  readonly #now: () => number;
  readonly #changes: () => number;
  readonly #limits: KeptLimits;
  readonly #asked: BoundedMap<string, number>;
  readonly #kept: KeptMemory;
  readonly #loading = new Map<string, Loading>();
  readonly #loads = new Set<Promise<void>>();
  #changesSeen: number;

  constructor(
    load: LoadRows,
    journal: number,
    /** A monotonic clock in milliseconds. */
    now: () => number,
    /** Another number when other nodes may have shipped rows of devices of this one. */
    changes: () => number,
    limits: Partial<KeptLimits> = {},
  ) {
    this.#load = load;
    this.#journal = journal;
    this.#now = now;
    this.#changes = changes;
    this.#limits = { ...keptLimits, ...limits };
    this.#asked = createBoundedMap<string, number>(this.#limits.askedMax);
    this.#kept = new KeptMemory(this.#limits);
    this.#changesSeen = changes();
  }

  /** Resolves when nothing is being loaded. */
  readonly settled = async (): Promise<void> => {
    while (this.#loads.size > 0) await Promise.all(this.#loads);
  };

  /**
   * The rows of the device at or after `from`, in the order of reading. Undefined while ClickHouse
   * must be asked. Belongs to this turn.
   */
  of(deviceId: string):
    | {
        readonly from: EpochMs;
        readonly places: readonly OpenPlace[];
      }
    | undefined {
    this.#clearAfterChanges();
    const known = this.#kept.get(deviceId);
    if (known === undefined) return undefined;
    const age = this.#now() - known.loadedAt;
    if (age > this.#limits.msMax) {
      this.#kept.delete(deviceId);
      this.#asked.set(deviceId, this.#now());
      return undefined;
    }
    if (age > this.#limits.refreshMs) this.#begin(deviceId, known.wanted);
    this.#kept.used(deviceId);
    return { from: known.from, places: sortedPlaces(known) };
  }

  /** To be called when ClickHouse had to be asked for the device. */
  missed(deviceId: string, wanted: WantedRows): void {
    const known = this.#kept.get(deviceId);
    if (known?.isFull === true) return;
    const at = this.#asked.get(deviceId);
    this.#asked.set(deviceId, this.#now());
    if (known === undefined && (at === undefined || this.#now() - at > this.#limits.askedMsMax))
      return;
    this.#begin(deviceId, known === undefined ? wanted : union(wanted, known.wanted));
  }

  /** To be called in the turn in which the rows of the block are open no more. */
  shipped(block: { readonly rows: OpenRow[] }): void {
    if (this.#kept.size === 0 && this.#loading.size === 0) return;
    for (const row of block.rows) {
      this.#loading.get(row.deviceId)?.rows.push(row);
      this.#add(row);
    }
    this.#kept.makeRoom();
  }

  drop(deviceId: string): void {
    this.#kept.delete(deviceId);
    const own = this.#loading.get(deviceId);
    if (own !== undefined) own.isOutdated = true;
  }

  /** Discards everything, because ClickHouse may have got rows from elsewhere. */
  clear(): void {
    this.#kept.clear();
    for (const each of this.#loading.values()) each.isOutdated = true;
  }

  #clearAfterChanges(): void {
    const seen = this.#changes();
    if (seen !== this.#changesSeen) this.clear();
    this.#changesSeen = seen;
  }

  #add(row: OpenRow): void {
    const { deviceId, timestamp } = row;
    const to = this.#kept.get(deviceId);
    if (to === undefined || timestamp < to.from) return;
    this.#kept.add(deviceId, placeOf(row, this.#journal), JSON.stringify(dataOfRow(row)).length);
  }

  #begin(deviceId: string, wanted: WantedRows): void {
    if (this.#loading.has(deviceId) || this.#loads.size >= this.#limits.loadsMax) return;
    // The reads of the device have the same trouble, and report it.
    const loaded = this.#loadRows(deviceId, wanted).catch(() => undefined);
    this.#loads.add(loaded);
    void loaded.then(() => this.#loads.delete(loaded));
  }

  async #loadRows(deviceId: string, wanted: WantedRows): Promise<void> {
    const limits = this.#limits;
    const own: Loading = { rows: [], isOutdated: false };
    this.#loading.set(deviceId, own);
    const loadedAt = this.#now();
    const { from, rows: rowsMin } = wanted;
    const newest = from === undefined ? Math.max(limits.newestRows, rowsMin) : Infinity;
    const rowsMax = Math.min(limits.rowsOfDeviceMax, newest);
    const charactersMax = limits.charactersOfDeviceMax;
    try {
      const found = await this.#load({ deviceId, from, rowsMax, charactersMax });
      this.#clearAfterChanges();
      if (own.isOutdated) return;
      const loaded: Kept = {
        loadedAt,
        wanted,
        isSorted: true,
        isFull: found.isCut && found.places.length < newest,
        places: found.places,
        characters: found.characters,
        from: from ?? Number.NEGATIVE_INFINITY,
      };
      if (found.isCut) beginBehindFirst(loaded);
      this.#kept.set(deviceId, loaded);
      for (const row of own.rows) this.#add(row);
      this.#kept.makeRoom();
    } finally {
      this.#loading.delete(deviceId);
    }
  }
}

/** Rows from a time on and a number of the newest ones are all that can be kept. */
function union(a: WantedRows, b: WantedRows): WantedRows {
  const from = beginOf(a) < beginOf(b) ? a.from : b.from;
  const areAlike = (a.from === undefined) === (b.from === undefined);
  return { from, rows: areAlike ? Math.max(a.rows, b.rows) : Number.POSITIVE_INFINITY };
}

const beginOf = ({ from = Number.NEGATIVE_INFINITY }: WantedRows): number => from;
