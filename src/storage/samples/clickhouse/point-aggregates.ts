// Point aggregates: what ClickHouse computes of points for each facet and hour, exactly as the facet would.
import { type EpochMs, hourMs } from '../../../model/instant.ts';
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
import { slotMs } from '../../../query/summaries/occupied-slots.ts';
import { pointKinds } from './sample-tables.ts';

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

interface EndsRow extends AggregateRow {
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
  readonly earliest: number | null;
  readonly latest: number | null;
  readonly earliestStored: EpochMs;
  readonly latestStored: EpochMs;
}

const ofEnds: Aggregate<ReturnType<typeof ends.start>> = {
  columns: `min(ts) as firstAt, max(ts) as lastAt, argMin(if(kind < 2, num, nan), ${inStoringOrder}) as earliest, argMax(if(kind < 2, num, nan), ${inStoringOrder}) as latest, argMin(storedAt, ${inStoringOrder}) as earliestStored, argMax(storedAt, ${inStoringOrder}) as latestStored`,
  groupBy: '',
  isExact: () => true,
  add: (tally, row) => {
    const { firstAt, lastAt, earliest, latest, earliestStored, latestStored } = row as EndsRow;
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

interface TruthsRow extends AggregateRow {
  readonly trues: number;
  readonly falses: number;
}

const ofTruths: Aggregate<ReturnType<typeof truths.start>> = {
  columns: 'countIf(kind = 1 and num = 1) as trues, countIf(kind = 1 and num = 0) as falses',
  groupBy: '',
  isExact: () => true,
  add: (tally, row) => {
    const { trues, falses } = row as TruthsRow;
    tally.trueCount += trues;
    tally.falseCount += falses;
  },
};

interface DistinctRow extends AggregateRow {
  readonly kind: number;
  readonly num: number;
  readonly str: string;
}

/** The different values; hashes and sketches are computed here, as for open rows. */
const ofDistinct: Aggregate<ReturnType<typeof distinct.start>> = {
  columns: 'kind, num, str',
  groupBy: ', kind, num, str',
  isExact: () => true,
  add: (tally, row) => {
    const { kind, num, str } = row as DistinctRow;
    if (kind === pointKinds.number) addDistinct(tally.distinct, String(num));
    else if (kind === pointKinds.boolean) addDistinct(tally.distinct, String(num === 1));
    else if (kind === pointKinds.text) addDistinct(tally.distinct, JSON.parse(str) as string);
  },
};

interface OccupiedRow extends AggregateRow {
  readonly hour: number;
  readonly numeric: number;
  readonly slots: number;
}

const ofOccupied: Aggregate<ReturnType<typeof occupied.start>> = {
  columns: `${hourNumberText('ts')} as hour, countIf(kind < 2) as numeric, ${slotsText} as slots`,
  groupBy: ', hour',
  isExact: () => true,
  add: (tally, row) => {
    const { hour, numeric, slots } = row as OccupiedRow;
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
