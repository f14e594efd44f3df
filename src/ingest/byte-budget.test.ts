// Byte budget: what is refused at each limit, and what is free again.
import { expect, test } from 'vitest';
import { createByteBudget } from './byte-budget.ts';

test('bytes are limited altogether and by owner, until they are released', () => {
  const budget = createByteBudget({ bytesMax: 100, ownerBytesMax: 60 });
  const [one, two, other] = [budget.open('a'), budget.open('a'), budget.open('b')];
  one.take(40);
  two.take(20);
  expect(() => two.take(1)).toThrow('Too many payloads');
  other.take(40);
  expect(() => budget.open('c').take(1)).toThrow('Too many payloads');
  one.release();
  one.release();
  two.take(40);
  expect(() => other.take(1)).toThrow('Too many payloads');
});
