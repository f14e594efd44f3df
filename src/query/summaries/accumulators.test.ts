// The KPI algebra against a naive reference: values, order of merging, ties, and every type of value.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dayMs } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';
import {
  type AccumulatorName,
  accumulatorNames,
  accumulators,
  addValue,
  mergeTallies,
} from './accumulators.ts';
import type { Tally } from './facet.ts';
import { ends } from './facets/ends.ts';
import { numbers } from './facets/numbers.ts';
import { type CountedSlots, slotMs } from './occupied-slots.ts';

interface Point {
  readonly value: Json;
  readonly at: number;
  readonly order: number;
}

const wholeDay: CountedSlots = {
  total: 288,
  maskOf: (hour) => (hour >= 0 && hour < 24 ? 0xfff : 0),
};

const emptyTally = (name: AccumulatorName): Tally => accumulators[name].facet.start();

const merge = (name: AccumulatorName, into: Tally, from: Tally): void =>
  mergeTallies(accumulators[name].facet, into, from);

function tallyOf(name: AccumulatorName, points: readonly Point[]): Tally {
  const tally = emptyTally(name);
  for (const { value, at, order } of points)
    addValue(accumulators[name].facet, tally, value, { timestamp: at, order });
  return tally;
}

const answer = (name: AccumulatorName, tally: Tally) => accumulators[name].finish(tally, wholeDay);

/** What contract says, in the simplest words, from the list of all values. */
function reference(name: AccumulatorName, points: readonly Point[]): number | null {
  const present = points
    .filter((p) => p.value !== null)
    .sort((a, b) => a.at - b.at || a.order - b.order);
  const numbers = present.flatMap((p) =>
    ['number', 'boolean'].includes(typeof p.value) ? [Number(p.value)] : [],
  );
  const asNumber = (p: Point | undefined) =>
    p === undefined || !['number', 'boolean'].includes(typeof p.value) ? null : Number(p.value);
  const exact = numbers.reduce((sum, n) => sum + BigInt(Math.round(n * 1000)), 0n);
  const sum = Number(exact) / 1000;
  const slots = new Set(
    present.filter((p) => (asNumber(p) ?? 0) > 0).map((p) => Math.floor(p.at / slotMs)),
  );
  const scalars = present.filter((p) => typeof p.value !== 'object').map((p) => String(p.value));
  const none = numbers.length === 0 ? null : undefined;
  const rows: Record<AccumulatorName, number | null> = {
    MIN: none ?? (numbers.length > 0 ? Math.min(...numbers) : null),
    MAX: none ?? (numbers.length > 0 ? Math.max(...numbers) : null),
    SUM: numbers.length > 0 ? sum : null,
    AVG: numbers.length > 0 ? sum / numbers.length : null,
    COUNT: present.length,
    FIRST: asNumber(present[0]),
    LAST: asNumber(present.at(-1)),
    DISTINCT_COUNT: new Set(scalars).size,
    MATCHED_COUNT: present.filter((p) => p.value === true).length,
    UNMATCHED_COUNT: present.filter((p) => p.value === false).length,
    OCCUPANCY: numbers.length > 0 ? (slots.size / 288) * 100 : null,
  };
  return rows[name];
}

const value: fc.Arbitrary<Json> = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: -1_000_000, max: 1_000_000 }).map((n) => n / 1000) },
  { weight: 2, arbitrary: fc.boolean() },
  { weight: 2, arbitrary: fc.constantFrom('open', 'closed', '1', 'true', '') },
  { weight: 1, arbitrary: fc.constantFrom<Json>(null, { a: 1 }, [1], 0, -0) },
);
const points = fc
  .array(
    fc.record({ value, at: fc.integer({ min: 0, max: dayMs / 1000 - 1 }).map((s) => s * 1000) }),
    {
      maxLength: 60,
    },
  )
  .map((list) =>
    list.map((p, order): Point => ({ ...p, at: order % 3 === 0 ? 7_200_000 : p.at, order })),
  );

function expectClose(actual: number | null, expected: number | null): void {
  if (expected === null || actual === null) expect(actual).toBe(expected);
  else
    expect(Math.abs(actual - expected)).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(expected)));
}

describe.each(accumulatorNames)('interface 4.6: %s', (name) => {
  test('answers what the naive reference answers', () => {
    fc.assert(
      fc.property(points, (list) =>
        expectClose(answer(name, tallyOf(name, list)), reference(name, list)),
      ),
    );
  });

  test('a stream may be split anywhere and its parts merged in any grouping and order', () => {
    const cut = fc.array(fc.nat({ max: 60 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(points, cut, fc.boolean(), (list, cuts, reversed) => {
        const edges = [0, ...cuts.sort((a, b) => a - b), list.length];
        const parts = edges.slice(1).map((end, i) => tallyOf(name, list.slice(edges[i], end)));
        if (reversed) parts.reverse();
        const left = emptyTally(name);
        for (const part of parts) merge(name, left, part);
        const right = parts.reduceRight((rest, part) => {
          const joined = emptyTally(name);
          merge(name, joined, part);
          merge(name, joined, rest);
          return joined;
        }, emptyTally(name));
        expectClose(answer(name, left), reference(name, list));
        expectClose(answer(name, right), reference(name, list));
      }),
    );
  });

  test('the empty tally is neutral, and no value is null or, for the COUNT kinds, 0', () => {
    expect(answer(name, emptyTally(name))).toBe(name.endsWith('COUNT') ? 0 : null);
    expect(answer(name, tallyOf(name, [{ value: null, at: 0, order: 0 }]))).toBe(
      name.endsWith('COUNT') ? 0 : null,
    );
    const some = tallyOf(name, [{ value: true, at: 5, order: 0 }]);
    const before = answer(name, some);
    merge(name, some, emptyTally(name));
    expect(answer(name, some)).toBe(before);
  });
});

test('values of one instant: without orders, what was added or merged first was stored first', () => {
  const early = ends.start();
  const late = ends.start();
  for (const value of [1, 2]) addValue(ends, early, value, { timestamp: 10 });
  for (const value of [3, 4]) addValue(ends, late, value, { timestamp: 10 });
  mergeTallies(ends, early, late);
  expect([answer('FIRST', early), answer('LAST', early)]).toEqual([1, 4]);
});

test('FIRST and LAST of a value without a number are null, not the number before it', () => {
  const tally = ends.start();
  addValue(ends, tally, 7, { timestamp: 1 });
  addValue(ends, tally, 'open', { timestamp: 2 });
  expect([answer('FIRST', tally), answer('LAST', tally)]).toEqual([7, null]);
});

test('sums keep what rounding takes away, for any order of merging', () => {
  const terms = [1e16, 1, -1e16, 1, 3e15, -3e15, 0.25];
  for (let shift = 0; shift < terms.length; shift++) {
    const joined = numbers.start();
    for (const term of [...terms.slice(shift), ...terms.slice(0, shift)]) {
      const one = numbers.start();
      addValue(numbers, one, term, { timestamp: 0 });
      mergeTallies(numbers, joined, one);
    }
    expect(answer('SUM', joined)).toBe(2.25);
  }
});

test('a sum beyond the largest number is null, for answers have no infinity', () => {
  const tally = numbers.start();
  for (const value of [1.7e308, 1.7e308]) addValue(numbers, tally, value, { timestamp: 0 });
  expect([answer('SUM', tally), answer('AVG', tally), answer('MAX', tally)]).toEqual([
    null,
    null,
    1.7e308,
  ]);
});
