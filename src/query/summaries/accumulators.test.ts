// The KPI algebra against a naive reference: values, order of merging, ties, and every type of value.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dayMs } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';
import {
  type AccumulatorName,
  accumulatorNamed,
  accumulatorNames,
  accumulatorOf,
  addValue,
  mergeTallies,
} from './accumulators.ts';
import type { Tally } from './facet.ts';
import { counts, ends, numbers, ranks } from './facets.ts';
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

const emptyTally = (name: AccumulatorName): Tally => accumulatorOf(name).facet.start();

const merge = (name: AccumulatorName, into: Tally, from: Tally): void =>
  mergeTallies(accumulatorOf(name).facet, into, from);

function tallyOf(name: AccumulatorName, points: readonly Point[]): Tally {
  const tally = emptyTally(name);
  for (const { value, at, order } of points)
    addValue(accumulatorOf(name).facet, tally, value, { timestamp: at, order });
  return tally;
}

const answer = (name: AccumulatorName, tally: Tally) => accumulatorOf(name).finish(tally, wholeDay);

/** What contract says, in the simplest words, from the list of all values. */
function reference(name: (typeof names)[number], points: readonly Point[]): number | null {
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
  const mean = sum / numbers.length;
  const squares = numbers.reduce((all, n) => all + (n - mean) ** 2, 0);
  const rows: Record<(typeof names)[number], number | null> = {
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
    STDDEV: numbers.length < 2 ? null : Math.sqrt(squares / (numbers.length - 1)),
    MEDIAN: rankedAt(numbers, 0.5),
    P95: rankedAt(numbers, 0.95),
    'P99.9': rankedAt(numbers, 0.999),
    MODE: modeOf(present),
  };
  return rows[name];
}

/** Between two ranks on a line. */
function rankedAt(numbers: readonly number[], share: number): number | null {
  const sorted = numbers.toSorted((a, b) => a - b);
  const rank = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]];
  return low === undefined || high === undefined ? null : low + (high - low) * (rank % 1);
}

/** The most frequent scalar as a number, of several the smallest; null for a text. */
function modeOf(present: readonly Point[]): number | null {
  const kinds = ['number', 'boolean', 'string'];
  const scalars = present.map((p) => p.value).filter((v) => kinds.includes(typeof v));
  const often = (v: Json) => scalars.filter((other) => other === v).length;
  const [best] = scalars.toSorted(
    (a, b) =>
      often(b) - often(a) ||
      kinds.indexOf(typeof a) - kinds.indexOf(typeof b) ||
      (a! < b! ? -1 : Number(a! > b!)),
  );
  return best === undefined || typeof best === 'string' ? null : Number(best);
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

const names = [...accumulatorNames, 'P95', 'P99.9'] as const;

describe.each(names)('interface 4.6, contract 38: %s', (name) => {
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

test('contract 38: more than 20,000 values of a bucket have quantiles within 0.5 %, and say so', () => {
  const count = 50_000;
  const list = Array.from({ length: count }, (_, i) => ((i * 7_919) % count) ** 2 - 1_000_000);
  const exact = list.toSorted((a, b) => a - b);
  const tally = ranks.start();
  for (const some of [list.slice(0, 15_000), list.slice(15_000)]) {
    const part = ranks.start();
    for (const one of some) addValue(ranks, part, one, { timestamp: 0 });
    mergeTallies(ranks, tally, part);
  }
  for (const percent of [0, 1, 5, 50, 95, 99.9, 100]) {
    const { finish, isApproximate } = accumulatorOf(`P${percent}`);
    const expected = exact[Math.round((percent / 100) * (count - 1))]!;
    expect(Math.abs(finish(tally, wholeDay)! / expected - 1)).toBeLessThan(0.0051);
    expect(isApproximate?.(tally)).toBe(true);
  }
  const few = ranks.start();
  for (const one of list.slice(0, 20_000)) addValue(ranks, few, one, { timestamp: 0 });
  expect(accumulatorOf('MEDIAN').isApproximate?.(few)).toBe(false);
});

test('contract 38: MODE of more than 10,000 different values is null, in any grouping', () => {
  const [one, other] = [counts.start(), counts.start()];
  for (let i = 0; i < 10_000; i++) addValue(counts, i % 2 ? one : other, i, { timestamp: 0 });
  for (const tally of [one, other]) addValue(counts, tally, 7, { timestamp: 0 });
  mergeTallies(counts, one, other);
  expect(answer('MODE', one)).toBe(7);
  addValue(counts, other, 'another', { timestamp: 0 });
  mergeTallies(counts, one, other);
  expect(answer('MODE', one)).toBeNull();
});

test('contract 38: names of quantiles are P0 to P100', () => {
  const named = ['p95', 'P99.9', 'P0', 'P100', 'P007', 'P100.1', 'P', 'P-1', 'median', 'none'];
  expect(named.map(accumulatorNamed)).toEqual([
    'P95',
    'P99.9',
    'P0',
    'P100',
    undefined,
    undefined,
    undefined,
    undefined,
    'MEDIAN',
    'LAST',
  ]);
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
