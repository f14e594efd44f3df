// Hour partials: summaries of stored values by device, topic, data key and hour, in columns of doubles.
import type { DataShape } from '../../log/data-shape.ts';
import { type EpochMs, hourMs } from '../../../model/instant.ts';
import { missing } from '../../../structures/missing.ts';
import { slotBit, slotMs } from '../../../query/summaries/occupied-slots.ts';
import type { OpenRow } from './open-rows.ts';
import { pointKinds, pointsOfShape, type ShapePoint } from './sample-tables.ts';
import { addTerm } from '../../../query/summaries/compensated-sum.ts';
import { addDistinct } from '../../../query/summaries/distinct-set.ts';
import type { Facet, Tally } from '../../../query/summaries/facet.ts';
import {
  count,
  distinct,
  ends,
  numbers,
  occupied,
  truths,
} from '../../../query/summaries/facets.ts';

/** Where each number of a partial is. A partial without a number has no sum and no range. */
export const field = {
  values: 0,
  numeric: 1,
  sum: 2,
  /** What rounding took from the sum. */
  sumError: 3,
  /** Of the amounts of the numbers. */
  amounts: 4,
  min: 5,
  max: 6,
  /** The first value: its time, its number or NaN, and its place in the order of storing. */
  firstAt: 7,
  first: 8,
  firstStoredAt: 9,
  firstPosition: 10,
  firstIndex: 11,
  lastAt: 12,
  last: 13,
  lastStoredAt: 14,
  lastPosition: 15,
  lastIndex: 16,
  trues: 17,
  falses: 18,
  slots: 19,
} as const;
const fields = 20;
const partialsPerPart = 4_096;

/** A view of the numbers. */
export type HourPartial = Float64Array;

/** Partials of the keys of one shape, in the order of its points. */
export interface HourGroup {
  readonly topic: string;
  readonly shape: DataShape;
  /** When the hour begins. */
  readonly hourAt: EpochMs;
  readonly workspaceId: string;
  readonly dataFlowId: string | null;
  /** Of the first entry that has a row of it. */
  readonly position: number;
  readonly points: readonly ShapePoint[];
  /** The first of its partials. */
  readonly first: number;
}

export function hourOf(at: EpochMs): EpochMs {
  return Math.floor(at / hourMs) * hourMs;
}

/** Whether the row is older than the hour before its storing: its partials do not wait. */
export function isLate({ timestamp, storedAt }: OpenRow): boolean {
  return hourOf(timestamp) < hourOf(storedAt) - hourMs;
}

/** `perEntry` keeps the rows of different entries apart. */
export class HourPartials {
  readonly #perEntry: boolean;
  readonly #parts: Float64Array[] = [];
  readonly #devices = new Map<string, DeviceGroups>();
  #count = 0;

  constructor({
    perEntry = false,
  }: {
    readonly perEntry?: boolean;
  } = {}) {
    this.#perEntry = perEntry;
  }

  /** Rows are given in the order of storing. */
  add(row: OpenRow): void {
    const { points, first } = this.#groupOf(row);
    for (let i = 0; i < points.length; i++) {
      const index = first + i;
      const part = this.#parts[Math.floor(index / partialsPerPart)] ?? missing('part of partials');
      addValue(part, (index % partialsPerPart) * fields, row, points[i]!);
    }
  }

  drop(deviceId: string): void {
    this.#devices.delete(deviceId);
  }

  groupsOf(deviceId: string): readonly HourGroup[] {
    return this.#devices.get(deviceId)?.list ?? none;
  }

  deviceIds(): Iterable<string> {
    return this.#devices.keys();
  }

  /** Those of dropped devices count until the end. */
  get count(): number {
    return this.#count;
  }

  partialOf(group: HourGroup, point: number): HourPartial {
    return this.#partialAt(group.first + point);
  }

  #groupOf(row: OpenRow): HourGroup {
    const { deviceId } = row;
    const known = this.#devices.get(deviceId);
    const newest = known?.list.at(-1);
    if (newest !== undefined && isOfGroup(newest, row, this.#perEntry)) return newest;
    const groups: DeviceGroups = known ?? { list: [], byName: new Map() };
    if (known === undefined) this.#devices.set(deviceId, groups);
    const name = nameOf(row, this.#perEntry);
    const ofShape = groups.byName.get(row.shape) ?? new Map<string, HourGroup>();
    groups.byName.set(row.shape, ofShape);
    const found = ofShape.get(name) ?? this.#begin(row);
    if (!ofShape.has(name)) groups.list.push(found);
    ofShape.set(name, found);
    return found;
  }

  #begin(row: OpenRow): HourGroup {
    const { topic, shape, timestamp, workspaceId, dataFlowId, position } = row;
    const points = pointsOfShape(shape);
    const origin = { workspaceId, dataFlowId, position };
    const group = {
      topic,
      shape,
      hourAt: hourOf(timestamp),
      ...origin,
      points,
      first: this.#count,
    };
    this.#count += points.length;
    while (this.#parts.length * partialsPerPart < this.#count)
      this.#parts.push(new Float64Array(partialsPerPart * fields));
    for (let i = 0; i < points.length; i++) clear(this.#partialAt(group.first + i));
    return group;
  }

  #partialAt(index: number): HourPartial {
    const part = this.#parts[Math.floor(index / partialsPerPart)] ?? missing('part of partials');
    const at = (index % partialsPerPart) * fields;
    return part.subarray(at, at + fields);
  }
}

const none: readonly never[] = [];

interface DeviceGroups {
  readonly list: HourGroup[];
  readonly byName: Map<DataShape, Map<string, HourGroup>>;
}

function isOfGroup(group: HourGroup, row: OpenRow, perEntry: boolean): boolean {
  return (
    group.shape === row.shape &&
    row.timestamp >= group.hourAt &&
    row.timestamp < group.hourAt + hourMs &&
    group.topic === row.topic &&
    group.workspaceId === row.workspaceId &&
    group.dataFlowId === row.dataFlowId &&
    (!perEntry || group.position === row.position)
  );
}

function nameOf(
  { topic, timestamp, workspaceId, dataFlowId, position }: OpenRow,
  perEntry: boolean,
) {
  return `${hourOf(timestamp)} ${perEntry ? position : ''} ${JSON.stringify([workspaceId, dataFlowId])}${topic}`;
}

function clear(partial: HourPartial): void {
  partial[field.min] = Number.POSITIVE_INFINITY;
  partial[field.max] = Number.NEGATIVE_INFINITY;
  partial[field.firstAt] = Number.POSITIVE_INFINITY;
  partial[field.lastAt] = Number.NEGATIVE_INFINITY;
}

/** `at` is where the partial begins: a view for each value would cost more than the value. */
function addValue(part: Float64Array, at: number, row: OpenRow, { kind, leaf }: ShapePoint): void {
  const isNumeric = kind === pointKinds.number || kind === pointKinds.boolean;
  const number = isNumeric ? row.values.numberAt(row.valuesAt + leaf) : Number.NaN;
  const { timestamp } = row;
  part[at + field.values]! += 1;
  if (isNumeric) addNumber(part, at, number, timestamp);
  if (kind === pointKinds.boolean) part[at + (number === 1 ? field.trues : field.falses)]! += 1;
  if (timestamp < part[at + field.firstAt]!) setEnd(part, at + field.firstAt, row, number);
  if (timestamp >= part[at + field.lastAt]!) setEnd(part, at + field.lastAt, row, number);
}

function addNumber(part: Float64Array, at: number, number: number, timestamp: EpochMs): void {
  part[at + field.numeric]! += 1;
  addTermAt(part, at, number);
  part[at + field.amounts]! += Math.abs(number);
  if (number < part[at + field.min]!) part[at + field.min] = number;
  if (number > part[at + field.max]!) part[at + field.max] = number;
  if (number > 0) part[at + field.slots]! |= slotBit(timestamp);
}

/** As `addTermAt` of compensated sums. */
function addTermAt(part: Float64Array, at: number, term: number): void {
  const before = part[at + field.sum]!;
  const after = before + term;
  const taken = after - before;
  part[at + field.sum] = after;
  part[at + field.sumError]! += before - (after - taken) + (term - taken);
}

function setEnd(part: Float64Array, at: number, row: OpenRow, number: number): void {
  part[at] = row.timestamp;
  part[at + 1] = number;
  part[at + 2] = row.storedAt;
  part[at + 3] = row.position;
  part[at + 4] = row.index;
}

/** Adds what other rows of the same key and hour have. */
export function mergePartials(into: HourPartial, from: HourPartial): void {
  for (const sum of [field.values, field.numeric, field.amounts, field.trues, field.falses])
    into[sum]! += from[sum]!;
  addTermAt(into, 0, from[field.sum]!);
  into[field.sumError]! += from[field.sumError]!;
  into[field.min] = Math.min(into[field.min]!, from[field.min]!);
  into[field.max] = Math.max(into[field.max]!, from[field.max]!);
  into[field.slots]! |= from[field.slots]!;
  if (isBefore(from, into, field.firstAt)) copyEnd(into, from, field.firstAt);
  if (isBefore(into, from, field.lastAt)) copyEnd(into, from, field.lastAt);
}

/** By time, then by the place in the order of storing. */
function isBefore(a: HourPartial, b: HourPartial, end: number): boolean {
  for (const part of [end, end + 2, end + 3, end + 4])
    if (a[part] !== b[part]) return a[part]! < b[part]!;
  return false;
}

function copyEnd(into: HourPartial, from: HourPartial, end: number): void {
  into.set(from.subarray(end, end + 5), end);
}

// Point aggregates: what ClickHouse computes of points for each facet and hour, exactly as the facet would.

// Hour times: expressions of ClickHouse for the hour of a time, also before 1970.

/** Far before every sample, so that whole numbers are divided that are not negative. */
const earliestMs = -600_000 * 24 * hourMs;
const sinceEarliest = (time: string): string => `(${time} - toInt64(${earliestMs}))`;

/** The number of the hour: `floor(time / hourMs)`. */
function hourNumberText(time: string): string {
  return `(intDiv(${sinceEarliest(time)}, ${hourMs}) + toInt64(${earliestMs / hourMs}))`;
}

/** When the hour begins. */
export function hourAtText(time: string): string {
  return `(${hourNumberText(time)} * ${hourMs})`;
}

/** Milliseconds since the hour began. */
function withinHourText(time: string): string {
  return `(${sinceEarliest(time)} % ${hourMs})`;
}

/** Whether a point is not older than the hour before its storing; see `isLate`. */
export const isPunctualText = `${hourAtText('ts')} >= ${hourAtText('storedAt')} - ${hourMs}`;

// Point expressions: what aggregates over points have in common.

/** By time, those of one instant in the order of storing. */
export const inStoringOrder = '(ts, storedAt, journal, position, idx)';

/** The occupied slots of an hour, as twelve bits. */
export const slotsText = `groupBitOr(if(kind < 2 and num > 0, bitShiftLeft(toUInt16(1), toUInt8(intDiv(${withinHourText('ts')}, ${slotMs}))), toUInt16(0)))`;

/** A row of the select; further columns are those of the aggregate. */
export interface AggregateRow {
  readonly device: string;
  /** See `Grid`. */
  readonly cell: number;
  /** Values. */
  readonly n: number;
  /** 1 when a sample has keys that are not stored. */
  readonly opaque: number;
}

export interface Aggregate<T extends Tally> {
  readonly columns: string;
  /** Further columns by which the rows are grouped, beginning with a comma. */
  readonly groupBy: string;
  /** Whether the row is what the facet would make of the values. */
  readonly isExact: (row: AggregateRow) => boolean;
  /** Adds the row, but not its count. */
  readonly add: (tally: T, row: AggregateRow) => void;
}

/** The order of rows that are read one by one, in the order of storing: open rows come after them. */
export const beforeOpenRows = -1;
/** Others are ordered by the time of storing. Of one time, hours in memory and open rows follow. */
export const afterHours = 0.25;
export const afterSealed = 0.5;

/** With larger sums of amounts than this many times the sum, rounding may become visible. */
const cancellationMax = 10_000;

interface NumbersRow extends AggregateRow {
  readonly numeric: number;
  readonly total: number | null;
  readonly amounts: number | null;
  readonly lowest: number;
  readonly highest: number;
}

const ofNumbers: Aggregate<ReturnType<typeof numbers.start>> = {
  columns:
    'countIf(kind < 2) as numeric, sumKahan(num) as total, sum(abs(num)) as amounts, minIf(num, kind < 2) as lowest, maxIf(num, kind < 2) as highest',
  groupBy: '',
  isExact: (row) => {
    const { numeric, total, amounts } = row as NumbersRow;
    if (numeric < 2) return true;
    return total !== null && amounts !== null && amounts <= cancellationMax * Math.abs(total);
  },
  add: (tally, row) => {
    const { numeric, total, lowest, highest } = row as NumbersRow;
    if (numeric === 0) return;
    tally.numericCount += numeric;
    addTerm(tally, total ?? 0);
    tally.min = Math.min(tally.min, lowest);
    tally.max = Math.max(tally.max, highest);
  },
};

const ofEnds: Aggregate<ReturnType<typeof ends.start>> = {
  columns: `min(ts) as firstAt, max(ts) as lastAt, argMin(if(kind < 2, num, nan), ${inStoringOrder}) as earliest, argMax(if(kind < 2, num, nan), ${inStoringOrder}) as latest, argMin(storedAt, ${inStoringOrder}) as earliestStored, argMax(storedAt, ${inStoringOrder}) as latestStored`,
  groupBy: '',
  isExact: () => true,
  add: (tally, row) => {
    const { firstAt, lastAt, earliest, latest, earliestStored, latestStored } =
      row as AggregateRow & {
        readonly firstAt: EpochMs;
        readonly lastAt: EpochMs;
        readonly earliest: number | null;
        readonly latest: number | null;
        readonly earliestStored: EpochMs;
        readonly latestStored: EpochMs;
      };
    const value = (given: number | null): number => given ?? Number.NaN;
    ends.merge(tally, {
      count: 0,
      first: value(earliest),
      firstAt,
      firstOrder: earliestStored,
      last: value(latest),
      lastAt,
      lastOrder: latestStored,
    });
  },
};

const ofTruths: Aggregate<ReturnType<typeof truths.start>> = {
  columns: 'countIf(kind = 1 and num = 1) as trues, countIf(kind = 1 and num = 0) as falses',
  groupBy: '',
  isExact: () => true,
  add: (tally, row) => {
    const { trues, falses } = row as AggregateRow & {
      readonly trues: number;
      readonly falses: number;
    };
    tally.trueCount += trues;
    tally.falseCount += falses;
  },
};

/** The different values; hashes and sketches are computed here, as for open rows. */
const ofDistinct: Aggregate<ReturnType<typeof distinct.start>> = {
  columns: 'kind, num, str',
  groupBy: ', kind, num, str',
  isExact: () => true,
  add: (tally, row) => {
    const { kind, num, str } = row as AggregateRow & {
      readonly kind: number;
      readonly num: number;
      readonly str: string;
    };
    if (kind === pointKinds.number) addDistinct(tally.distinct, String(num));
    else if (kind === pointKinds.boolean) addDistinct(tally.distinct, String(num === 1));
    else if (kind === pointKinds.text) addDistinct(tally.distinct, JSON.parse(str) as string);
  },
};

const ofOccupied: Aggregate<ReturnType<typeof occupied.start>> = {
  columns: `${hourNumberText('ts')} as hour, countIf(kind < 2) as numeric, ${slotsText} as slots`,
  groupBy: ', hour',
  isExact: () => true,
  add: (tally, row) => {
    const { hour, numeric, slots } = row as AggregateRow & {
      readonly hour: number;
      readonly numeric: number;
      readonly slots: number;
    };
    if (numeric === 0) return;
    tally.slots.set(hour, (tally.slots.get(hour) ?? 0) | slots);
  },
};

const aggregates = new Map<Facet<Tally>, Aggregate<Tally>>();

function register<T extends Tally>(facet: Facet<T>, aggregate: Aggregate<T>): void {
  // A tally is only given to the aggregate of the facet that started it.
  aggregates.set(facet, aggregate as unknown as Aggregate<Tally>);
}
register(count, { columns: '1', groupBy: '', isExact: () => true, add: () => undefined });
register(numbers, ofNumbers);
register(ends, ofEnds);
register(truths, ofTruths);
register(distinct, ofDistinct);
register(occupied, ofOccupied);

/** Undefined for a facet whose values must be read one by one. */
export function aggregateOf(facet: Facet<Tally>): Aggregate<Tally> | undefined {
  return aggregates.get(facet);
}
