// Walking the samples of a device through all its chunks at once, newest or oldest first, opening each chunk only when its time comes.
import type { EpochMs } from '../../../../model/instant.ts';
import type { Sample } from '../../../../model/sample.ts';
import type { SampleRange, SampleRun } from '../../sample-store.ts';
import { isNumeric } from '../chunks/chunk-schema.ts';
import {
  type Column,
  dataAt,
  metaAt,
  type Origin,
  originAt,
  placeOf,
  rowAt,
  type RowGroup,
  type Rows,
  type SortedRows,
} from '../rows/rows.ts';
import { guarded } from '../rows/removals.ts';
import type { TopicGroup } from '../memtables/shape-tables.ts';
import type { Device, Series } from '../rows/series.ts';

type Direction = 'newest' | 'oldest';

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
  /** Whether all of its columns were read as runs. */
  isRead: boolean;
  /** The places still to come, half-open. */
  low: number;
  high: number;
}

export type SampleWalk = RowWalk<Sample>;

/** See `walkRows`. */
export function walkSamples(
  range: SampleRange,
  direction: Direction,
  reader: RowReader,
): SampleWalk {
  return new RowWalk({ ...range, direction, reader, build: (sample) => sample });
}

export interface RowsToWalk<Built> extends SampleRange {
  readonly direction: Direction;
  readonly reader: RowReader;
  /** Called for each row. */
  readonly build: (sample: Sample, origin: Origin) => Built;
}

/** The rows of a range one by one; `skip` leaves some out without building them. */
export class RowWalk<Built> {
  readonly #reader: RowsToWalk<Built>['reader'];
  readonly #build: RowsToWalk<Built>['build'];
  readonly #range: { deviceId: string; topic?: string; from?: EpochMs; to?: EpochMs };
  readonly #from: number;
  readonly #to: number;
  readonly #newestFirst: boolean;
  readonly #waiting: TopicGroup[];
  #sources: Source[] = [];

  /**
   * Newest first, those of one instant in reverse order of storing; or oldest first, the exact
   * reverse.
   */
  constructor({ direction, reader, build, ...range }: RowsToWalk<Built>) {
    this.#reader = reader;
    this.#build = build;
    this.#range = range;
    this.#from = range.from ?? Number.NEGATIVE_INFINITY;
    this.#to = range.to ?? Number.POSITIVE_INFINITY;
    this.#newestFirst = direction === 'newest';
    this.#waiting = reader.groupsBetween(range.topic, this.#from, this.#to);
    // Sorted so that the next to come is the last.
    this.#waiting.sort((a, b) =>
      this.#newestFirst ? a.group.newest - b.group.newest : b.group.oldest - a.group.oldest,
    );
  }

  next(): Built | undefined {
    for (;;) {
      const source = this.#nextSource();
      if (source === undefined) return undefined;
      const place = this.#newestFirst ? source.high - 1 : source.low;
      const sample = guarded(source.group, () => this.#builtAt(source, place));
      if (this.#newestFirst) source.high--;
      else source.low++;
      if (sample !== undefined) return sample;
      this.#reader.left(source.topic, source.group);
      source.low = source.high;
    }
  }

  /**
   * The next rows that follow each other in one group, of a walk that is oldest first: at least one,
   * and no more than have `cellsMax` values and times. Their columns can be read without meeting damage.
   */
  nextRun(cellsMax: number): SampleRun | undefined {
    return this.nextRunOf(readColumns, ({ columns }) =>
      Math.floor(cellsMax / (columns.length + 1)),
    );
  }

  /**
   * The same with other columns and bounds: `decode` reads what the caller wants of the rows of a
   * group, once; `rowsMax` is the most rows of one run.
   */
  nextRunOf(decode: (rows: Rows) => void, rowsMax: (rows: Rows) => number): SampleRun | undefined {
    for (;;) {
      const source = this.#nextSource();
      if (source === undefined) return undefined;
      const { topic, group, sorted } = source;
      source.isRead ||= guarded(group, () => readBy(decode, sorted.rows)) !== undefined;
      if (source.isRead) {
        const from = source.low;
        const to = from + Math.max(1, rowsMax(sorted.rows));
        source.low = this.#endOfRun(source, Math.min(source.high, to));
        return { topic, sorted, from, to: source.low };
      }
      this.#reader.left(topic, group);
      source.low = source.high;
    }
  }

  skip(count: number): void {
    for (let left = count; left > 0; ) {
      const skipped = this.#skipGroup(left);
      left -= skipped;
      if (skipped > 0) continue;
      const source = this.#nextSource();
      if (source === undefined) return;
      // The last source open and nothing that may come between: its places go at once.
      const alone =
        this.#sources.every((s) => s === source || s.low === s.high) && this.#waiting.length === 0;
      const step = alone ? Math.min(left, source.high - source.low) : 1;
      if (this.#newestFirst) source.high -= step;
      else source.low += step;
      left -= step;
    }
  }

  #open({ topic, group }: TopicGroup): void {
    const sorted = group.sorted();
    if (sorted === undefined) {
      this.#reader.left(topic, group);
      return;
    }
    const low = placeOf(sorted, Math.max(this.#from, group.visibleFrom));
    const high = placeOf(sorted, this.#to);
    if (low < high) this.#sources.push({ topic, group, sorted, isRead: false, low, high });
  }

  #comesBefore(a: Source, b: Source): boolean {
    const placeA = this.#newestFirst ? a.high - 1 : a.low;
    const placeB = this.#newestFirst ? b.high - 1 : b.low;
    const byTime = a.sorted.timestamps[placeA]! - b.sorted.timestamps[placeB]!;
    const difference = byTime === 0 ? a.sorted.orders[placeA]! - b.sorted.orders[placeB]! : byTime;
    return this.#newestFirst ? difference > 0 : difference < 0;
  }

  /** The place where rows of another group come next, at most `end`; the row at `low` comes first. */
  #endOfRun(source: Source, end: number): number {
    const waiting = this.#waiting.at(-1)?.group.oldest ?? Number.POSITIVE_INFINITY;
    let to = firstPlace(
      source.low + 1,
      end,
      (place) => source.sorted.timestamps[place]! >= waiting,
    );
    for (const other of this.#sources) {
      if (other === source || other.low === other.high) continue;
      to = firstPlace(source.low + 1, to, (place) => isBehind(source, place, other));
    }
    return to;
  }

  /** Whether rows of the waiting group could come before the next row of the source. */
  #mayPrecede({ group }: TopicGroup, source: Source): boolean {
    if (this.#newestFirst) return group.newest >= source.sorted.timestamps[source.high - 1]!;
    return group.oldest <= source.sorted.timestamps[source.low]!;
  }

  #nextSource(): Source | undefined {
    for (;;) {
      let best: Source | undefined;
      for (const source of this.#sources)
        if (source.low < source.high && (best === undefined || this.#comesBefore(source, best)))
          best = source;
      const candidate = this.#waiting.at(-1);
      if (candidate === undefined || (best !== undefined && !this.#mayPrecede(candidate, best)))
        return best;
      if (best === undefined) this.#sources = [];
      this.#waiting.pop();
      this.#open(candidate);
    }
  }

  #builtAt({ topic, sorted }: Source, place: number): Built {
    const row = rowAt(sorted, place);
    const meta = metaAt(sorted.rows, row);
    const data = dataAt(sorted.rows, row);
    const { deviceId } = this.#range;
    const sample = { deviceId, topic, timestamp: sorted.timestamps[place]!, data };
    return this.#build(
      meta === undefined ? sample : { ...sample, meta },
      originAt(sorted.rows, row),
    );
  }

  /**
   * Skips the whole next group unread when nothing else is at its times; says how many rows that
   * were.
   */
  #skipGroup(countMax: number): number {
    const next = this.#waiting.at(-1);
    if (next === undefined || this.#sources.some((s) => s.low < s.high)) return 0;
    const { group } = next;
    const after = this.#waiting.at(-2)?.group;
    const isApart =
      after === undefined ||
      (this.#newestFirst ? after.newest < group.oldest : after.oldest > group.newest);
    if (!isApart || group.length > countMax || group.newest >= this.#to) return 0;
    if (!isWhollyVisible(group, this.#from)) return 0;
    this.#waiting.pop();
    return group.length;
  }
}

/** The first place for which the condition holds, and for all that follow; `end` when there is none. */
function firstPlace(from: number, end: number, holds: (place: number) => boolean): number {
  // Where topics alternate it is the first.
  let low = from;
  let step = 1;
  while (low < end && !holds(Math.min(low + step, end) - 1)) {
    low = Math.min(low + step, end);
    step *= 2;
  }
  let high = Math.min(low + step, end);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Whether the row at the place comes after the next row of the other source, oldest first. */
function isBehind({ sorted }: Source, place: number, other: Source): boolean {
  const byTime = sorted.timestamps[place]! - other.sorted.timestamps[other.low]!;
  return byTime === 0 ? sorted.orders[place]! > other.sorted.orders[other.low]! : byTime > 0;
}

function readBy(decode: (rows: Rows) => void, rows: Rows): true {
  decode(rows);
  return true;
}

/** Decodes the values of all rows, as far as they are kept. */
export function readColumns({ columns, shapeIds }: Rows): void {
  void shapeIds;
  for (const column of columns) readColumn(column);
}

/** Decodes the values of a column. */
export function readColumn(column: Column): void {
  if (isNumeric(column.kind)) void column.numbers;
  else {
    void column.ids;
    void column.texts;
  }
}

/** Whether every row can be read and comes from a time on. */
function isWhollyVisible(group: RowGroup, from: EpochMs): boolean {
  if (group.sealed?.damaged === true || group.oldest < from) return false;
  return guarded(group, () => group.oldest >= group.visibleFrom) === true;
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
