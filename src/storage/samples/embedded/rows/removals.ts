// Removals: ranges of rows that replacements removed and files may still have, and the rows that are left.
import type { EpochMs } from '../../../../model/instant.ts';
import { isInRange, type RemovedRange } from '../../../../model/sample-changes.ts';
import { missing } from '../../../../structures/missing.ts';
import { placeOf, type RowGroup, rowAt, type SortedRows } from './open-rows.ts';

/** Rows of the range whose place among the rows of the device is below `order` count no more. */
export interface Removal extends RemovedRange {
  readonly order: number;
}

/** As the manifest has them. */
export type PendingRemovals = Readonly<Record<string, readonly Removal[]>>;

/** By device. Reads filter rows by these until they are out of memory and files. */
export class Removals {
  readonly #byDevice = new Map<string, readonly Removal[]>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get deviceIds(): readonly string[] {
    return [...this.#byDevice.keys()];
  }

  /** Undefined for a device without any, which most are. */
  of(deviceId: string): readonly Removal[] | undefined {
    return this.#byDevice.size === 0 ? undefined : this.#byDevice.get(deviceId);
  }

  add(deviceId: string, added: readonly Removal[]): void {
    const kept = (this.of(deviceId) ?? []).filter((old) => !added.some((by) => covers(by, old)));
    this.#set(deviceId, [...kept, ...added]);
  }

  /** No row of these is left anywhere. */
  settle(deviceId: string, done: readonly Removal[]): void {
    const gone = new Set(done);
    this.#set(
      deviceId,
      (this.of(deviceId) ?? []).filter((removal) => !gone.has(removal)),
    );
  }

  /** The device was dropped. */
  forget(deviceId: string): void {
    this.#set(deviceId, []);
  }

  /** All but these. */
  pending(without: ReadonlyMap<string, readonly Removal[]> = new Map()): PendingRemovals {
    const left = [...this.#byDevice].map(([deviceId, removals]) => {
      const done = new Set(without.get(deviceId));
      return [deviceId, removals.filter((removal) => !done.has(removal))] as const;
    });
    return Object.fromEntries(left.filter(([, removals]) => removals.length > 0));
  }

  #set(deviceId: string, removals: readonly Removal[]): void {
    this.#count += removals.length - (this.of(deviceId)?.length ?? 0);
    if (removals.length === 0) this.#byDevice.delete(deviceId);
    else this.#byDevice.set(deviceId, removals);
  }
}

function covers(by: Removal, old: Removal): boolean {
  const hasTopics = by.topics === null || old.topics?.every((topic) => by.topics?.includes(topic));
  return hasTopics === true && by.order >= old.order && by.from <= old.from && by.to >= old.to;
}

export function isRemoved(
  removals: readonly Removal[],
  topic: string,
  timestamp: EpochMs,
  order: number,
): boolean {
  return removals.some((removal) => order < removal.order && isInRange(removal, topic, timestamp));
}

/** Removals that rows of the topic between the times may be in; times are inclusive. */
export function removalsWithin(
  removals: readonly Removal[],
  topic: string,
  oldest: EpochMs,
  newest: EpochMs,
): readonly Removal[] {
  return removals.filter(
    ({ topics, from, to }) => from <= newest && oldest < to && topics?.includes(topic) !== false,
  );
}

/**
 * The group without removed rows: the same object when none of its rows are, undefined when all are.
 * A group that cannot be read stays as it is.
 */
export function withoutRemoved(
  group: RowGroup,
  topic: string,
  removals: readonly Removal[],
): RowGroup | undefined {
  const within = removalsWithin(removals, topic, group.oldest, group.newest);
  if (within.length === 0) return group;
  const sorted = group.sorted();
  if (sorted === undefined) return group;
  const places = guarded(group, () => placesLeft(sorted, within));
  if (places === undefined || places.length === sorted.length) return group;
  return places.length === 0 ? undefined : remaining(group, sorted, places);
}

/** What the reading of the group gives; undefined when it meets damage. */
export function guarded<T>({ sealed }: RowGroup, read: () => T): T | undefined {
  return sealed === undefined ? read() : sealed.guarded(read);
}

function placesLeft(sorted: SortedRows, within: readonly Removal[]): Uint32Array {
  const { timestamps, orders, length } = sorted;
  const gone = new Uint8Array(length);
  let count = 0;
  for (const { from, to, order } of within)
    for (let place = placeOf(sorted, from); place < length && timestamps[place]! < to; place++)
      if (orders[place]! < order && gone[place] === 0) {
        gone[place] = 1;
        count++;
      }
  const places = new Uint32Array(length - count);
  let next = 0;
  for (let place = 0; place < length; place++) if (gone[place] === 0) places[next++] = place;
  return places;
}

function remaining(group: RowGroup, sorted: SortedRows, places: Uint32Array): RowGroup {
  const { length } = places;
  const left = {
    rows: sorted.rows,
    length,
    timestamps: Float64Array.from(places, (place) => sorted.timestamps[place]!),
    orders: Float64Array.from(places, (place) => sorted.orders[place]!),
    permutation: Uint32Array.from(places, (place) => rowAt(sorted, place)),
  };
  return {
    ...(group.sealed !== undefined && { sealed: group.sealed }),
    oldest: left.timestamps[0] ?? missing('first row'),
    newest: left.timestamps[length - 1] ?? missing('last row'),
    length,
    // Of a run it is read, and may meet damage.
    get visibleFrom() {
      return group.visibleFrom;
    },
    sorted: () => left,
  };
}
