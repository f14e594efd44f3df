// Counting different texts: exact to the documented size, within the documented error beyond.
import { expect, test } from 'vitest';
import {
  addDistinct,
  copyDistinct,
  countDistinct,
  type DistinctSet,
  distinctExactMax,
  distinctHash,
  emptyDistinct,
  mergeDistinct,
} from './distinct-set.ts';

function setOf(start: number, end: number): DistinctSet {
  const set = emptyDistinct();
  for (let i = start; i < end; i++) addDistinct(set, `value ${i}`);
  return set;
}

test.each([0, 1, 11, 1_000, distinctExactMax])(
  '%i different texts are counted exactly, repeated or not',
  (size) => {
    const set = setOf(0, size);
    mergeDistinct(set, setOf(0, size));
    for (let i = 0; i < size; i += 7) addDistinct(set, `value ${i}`);
    expect(countDistinct(set)).toBe(size);
  },
);

test('beyond the exact size the count stays within four standard errors, at every size and however merged', () => {
  for (const size of [distinctExactMax + 1, 30_000, 50_000, 100_000, 400_000]) {
    const whole = setOf(0, size);
    const merged = setOf(0, Math.floor(size / 3));
    mergeDistinct(merged, setOf(Math.floor(size / 4), size));
    expect(countDistinct(merged)).toBe(countDistinct(whole));
    expect(Math.abs(countDistinct(whole) / size - 1)).toBeLessThan(4 * 0.0081);
  }
});

test('merging does not depend on which side is exact and which is a sketch, and leaves the source alone', () => {
  const large = setOf(0, 12_000);
  const small = setOf(11_000, 13_000);
  const smallBefore = countDistinct(small);
  const one = copyDistinct(large);
  mergeDistinct(one, small);
  const other = copyDistinct(small);
  mergeDistinct(other, large);
  expect(countDistinct(one)).toBe(countDistinct(other));
  expect(countDistinct(small)).toBe(smallBefore);
});

test('hashes are whole numbers of 53 bits, never 0, and short texts do not collide', () => {
  const seen = new Set<number>();
  for (let i = 0; i < 300_000; i++) seen.add(distinctHash(String(i / 8)));
  for (let i = 0; i < 300_000; i++) seen.add(distinctHash(`k${i}`));
  expect(seen.size).toBe(600_000);
  for (const hash of seen)
    if (!Number.isSafeInteger(hash) || hash < 1) throw new Error(`bad hash ${hash}`);
});
