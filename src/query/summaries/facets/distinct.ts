// Facet `distinct`: the different string forms of scalar values, so that 1 and "1" are one.
import {
  addDistinct,
  addDistinctHash,
  type DistinctSet,
  distinctHash,
  emptyDistinct,
  mergeDistinct,
} from '../distinct-set.ts';
import type { ColumnValues, Facet, Tally } from '../facet.ts';
import { missing } from '../../../structures/missing.ts';

interface DistinctTally extends Tally {
  readonly distinct: DistinctSet;
}

export const distinct: Facet<DistinctTally> = {
  start: () => ({ count: 0, distinct: emptyDistinct() }),
  add: (tally, value) => {
    if (typeof value !== 'object') addDistinct(tally.distinct, String(value));
  },
  merge: (into, from) => mergeDistinct(into.distinct, from.distinct),
  reads: (kind) => kind !== 'other',
  fromColumn: (tally, column, from, to) => {
    const { values } = column;
    const seen = new Set<number>();
    for (let i = from; i < to; i++) seen.add(values[i]!);
    for (const value of seen) addDistinctHash(tally.distinct, distinctHash(textOf(column, value)));
  },
};

function textOf({ kind, texts }: ColumnValues, value: number): string {
  if (kind === 'number') return String(value);
  if (kind === 'boolean') return String(value === 1);
  return texts[value] ?? missing('string of a column');
}
