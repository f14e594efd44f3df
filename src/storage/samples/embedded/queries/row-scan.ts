// Walking the samples of a device through all its chunks at once, newest or oldest first, opening each chunk only when its time comes.
import type { EpochMs } from '../../../../model/instant.ts';
import type { Sample } from '../../../../model/sample.ts';
import type { SampleRange } from '../../sample-store.ts';
import type { Origin } from '../rows/origin.ts';
import {
  dataAt,
  metaAt,
  originAt,
  placeOf,
  type RowGroup,
  rowAt,
  type SortedRows,
} from '../rows/rows.ts';
import type { TopicGroup } from '../memtables/shape-tables.ts';
import type { Device, Series } from '../rows/series.ts';

export type Direction = 'newest' | 'oldest';

export interface RowReader {
  /** Of one topic or of all. */
  readonly groupsBetween: (topic: string | undefined, from: EpochMs, to: EpochMs) => TopicGroup[];
  /**
   * Called for a group of the device's topic that cannot be read, when its turn comes; maybe
   * several times.
   */
  readonly left: (topic: string, group: RowGroup) => void;
}

interface Source extends TopicGroup {
  readonly sorted: SortedRows;
  /** The places still to come, half-open. */
  low: number;
  high: number;
}

/** The rows of a range one by one; `skip` leaves some out without building them. */
export interface RowWalk<Built> {
  readonly next: () => Built | undefined;
  readonly skip: (count: number) => void;
}

export type SampleWalk = RowWalk<Sample>;

/** See `walkRows`. */
export function walkSamples(
  range: SampleRange,
  direction: Direction,
  reader: RowReader,
): SampleWalk {
  return walkRows({ ...range, direction, reader, build: (sample) => sample });
}

export interface RowsToWalk<Built> extends SampleRange {
  readonly direction: Direction;
  readonly reader: RowReader;
  /** Called for each row. */
  readonly build: (sample: Sample, origin: Origin) => Built;
}

/**
 * Newest first, those of one instant in reverse order of storing; or oldest first, the exact
 * reverse.
 */
export function walkRows<Built>({
  direction,
  reader,
  build,
  ...range
}: RowsToWalk<Built>): RowWalk<Built> {
  const from = range.from ?? Number.NEGATIVE_INFINITY;
  const to = range.to ?? Number.POSITIVE_INFINITY;
  const newestFirst = direction === 'newest';
  const waiting = reader.groupsBetween(range.topic, from, to);
  // Sorted so that the next to come is the last.
  waiting.sort((a, b) =>
    newestFirst ? a.group.newest - b.group.newest : b.group.oldest - a.group.oldest,
  );
  let sources: Source[] = [];

  function open({ topic, group }: TopicGroup): void {
    const sorted = group.sorted();
    if (sorted === undefined) {
      reader.left(topic, group);
      return;
    }
    const low = placeOf(sorted, Math.max(from, group.visibleFrom));
    const high = placeOf(sorted, to);
    if (low < high) sources.push({ topic, group, sorted, low, high });
  }

  function comesBefore(a: Source, b: Source): boolean {
    const placeA = newestFirst ? a.high - 1 : a.low;
    const placeB = newestFirst ? b.high - 1 : b.low;
    const byTime = a.sorted.timestamps[placeA]! - b.sorted.timestamps[placeB]!;
    const difference = byTime === 0 ? a.sorted.orders[placeA]! - b.sorted.orders[placeB]! : byTime;
    return newestFirst ? difference > 0 : difference < 0;
  }

  /** Whether rows of the waiting group could come before the next row of the source. */
  function mayPrecede({ group }: TopicGroup, source: Source): boolean {
    if (newestFirst) return group.newest >= source.sorted.timestamps[source.high - 1]!;
    return group.oldest <= source.sorted.timestamps[source.low]!;
  }

  function nextSource(): Source | undefined {
    for (;;) {
      let best: Source | undefined;
      for (const source of sources)
        if (source.low < source.high && (best === undefined || comesBefore(source, best)))
          best = source;
      const candidate = waiting.at(-1);
      if (candidate === undefined || (best !== undefined && !mayPrecede(candidate, best)))
        return best;
      if (best === undefined) sources = [];
      waiting.pop();
      open(candidate);
    }
  }

  function builtAt({ topic, sorted }: Source, place: number): Built {
    const row = rowAt(sorted, place);
    const meta = metaAt(sorted.rows, row);
    const data = dataAt(sorted.rows, row);
    const { deviceId } = range;
    const sample = { deviceId, topic, timestamp: sorted.timestamps[place]!, data };
    return build(meta === undefined ? sample : { ...sample, meta }, originAt(sorted.rows, row));
  }

  /**
   * Skips the whole next group unread when nothing else is at its times; says how many rows that
   * were.
   */
  function skipGroup(countMax: number): number {
    const next = waiting.at(-1);
    if (next === undefined || sources.some((s) => s.low < s.high)) return 0;
    const { group } = next;
    const after = waiting.at(-2)?.group;
    const isApart =
      after === undefined ||
      (newestFirst ? after.newest < group.oldest : after.oldest > group.newest);
    if (!isApart || group.length > countMax || group.newest >= to) return 0;
    if (!isWhollyVisible(group, from)) return 0;
    waiting.pop();
    return group.length;
  }

  return {
    next: () => {
      for (;;) {
        const source = nextSource();
        if (source === undefined) return undefined;
        const place = newestFirst ? source.high - 1 : source.low;
        const sample = guarded(source.group, () => builtAt(source, place));
        if (newestFirst) source.high--;
        else source.low++;
        if (sample !== undefined) return sample;
        reader.left(source.topic, source.group);
        source.low = source.high;
      }
    },
    skip: (count) => {
      for (let left = count; left > 0; ) {
        const skipped = skipGroup(left);
        left -= skipped;
        if (skipped > 0) continue;
        const source = nextSource();
        if (source === undefined) return;
        // The last source open and nothing that may come between: its places go at once.
        const alone =
          sources.every((s) => s === source || s.low === s.high) && waiting.length === 0;
        const step = alone ? Math.min(left, source.high - source.low) : 1;
        if (newestFirst) source.high -= step;
        else source.low += step;
        left -= step;
      }
    },
  };
}

/** Whether every row can be read and comes from a time on. */
function isWhollyVisible(group: RowGroup, from: EpochMs): boolean {
  if (group.sealed?.damaged === true || group.oldest < from) return false;
  return guarded(group, () => group.oldest >= group.visibleFrom) === true;
}

/** What the reading of the group gives; undefined when it meets damage. */
function guarded<T>({ sealed }: RowGroup, read: () => T): T | undefined {
  return sealed === undefined ? read() : sealed.guarded(read);
}

export function matchingSeries(
  device: Device | undefined,
  topic: string | undefined,
): { topic: string; series: Series }[] {
  if (device === undefined) return [];
  if (topic === undefined)
    return [...device.topics].map(([name, series]) => ({ topic: name, series }));
  const series = device.topics.get(topic);
  return series === undefined ? [] : [{ topic, series }];
}
