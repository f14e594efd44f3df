// Kept rows: what ClickHouse has of devices that are asked for often, so that their reads need no statement.
import type { EpochMs } from '../../model/instant.ts';
import { createBoundedMap } from '../../structures/bounded-map.ts';
import type { OpenRow } from './open-row.ts';
import { dataOfRow } from './open-row.ts';
import type { Block } from './open-rows.ts';
import { compareRows } from './sealed-rows.ts';
import { type OpenPlace, placeOf } from './open-place.ts';

export const keptLimits = {
  /** Of all devices. */
  rowsMax: 200_000,
  charactersMax: 32 * 1024 * 1024,
  rowsOfDeviceMax: 10_000,
  charactersOfDeviceMax: 4 * 1024 * 1024,
  /** A read without a beginning makes so many of the newest rows be kept, or as many as it needs. */
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

/** Rows of a device in the order of reading: all that are at or after `from`. */
export interface KeptDevice {
  readonly from: EpochMs;
  readonly places: readonly OpenPlace[];
}

/** What a read needs: rows from a time on, or at least so many of the newest ones. */
export interface WantedRows {
  readonly from: EpochMs | undefined;
  readonly rows: number;
}

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
  /** Whether older ones were left out. */
  readonly isCut: boolean;
}

export interface KeptRows {
  /** Undefined while ClickHouse must be asked. Belongs to this turn. */
  of(deviceId: string): KeptDevice | undefined;
  /** To be called when ClickHouse had to be asked for the device. */
  missed(deviceId: string, wanted: WantedRows): void;
  /** To be called in the turn in which the rows of the block are open no more. */
  shipped(block: Pick<Block, 'rows'>): void;
  drop(deviceId: string): void;
  /** Discards everything, because ClickHouse may have got rows from elsewhere. */
  clear(): void;
  /** Resolves when nothing is being loaded. */
  settled(): Promise<void>;
}

export interface KeptRowsParts {
  readonly load: LoadRows;
  readonly journal: number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Another number when other nodes may have shipped rows of devices of this one. */
  readonly changes: () => number;
  readonly limits?: Partial<KeptLimits> | undefined;
}

interface Kept {
  readonly loadedAt: number;
  from: EpochMs;
  readonly wanted: WantedRows;
  /** Whether the limits of a device keep no older rows. */
  isFull: boolean;
  places: OpenPlace[];
  isSorted: boolean;
  characters: number;
}

interface Loading {
  /** Rows of blocks that were shipped meanwhile. */
  readonly rows: OpenRow[];
  isOutdated: boolean;
}

/**
 * The rows of a device are read once, and those of each block are added when it is shipped. Only the
 * owner of a device may use it. What another node ships of it, such as after it was away, is
 * noticed by `changes`, and at the latest after `msMax`.
 */
export function createKeptRows(parts: KeptRowsParts): KeptRows {
  const { journal, now, changes } = parts;
  const limits = { ...keptLimits, ...parts.limits };
  // A Map iterates in the order of insertion: the first device is the least recently used.
  const kept = new Map<string, Kept>();
  const loading = new Map<string, Loading>();
  const asked = createBoundedMap<string, number>(limits.askedMax);
  const loads = new Set<Promise<void>>();
  let changesSeen = changes();
  let rows = 0;
  let characters = 0;

  function remove(deviceId: string): void {
    const known = kept.get(deviceId);
    if (known === undefined) return;
    rows -= known.places.length;
    characters -= known.characters;
    kept.delete(deviceId);
  }

  function clear(): void {
    kept.clear();
    [rows, characters] = [0, 0];
    for (const each of loading.values()) each.isOutdated = true;
  }

  function clearAfterChanges(): void {
    const seen = changes();
    if (seen !== changesSeen) clear();
    changesSeen = seen;
  }

  function keep(deviceId: string, added: Kept): void {
    remove(deviceId);
    kept.set(deviceId, added);
    rows += added.places.length;
    characters += added.characters;
    makeRoom();
  }

  function makeRoom(): void {
    for (const deviceId of kept.keys()) {
      if (rows <= limits.rowsMax && characters <= limits.charactersMax) return;
      remove(deviceId);
    }
  }

  async function load(deviceId: string, wanted: WantedRows): Promise<void> {
    const own: Loading = { rows: [], isOutdated: false };
    loading.set(deviceId, own);
    const loadedAt = now();
    const { from, rows: rowsMin } = wanted;
    const newest = from === undefined ? Math.max(limits.newestRows, rowsMin) : Infinity;
    const rowsMax = Math.min(limits.rowsOfDeviceMax, newest);
    const charactersMax = limits.charactersOfDeviceMax;
    try {
      const found = await parts.load({ deviceId, from, rowsMax, charactersMax });
      clearAfterChanges();
      if (own.isOutdated) return;
      const loaded: Kept = {
        ...{ loadedAt, wanted, isSorted: true },
        isFull: found.isCut && found.places.length < newest,
        ...{ places: found.places, characters: found.characters },
        from: from ?? Number.NEGATIVE_INFINITY,
      };
      if (found.isCut) beginBehindFirst(loaded);
      keep(deviceId, loaded);
      for (const row of own.rows) addKept(deviceId, row);
    } finally {
      loading.delete(deviceId);
    }
  }

  function addKept(deviceId: string, row: OpenRow): void {
    const to = kept.get(deviceId);
    if (to === undefined || row.timestamp < to.from) return;
    const place = placeOf(row, journal);
    const last = to.places.at(-1);
    if (last !== undefined && compareRows(place, last) < 0) to.isSorted = false;
    to.places.push(place);
    const added = JSON.stringify(dataOfRow(row)).length;
    to.characters += added;
    rows += 1;
    characters += added;
    const isFull =
      to.places.length > limits.rowsOfDeviceMax || to.characters > limits.charactersOfDeviceMax;
    if (isFull) halve(deviceId, to);
  }

  /** Keeps the newer half, so that a device with many rows is not loaded again and again. */
  function halve(deviceId: string, of: Kept): void {
    remove(deviceId);
    const places = sorted(of).slice(Math.ceil(of.places.length / 2));
    const half: Kept = { ...of, places, characters: of.characters / 2, isFull: true };
    beginBehindFirst(half);
    keep(deviceId, half);
  }

  function begin(deviceId: string, wanted: WantedRows): void {
    if (loading.has(deviceId) || loads.size >= limits.loadsMax) return;
    // The reads of the device have the same trouble, and say so.
    const loaded = load(deviceId, wanted).catch(() => undefined);
    loads.add(loaded);
    void loaded.then(() => loads.delete(loaded));
  }

  return {
    of(deviceId) {
      clearAfterChanges();
      const known = kept.get(deviceId);
      if (known === undefined) return undefined;
      const age = now() - known.loadedAt;
      if (age > limits.msMax) {
        remove(deviceId);
        asked.set(deviceId, now());
        return undefined;
      }
      if (age > limits.refreshMs) begin(deviceId, known.wanted);
      kept.delete(deviceId);
      kept.set(deviceId, known);
      return { from: known.from, places: sorted(known) };
    },
    missed(deviceId, wanted) {
      const known = kept.get(deviceId);
      if (known?.isFull === true) return;
      const at = asked.get(deviceId);
      asked.set(deviceId, now());
      if (known === undefined && (at === undefined || now() - at > limits.askedMsMax)) return;
      begin(deviceId, known === undefined ? wanted : union(wanted, known.wanted));
    },
    shipped(block) {
      if (kept.size === 0 && loading.size === 0) return;
      for (const row of block.rows) {
        const { deviceId } = row;
        loading.get(deviceId)?.rows.push(row);
        addKept(deviceId, row);
      }
      makeRoom();
    },
    drop(deviceId) {
      remove(deviceId);
      const own = loading.get(deviceId);
      if (own !== undefined) own.isOutdated = true;
    },
    clear,
    async settled() {
      while (loads.size > 0) await Promise.all(loads);
    },
  };
}

/** Of the instant of the first row, others were left out. */
function beginBehindFirst(of: Kept): void {
  const [first] = of.places;
  if (first === undefined) return;
  of.from = first.ts + 1;
  of.places = of.places.filter(({ ts }) => ts >= of.from);
}

function sorted(of: Kept): OpenPlace[] {
  if (!of.isSorted) of.places.sort(compareRows);
  of.isSorted = true;
  return of.places;
}

/** Rows from a time on and so many of the newest ones are all that can be kept. */
function union(a: WantedRows, b: WantedRows): WantedRows {
  const from = beginOf(a) < beginOf(b) ? a.from : b.from;
  const areAlike = (a.from === undefined) === (b.from === undefined);
  return { from, rows: areAlike ? Math.max(a.rows, b.rows) : Number.POSITIVE_INFINITY };
}

const beginOf = ({ from = Number.NEGATIVE_INFINITY }: WantedRows): number => from;
