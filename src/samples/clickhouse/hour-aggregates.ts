// Hour aggregates: what ClickHouse computes of hours for each facet, and the same of a partial in memory.
import { type EpochMs, hourMs } from '../../model/instant.ts';
import type { Facet, Tally } from '../../summaries/facet.ts';
import { count } from '../../summaries/facets/count.ts';
import { ends } from '../../summaries/facets/ends.ts';
import { numbers } from '../../summaries/facets/numbers.ts';
import { occupied } from '../../summaries/facets/occupied.ts';
import { truths } from '../../summaries/facets/truths.ts';
import { field, type HourPartial } from './hour-partials.ts';
import { afterHours, type Aggregate, type AggregateRow, aggregateOf } from './point-aggregates.ts';

export interface HourAggregate extends Aggregate<Tally> {
  /** The row that ClickHouse would make of the partial. */
  readonly rowOf: (partial: HourPartial, hourAt: EpochMs) => AggregateRow;
}

type Columns = Pick<HourAggregate, 'columns' | 'groupBy'> & {
  /** Members of the row, without its place. */
  readonly values: (partial: HourPartial, hourAt: EpochMs) => object;
};

const at = (partial: HourPartial, index: number): number => partial[index] ?? 0;
const first = '(firstTs, firstStoredAt, journal, firstPosition, firstIdx)';
const last = '(lastTs, lastStoredAt, journal, lastPosition, lastIdx)';

const ofFacets = new Map<unknown, Columns>([
  [count, { columns: '1', groupBy: '', values: () => ({}) }],
  [
    numbers,
    {
      columns:
        'sum(numericCount) as numeric, sumKahan(numSum) as total, sum(numAmounts) as amounts, minIf(numMin, numericCount > 0) as lowest, maxIf(numMax, numericCount > 0) as highest',
      groupBy: '',
      values: (partial) => ({
        numeric: at(partial, field.numeric),
        total: at(partial, field.sum) + at(partial, field.sumError),
        amounts: at(partial, field.amounts),
        lowest: at(partial, field.min),
        highest: at(partial, field.max),
      }),
    },
  ],
  [
    ends,
    {
      columns: `min(firstTs) as firstAt, max(lastTs) as lastAt, argMin(firstNum, ${first}) as earliest, argMax(lastNum, ${last}) as latest, argMin(firstStoredAt, ${first}) as earliestStored, argMax(lastStoredAt, ${last}) as latestStored`,
      groupBy: '',
      values: (partial) => ({
        firstAt: at(partial, field.firstAt),
        lastAt: at(partial, field.lastAt),
        earliest: at(partial, field.first),
        latest: at(partial, field.last),
        earliestStored: at(partial, field.firstStoredAt) + afterHours,
        latestStored: at(partial, field.lastStoredAt) + afterHours,
      }),
    },
  ],
  [
    truths,
    {
      columns: 'sum(trueCount) as trues, sum(falseCount) as falses',
      groupBy: '',
      values: (partial) => ({
        trues: at(partial, field.trues),
        falses: at(partial, field.falses),
      }),
    },
  ],
  [
    occupied,
    {
      columns: `intDiv(hourAt, ${hourMs}) as hour, sum(numericCount) as numeric, groupBitOr(occupiedSlots) as slots`,
      groupBy: ', hour',
      values: (partial, hourAt) => ({
        hour: hourAt / hourMs,
        numeric: at(partial, field.numeric),
        slots: at(partial, field.slots),
      }),
    },
  ],
]);

/** Undefined for a facet that needs the values. */
export function hourAggregateOf(facet: Facet<Tally>): HourAggregate | undefined {
  const ofPoints = aggregateOf(facet);
  const columns = ofFacets.get(facet);
  if (ofPoints === undefined || columns === undefined) return undefined;
  const { values, ...rest } = columns;
  return {
    ...ofPoints,
    ...rest,
    rowOf: (partial, hourAt) => ({
      ...{ device: '', cell: 0, opaque: 0, n: at(partial, field.values) },
      ...values(partial, hourAt),
    }),
  };
}
