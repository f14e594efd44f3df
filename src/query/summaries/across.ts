// Across: the values of many devices combined to one (contract 38.2, 39).
import type { AcrossName } from '../../model/calculation.ts';
import { addTerm, type CompensatedSum, sumOf } from './compensated-sum.ts';

/** Of the devices that have a value; null without any, but for COUNT, which is 0 then. */
export function combined(across: AcrossName, values: readonly number[]): number | null {
  if (across === 'COUNT') return values.length;
  if (values.length === 0) return null;
  return combinations[across](values);
}

const combinations: Readonly<
  Record<Exclude<AcrossName, 'COUNT'>, (values: readonly number[]) => number>
> = {
  SUM: total,
  AVG: (values) => total(values) / values.length,
  MIN: (values) => values.reduce((least, value) => Math.min(least, value)),
  MAX: (values) => values.reduce((most, value) => Math.max(most, value)),
  MEDIAN: median,
};

function total(values: readonly number[]): number {
  const sum: CompensatedSum = { sum: 0, sumError: 0 };
  for (const value of values) addTerm(sum, value);
  return sumOf(sum) ?? Number.NaN;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  if (sorted.length % 2 === 1) return upper;
  return ((sorted[middle - 1] ?? upper) + upper) / 2;
}
