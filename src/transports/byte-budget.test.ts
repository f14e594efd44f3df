// Byte budget: what is refused at each limit, and what is free again.
import { expect, test } from 'vitest';
import { ByteBudget } from './byte-budget.ts';

test('bytes are limited altogether, until they are released', () => {
  const budget = new ByteBudget(100);
  const [one, other] = [budget.open('a'), budget.open('b')];
  one.take(70);
  other.take(30);
  expect(() => budget.open('c').take(1)).toThrow('Too many payloads');
  one.release();
  one.release();
  other.take(30);
});

test('review security 2: owners with much leave room for those with less', () => {
  const budget = new ByteBudget(100);
  const taken = (owner: string) => {
    let bytes = 0;
    try {
      for (const held = budget.open(owner); ; bytes++) held.take(1);
    } catch {
      return bytes;
    }
  };
  expect([taken('a'), taken('b'), taken('c')]).toEqual([75, 19, 5]);
});
