// Histogram: every value is in one bin.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { histogramOf } from './distribution.ts';

test('contract 39: every value is counted once, within the bins', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true })), (values) => {
      const found = histogramOf(values);
      if (values.length === 0) return found === undefined;
      const counted = found?.counts.reduce((sum, count) => sum + count, 0);
      return counted === values.length && (found?.counts.length ?? 0) <= 60;
    }),
  );
});

test('equal values are one bin around them', () => {
  expect(histogramOf([3, 3, 3])).toEqual({ from: 2.5, width: 1, counts: [3] });
});

test('100 even values have bins of twice the distance of the quartiles by the cube root', () => {
  const even = Array.from({ length: 100 }, (_, at) => at);
  const found = histogramOf(even);
  expect(found?.counts).toHaveLength(5);
  expect(found?.counts.every((count) => count >= 19 && count <= 21)).toBe(true);
});

test('what is not a number is left out', () => {
  expect(histogramOf([Number.NaN, Number.POSITIVE_INFINITY])).toBeUndefined();
});
