// States over time: stretches of one value, from samples in any order.
import { expect, test } from 'vitest';
import { stretchesOf } from './states.ts';

const interval = { fromMs: 1_000, toMs: 11_000 };
const sample = (at: number, value: unknown) => ({ timestamp: new Date(at).toISOString(), value });
const shown = (samples: ReturnType<typeof sample>[]) =>
  stretchesOf(samples, interval).map(({ fromMs, toMs, value }) => [fromMs, toMs, value]);

test('contract 39: equal values are one stretch, and the last one holds until the end', () => {
  expect(shown([sample(8_000, false), sample(2_000, true), sample(5_000, true)])).toEqual([
    [2_000, 8_000, true],
    [8_000, 11_000, false],
  ]);
});

test('the newest value before the interval holds at its start', () => {
  expect(shown([sample(200, 'closed'), sample(900, 'open'), sample(4_000, 'closed')])).toEqual([
    [1_000, 4_000, 'open'],
    [4_000, 11_000, 'closed'],
  ]);
});

test('samples after the interval and without a value say nothing', () => {
  expect(shown([sample(11_000, 'open'), sample(3_000, null)])).toEqual([]);
});

test('very many stretches are those of 500 instants', () => {
  const many = Array.from({ length: 3_000 }, (_, n) => sample(1_000 + n * 3, n % 2 === 0));
  const stretches = stretchesOf(many, interval);
  expect(stretches.length).toBeLessThanOrEqual(500);
  expect(stretches[0]).toMatchObject({ fromMs: 1_000, value: true });
  expect(stretches.at(-1)?.toMs).toBe(11_000);
  for (const [at, { fromMs }] of stretches.entries())
    expect(fromMs).toBe(stretches[at - 1]?.toMs ?? 1_000);
});
