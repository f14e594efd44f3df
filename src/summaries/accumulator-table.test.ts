// The KPI algebra against a naive reference: values, order of merging, ties, and every type of value.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../model/json.ts';
import { type AccumulatorName, accumulatorNames } from './accumulator.ts';
import { accumulators } from './accumulator-table.ts';
import { type CountedSlots, slotMs } from './occupied-slots.ts';
import { addValue, emptyPartial, mergePartials, type Partial } from './tally.ts';
import { dayMs } from '../model/instant.ts';

interface Point {
  readonly value: Json;
  readonly at: number;
  readonly order: number;
}

const wholeDay: CountedSlots = {
  total: 288,
  maskOf: (hour) => (hour >= 0 && hour < 24 ? 0xfff : 0),
};

function partialOf(name: AccumulatorName, points: readonly Point[]): Partial {
  const partial = emptyPartial();
  for (const { value, at, order } of points)
    addValue(partial, accumulators[name].facet, value, at, order);
  return partial;
}

const answer = (name: AccumulatorName, partial: Partial) =>
  accumulators[name].finish(partial, wholeDay);

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
        expectClose(answer(name, partialOf(name, list)), reference(name, list)),
      ),
    );
  });

  test('a stream may be split anywhere and its parts merged in any grouping and order', () => {
    const cut = fc.array(fc.nat({ max: 60 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(points, cut, fc.boolean(), (list, cuts, reversed) => {
        const edges = [0, ...cuts.sort((a, b) => a - b), list.length];
        const parts = edges.slice(1).map((end, i) => partialOf(name, list.slice(edges[i], end)));
        if (reversed) parts.reverse();
        const left = emptyPartial();
        for (const part of parts) mergePartials(left, part);
        const right = parts.reduceRight((rest, part) => {
          const joined = emptyPartial();
          mergePartials(joined, part);
          mergePartials(joined, rest);
          return joined;
        }, emptyPartial());
        expectClose(answer(name, left), reference(name, list));
        expectClose(answer(name, right), reference(name, list));
      }),
    );
  });

  test('the empty partial is neutral, and no value is null or, for the COUNT kinds, 0', () => {
    expect(answer(name, emptyPartial())).toBe(name.endsWith('COUNT') ? 0 : null);
    expect(answer(name, partialOf(name, [{ value: null, at: 0, order: 0 }]))).toBe(
      name.endsWith('COUNT') ? 0 : null,
    );
    const some = partialOf(name, [{ value: true, at: 5, order: 0 }]);
    const before = answer(name, some);
    mergePartials(some, emptyPartial());
    expect(answer(name, some)).toBe(before);
  });
});

test('values of one instant: without orders, what was added or merged first was stored first', () => {
  const early = emptyPartial();
  const late = emptyPartial();
  for (const value of [1, 2]) addValue(early, 'ends', value, 10);
  for (const value of [3, 4]) addValue(late, 'ends', value, 10);
  mergePartials(early, late);
  expect([answer('FIRST', early), answer('LAST', early)]).toEqual([1, 4]);
});

test('FIRST and LAST of a value without a number are null, not the number before it', () => {
  const partial = emptyPartial();
  addValue(partial, 'ends', 7, 1);
  addValue(partial, 'ends', 'open', 2);
  expect([answer('FIRST', partial), answer('LAST', partial)]).toEqual([7, null]);
});

test('sums keep what rounding takes away, whatever the order of merging', () => {
  const terms = [1e16, 1, -1e16, 1, 3e15, -3e15, 0.25];
  for (let shift = 0; shift < terms.length; shift++) {
    const joined = emptyPartial();
    for (const term of [...terms.slice(shift), ...terms.slice(0, shift)]) {
      const one = emptyPartial();
      addValue(one, 'numbers', term, 0);
      mergePartials(joined, one);
    }
    expect(answer('SUM', joined)).toBe(2.25);
  }
});

test('a sum beyond the largest number is null, for answers have no infinity', () => {
  const partial = emptyPartial();
  for (const value of [1.7e308, 1.7e308]) addValue(partial, 'numbers', value, 0);
  expect([answer('SUM', partial), answer('AVG', partial), answer('MAX', partial)]).toEqual([
    null,
    null,
    1.7e308,
  ]);
});
