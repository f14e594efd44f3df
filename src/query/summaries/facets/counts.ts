// Facet `counts`: how often each scalar value occurs, up to a number of different ones.
import type { ColumnValues, Facet, Tally } from '../facet.ts';
import { missing } from '../../../structures/missing.ts';

type Scalar = number | boolean | string;

/** With more different values there is no answer. */
const countedValuesMax = 10_000;

export interface CountsTally extends Tally {
  /** Undefined when there were too many. */
  counts: Map<Scalar, number> | undefined;
}

export const counts: Facet<CountsTally> = {
  holdsValues: true,
  start: () => ({ count: 0, counts: new Map() }),
  add: (tally, value) => {
    if (typeof value !== 'object') note(tally, value, 1);
  },
  merge: (into, from) => {
    if (from.counts === undefined) into.counts = undefined;
    else for (const [value, count] of from.counts) note(into, value, count);
  },
  reads: (kind) => kind !== 'other',
  fromColumn: (tally, column, from, to) => {
    const { values } = column;
    const found = new Map<number, number>();
    for (let i = from; i < to; i++) found.set(values[i]!, (found.get(values[i]!) ?? 0) + 1);
    for (const [value, count] of found) note(tally, scalarOf(column, value), count);
  },
};

/** The most frequent value, of several the smallest; numbers come before booleans and texts. */
export function modeOf({ counts: found }: CountsTally): Scalar | null {
  let best: Scalar | null = null;
  let most = 0;
  for (const [value, count] of found ?? []) {
    if (count < most || (count === most && best !== null && !isSmaller(value, best))) continue;
    best = value;
    most = count;
  }
  return best;
}

const typeOrder: readonly string[] = ['number', 'boolean', 'string'];

function isSmaller(value: Scalar, other: Scalar): boolean {
  const byType = typeOrder.indexOf(typeof value) - typeOrder.indexOf(typeof other);
  return byType === 0 ? value < other : byType < 0;
}

function note(tally: CountsTally, value: Scalar, count: number): void {
  const { counts: found } = tally;
  if (found === undefined) return;
  found.set(value, (found.get(value) ?? 0) + count);
  if (found.size > countedValuesMax) tally.counts = undefined;
}

function scalarOf({ kind, texts }: ColumnValues, value: number): Scalar {
  if (kind === 'number') return value;
  return kind === 'boolean' ? value === 1 : (texts[value] ?? missing('text of a column'));
}
