// Given back bytes: their memory is freed at once, and that of others is left.
import { expect, test } from 'vitest';
import { giveBack } from './bytes.ts';

test('the whole memory of bytes is freed; memory that others use stays', () => {
  const whole = new Uint8Array(100_000);
  const shared = new Uint8Array(100_000).fill(7);
  const part = shared.subarray(0, 10);
  const ofThreads = new Uint8Array(new SharedArrayBuffer(10)).fill(7);
  for (const bytes of [whole, part, ofThreads, new Uint8Array(0)]) giveBack(bytes);
  expect(whole.buffer.detached).toBe(true);
  expect(whole).toHaveLength(0);
  expect(shared[99_999]).toBe(7);
  expect([...part, ...ofThreads]).toEqual(Array.from({ length: 20 }, () => 7));
  giveBack(whole);
});
