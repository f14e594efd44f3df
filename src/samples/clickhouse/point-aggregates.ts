// Point aggregates: what ClickHouse computes of points for each facet, exactly as the facet would.
import { type EpochMs, hourMs } from '../../model/instant.ts';
import { addTerm } from '../../summaries/compensated-sum.ts';
import { addDistinct } from '../../summaries/distinct-set.ts';
import type { Facet, Tally } from '../../summaries/facet.ts';
import { count } from '../../summaries/facets/count.ts';
import { distinct } from '../../summaries/facets/distinct.ts';
import { ends } from '../../summaries/facets/ends.ts';
import { numbers } from '../../summaries/facets/numbers.ts';
import { occupied } from '../../summaries/facets/occupied.ts';
import { truths } from '../../summaries/facets/truths.ts';
import { slotMs } from '../../summaries/occupied-slots.ts';
import { pointKinds } from './shape-points.ts';

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

/** The order of rows in ClickHouse: open rows were stored after them. */
export const beforeOpenRows = -1;

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
}

const inOrder = '(ts, storedAt, journal, position, idx)';
const ofEnds: Aggregate<ReturnType<typeof ends.start>> = {
  columns: `min(ts) as firstAt, max(ts) as lastAt, argMin(if(kind < 2, num, nan), ${inOrder}) as earliest, argMax(if(kind < 2, num, nan), ${inOrder}) as latest`,
  groupBy: '',
  isExact: () => true,
  // Cells are merged in any order: their instants differ.
  add: (tally, row) => {
    const { firstAt, lastAt, earliest, latest } = row as EndsRow;
    const value = (given: number | null): number => given ?? Number.NaN;
    ends.merge(tally, {
      count: 0,
      ...{ first: value(earliest), firstAt, firstOrder: beforeOpenRows },
      ...{ last: value(latest), lastAt, lastOrder: beforeOpenRows },
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

/** Far before every sample, so that whole numbers are divided that are not negative. */
const hoursFrom = -600_000 * 24;
const sinceFirst = `(ts - toInt64(${hoursFrom * hourMs}))`;
const ofOccupied: Aggregate<ReturnType<typeof occupied.start>> = {
  columns: `intDiv(${sinceFirst}, ${hourMs}) as hour, countIf(kind < 2) as numeric, groupBitOr(if(kind < 2 and num > 0, bitShiftLeft(toUInt16(1), toUInt8(intDiv(${sinceFirst} % ${hourMs}, ${slotMs}))), toUInt16(0))) as slots`,
  groupBy: ', hour',
  isExact: () => true,
  add: (tally, row) => {
    const { hour, numeric, slots } = row as OccupiedRow;
    if (numeric === 0) return;
    const at = hour + hoursFrom;
    tally.slots.set(at, (tally.slots.get(at) ?? 0) | slots);
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
