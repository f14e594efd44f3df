// Walking the samples of a device through all its chunks at once, newest or oldest first, opening each chunk only when its time comes; so are newest, latest and ordered values.
import type { EpochMs } from '../../../../model/instant.ts';
import type { Sample } from '../../../../model/sample.ts';
import type { LatestRequest, SampleRange, SampleRun, ValuesRequest } from '../../sample-store.ts';
import { isNumeric } from '../chunks/chunk.ts';
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
} from '../rows/open-rows.ts';
import { guarded } from '../rows/removals.ts';
import type { TopicGroup } from '../memtables/shape-tables.ts';
import { type Device, type Series, unreadableSamples } from '../rows/series.ts';
import type { Json, JsonObject } from '../../../../model/json.ts';
import type { Slices } from './bucket-query.ts';
import type { ValueBatch } from '../../../../query/summaries/ordered-values.ts';
import { refuseUnreadable } from '../../reported-reads.ts';
import {
  batchRowsMax,
  columnsOfShapes,
  hasValue,
  type KeyColumns,
  ValueBatches,
} from '../../value-batches.ts';
import type { LostSegments } from '../segments/segment-set.ts';

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
  rowsMax?: number,
): SampleWalk {
  const build = (sample: Sample) => sample;
  return new RowWalk({ ...range, direction, reader, build, ...(rowsMax && { rowsMax }) });
}

export interface RowsToWalk<Built> extends SampleRange {
  readonly direction: Direction;
  readonly reader: RowReader;
  /** Called for each row. */
  readonly build: (sample: Sample, origin: Origin) => Built;
  /** Of a walk that is newest first: no more rows are taken or skipped; all may be when absent. */
  readonly rowsMax?: number;
}

/** The rows of a range one by one; `skip` leaves some out without building them. */
export class RowWalk<Built> {
  readonly #reader: RowsToWalk<Built>['reader'];
  readonly #build: RowsToWalk<Built>['build'];
  readonly #range: { deviceId: string; topic?: string; from?: EpochMs; to?: EpochMs };
  readonly #from: number;
  readonly #to: number;
  readonly #newestFirst: boolean;
  readonly #rowsMax: number | undefined;
  readonly #waiting: TopicGroup[];
  #sources: Source[] = [];

  /**
   * Newest first, those of one instant in reverse order of storing; or oldest first, the exact
   * reverse.
   */
  constructor({ direction, reader, build, rowsMax, ...range }: RowsToWalk<Built>) {
    this.#reader = reader;
    this.#build = build;
    this.#range = range;
    this.#from = range.from ?? Number.NEGATIVE_INFINITY;
    this.#to = range.to ?? Number.POSITIVE_INFINITY;
    this.#newestFirst = direction === 'newest';
    this.#rowsMax = this.#newestFirst ? rowsMax : undefined;
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
    const sorted = this.#lastOf(group) ?? group.sorted();
    if (sorted === undefined) {
      this.#reader.left(topic, group);
      return;
    }
    const low = placeOf(sorted, Math.max(this.#from, group.visibleFrom));
    const high = placeOf(sorted, this.#to);
    if (low < high) this.#sources.push({ topic, group, sorted, isRead: false, low, high });
  }

  /** What is enough of a group whose last rows are all in the range. */
  #lastOf(group: RowGroup): SortedRows | undefined {
    if (this.#rowsMax === undefined || group.newest >= this.#to) return undefined;
    return group.last?.(this.#rowsMax);
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
function readColumns({ columns, shapeIds }: Rows): void {
  void shapeIds;
  for (const column of columns) readColumn(column);
}

/** Decodes the values of a column. */
function readColumn(column: Column): void {
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

// Newest samples: the newest sample of each topic of a device, kept until a row of the device comes.

/** Topics of a device that is kept; others have their rows read. */
export const keptTopicsMax = 16;
/** What an item of a list, an object or a number takes in memory, about. */
const itemBytes = 24;
const deviceBytes = 200;

export interface NewestSample {
  readonly sample: Sample;
  readonly origin: Origin;
}

export class NewestSamples {
  readonly #orderOf: (deviceId: string) => number;
  readonly #bytesMax: number;
  readonly #kept = new Map<
    string,
    {
      /** See `NewestSamplesParts.orderOf`. */
      readonly order: number;
      /** Newest first, one for each topic of the device. */
      readonly newest: readonly NewestSample[];
      readonly bytes: number;
    }
  >();
  #bytes = 0;

  constructor(
    /** Rises with every row of the device that becomes visible. */
    orderOf: (deviceId: string) => number,
    bytesMax: number,
  ) {
    this.#orderOf = orderOf;
    this.#bytesMax = bytesMax;
  }

  /** What is kept takes this in memory, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * The newest sample of each topic, newest first; undefined when they must be read. Their data must
   * not be changed, and cannot be.
   */
  of(deviceId: string): readonly NewestSample[] | undefined {
    const kept = this.#kept.get(deviceId);
    if (kept === undefined) return undefined;
    if (kept.order === this.#orderOf(deviceId) && kept.newest.every(isVisible)) return kept.newest;
    this.forget(deviceId);
    return undefined;
  }

  /** Keeps what was read of all topics of the device, in the turn in which it was read. */
  keep(deviceId: string, newest: readonly NewestSample[]): void {
    this.forget(deviceId);
    const bytes = newest.reduce((sum, { sample }) => sum + frozenBytes(sample), deviceBytes);
    if (bytes > this.#bytesMax / 2) return;
    this.#kept.set(deviceId, { order: this.#orderOf(deviceId), newest, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.forget(oldest);
    }
  }

  /** Call when rows of the device were dropped. */
  forget(deviceId: string): void {
    const kept = this.#kept.get(deviceId);
    if (kept === undefined) return;
    this.#kept.delete(deviceId);
    this.#bytes -= kept.bytes;
  }

  /** Call when rows may be visible that were not, or the other way around. */
  clear(): void {
    this.#kept.clear();
    this.#bytes = 0;
  }
}

function isVisible({ sample, origin }: NewestSample): boolean {
  return sample.timestamp >= origin.keepFrom;
}

/** The newest sample when every topic has one that is not dated later than `until`. */
function noneLater(newest: readonly NewestSample[], until: EpochMs): boolean {
  return newest.every(({ sample }) => sample.timestamp <= until);
}

/** Freezes the data, which several readers get; returns about how many bytes it takes. */
function frozenBytes({ topic, data, meta }: Sample): number {
  return topic.length + frozen(data) + (meta === undefined ? 0 : frozen(meta));
}

function frozen(value: Json | JsonObject): number {
  if (typeof value === 'string') return itemBytes + value.length;
  if (typeof value !== 'object' || value === null) return itemBytes;
  Object.freeze(value);
  let bytes = itemBytes;
  for (const inner of Object.values(value)) bytes += itemBytes + frozen(inner);
  return bytes;
}

// Latest samples: the newest sample of each topic of many devices, read in one pass with pauses between devices.

/** The longest turn of the main thread, in milliseconds of `Slices.clock`. */
const turnMsMax = 5;

/** One list per device, in the order of `deviceIds`, newest first; see `SampleStore.latest`. */
export async function latestSamples(
  { deviceIds, topics, until, from }: LatestRequest,
  {
    newestOf,
    topicsOf,
    readerOf,
    slices,
  }: {
    /** The newest sample of each topic, newest first; undefined when they must be looked for. */
    readonly newestOf: (deviceId: string) => readonly NewestSample[] | undefined;
    /** The topics of one device that have samples, and when the newest was. */
    readonly topicsOf: (
      deviceId: string,
    ) => readonly { readonly topic: string; readonly newest: EpochMs }[];
    /** The reader of one device, which reports what it omits. */
    readonly readerOf: (deviceId: string) => RowReader;
    readonly slices: Slices;
  },
): Promise<Sample[][]> {
  const wanted = topics && new Set(topics);
  const isOld = ({ timestamp }: Sample) => from !== undefined && timestamp < from;
  const found: Sample[][] = [];
  let turnEnd = slices.clock() + turnMsMax;
  const rest = async () => {
    if (slices.clock() < turnEnd) return;
    await slices.pause();
    turnEnd = slices.clock() + turnMsMax;
  };
  for (const deviceId of deviceIds) {
    await rest();
    const known = newestOf(deviceId);
    if (known !== undefined && noneLater(known, until)) {
      const all = known.map(({ sample }) => sample).filter((sample) => !isOld(sample));
      found.push(wanted === undefined ? all : all.filter(({ topic }) => wanted.has(topic)));
      continue;
    }
    const ofDevice = topicsOf(deviceId).filter(({ topic }) => wanted?.has(topic) !== false);
    const reader = readerOf(deviceId);
    const newest: Sample[] = [];
    for (const { topic, newest: at } of ofDevice) {
      const newestOf = (bounds: { readonly from?: EpochMs; readonly to?: EpochMs }) =>
        walkSamples({ deviceId, topic, ...bounds }, 'newest', reader, 1).next();
      let sample: Sample | undefined;
      if (from !== undefined) {
        if (at < from) continue;
        await rest();
        sample = newestOf({ from, to: until + 1 });
      } else {
        // What is newest may be unreadable, or in the future; then the newest other one is looked for.
        sample = at > until ? newestOf({ to: until + 1 }) : newestOf({ from: at });
        sample ??= newestOf({});
      }
      if (sample !== undefined) newest.push(sample);
    }
    found.push(newest.sort(newestFirst));
  }
  return found;
}

/** For sorting samples of several topics. */
export function newestFirst(a: Sample, b: Sample): number {
  return b.timestamp - a.timestamp || (a.topic < b.topic ? -1 : 1);
}

// Ordered values of a device: chunks that do not overlap as they are, others merged, with the last values before and the first behind.

/** Rows are passed on for so long before others get their turn. */
const sliceMs = 8;

/** See the port's `values`. */
export async function* orderedValues(
  request: ValuesRequest,
  {
    reader,
    lost,
    slices,
  }: {
    readonly reader: RowReader;
    readonly lost: LostSegments;
    readonly slices: Slices;
  },
): AsyncGenerator<ValueBatch> {
  const { deviceId, topic, keys, from, to } = request;
  const range: SampleRange = { deviceId, topic, from, to };
  const decode = (rows: Rows) => readKeys(rows, keys);
  // Taken in one turn: rows that are sealed later would be missed or found twice.
  const walk = new RowWalk({ ...range, direction: 'oldest', reader, build: (sample) => sample });
  const earlier = { ...request, first: -Infinity, end: from, sign: 1 } as const;
  const later = { ...request, first: to, end: Infinity, sign: -1 } as const;
  const groupsOf = (outer: Outer, isWanted: boolean): TopicGroup[] => {
    if (!isWanted) return [];
    return reader.groupsBetween(topic, outer.first, outer.end);
  };
  const [groupsBefore, groupsAfter] = [
    groupsOf(earlier, request.before),
    groupsOf(later, request.after),
  ];
  const before = await outermost(groupsBefore, earlier, slices);
  const after = await outermost(groupsAfter, later, slices);
  // Values that are lost may have been nearer.
  const reported = { ...range, unreadable: refuseUnreadable };
  lost.report(reported);
  if (request.before) lost.report({ ...reported, from: before[0]?.at ?? -Infinity, to: from });
  if (request.after) lost.report({ ...reported, from: to, to: after.at(-1)?.at ?? Infinity });
  const batches = new ValueBatches(keys);
  for (const { sorted, place } of before)
    yield* batches.add({ sorted, from: place, to: place + 1 });
  let sliceEnds = slices.clock() + sliceMs;
  const rowsMax = () => batchRowsMax;
  for (let run = walk.nextRunOf(decode, rowsMax); run; run = walk.nextRunOf(decode, rowsMax)) {
    yield* batches.add(run);
    if (slices.clock() < sliceEnds) continue;
    // What the rows of memory give may change meanwhile.
    yield* batches.rest();
    await slices.pause();
    sliceEnds = slices.clock() + sliceMs;
  }
  for (const { sorted, place } of after) yield* batches.add({ sorted, from: place, to: place + 1 });
  yield* batches.rest();
}

/** Decodes the columns of the keys. */
function readKeys(rows: Rows, keys: readonly string[]): void {
  void rows.shapeIds;
  for (const key of keys) {
    const found = columnsOfShapes(rows.shapes, rows.shapeColumns, key);
    if (found === undefined) {
      readColumns(rows);
      return;
    }
    for (const { column } of found) {
      const read = rows.columns[column];
      if (read !== undefined) readColumn(read);
    }
  }
}

interface Outermost {
  readonly at: EpochMs;
  readonly order: number;
  readonly sorted: SortedRows;
  readonly place: number;
}

interface Outer extends ValuesRequest {
  /** The range of times that is looked into. */
  readonly first: EpochMs;
  readonly end: EpochMs;
  /** 1 when the last value of the range is wanted, -1 for the first. */
  readonly sign: 1 | -1;
}

/** The rows of the outermost value of each key, those of one instant that were stored last, in the order of time. */
async function outermost(
  groups: TopicGroup[],
  outer: Outer,
  slices: Slices,
): Promise<readonly Outermost[]> {
  const { keys, sign } = outer;
  const edgeOf = ({ group }: TopicGroup): EpochMs => (sign > 0 ? group.newest : group.oldest);
  groups.sort((a, b) => sign * (edgeOf(b) - edgeOf(a)));
  const best = new Map<string, Outermost>();
  let sliceEnds = slices.clock() + sliceMs;
  for (const found of groups) {
    const edge = edgeOf(found);
    const open = keys.filter((key) => {
      const known = best.get(key);
      return known === undefined || sign * (known.at - edge) <= 0;
    });
    if (open.length === 0) break;
    lookInto(found, open, outer, best);
    if (slices.clock() < sliceEnds) continue;
    await slices.pause();
    sliceEnds = slices.clock() + sliceMs;
  }
  const rows = new Map<string, Outermost>();
  for (const row of best.values()) rows.set(`${row.at} ${row.order}`, row);
  return [...rows.values()].sort((a, b) => a.at - b.at || a.order - b.order);
}

/** Throws Problem `samplesDamaged` when the group cannot be read. */
function lookInto(
  { topic, group }: TopicGroup,
  keys: readonly string[],
  outer: Outer,
  best: Map<string, Outermost>,
): void {
  const sorted = group.sorted();
  const isRead =
    sorted !== undefined &&
    guarded(group, () => {
      readKeys(sorted.rows, keys);
      const low = placeOf(sorted, Math.max(group.visibleFrom, outer.first));
      const high = placeOf(sorted, outer.end);
      for (const key of keys) {
        const row = outermostIn(sorted, key, outer, low, high);
        const known = best.get(key);
        if (row !== undefined && (known === undefined || isFurther(row, known, outer)))
          best.set(key, row);
      }
      return true;
    });
  if (isRead !== true) refuseUnreadable(unreadableSamples(outer.deviceId, topic, group));
}

function isFurther(row: Outermost, known: Outermost, { sign }: Outer): boolean {
  if (row.at === known.at) return row.order > known.order;
  return sign * (row.at - known.at) > 0;
}

function outermostIn(
  sorted: SortedRows,
  key: string,
  { sign, numeric = false }: Outer,
  low: number,
  high: number,
): Outermost | undefined {
  const { rows, timestamps, orders } = sorted;
  const found: KeyColumns = columnsOfShapes(rows.shapes, rows.shapeColumns, key);
  if (found?.length === 0) return undefined;
  const isIn = (place: number): boolean => hasValue(sorted, found, place, { key, numeric });
  let place = sign > 0 ? high - 1 : low;
  while (place >= low && place < high && !isIn(place)) place -= sign;
  if (place < low || place >= high) return undefined;
  const at = timestamps[place]!;
  // Of one instant the last stored counts.
  for (let next = place + 1; next < high && timestamps[next] === at; next++)
    if (isIn(next)) place = next;
  return { at, order: orders[place]!, sorted, place };
}
