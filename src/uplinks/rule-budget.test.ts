// The budget of samples that rules make from one uplink.
import { expect, test } from 'vitest';
import { RuleBudget } from './written-sample.ts';

test('review security 9: as many as the budget says, for each uplink of each organization', () => {
  const { take } = new RuleBudget(3);
  const taken = Array.from({ length: 5 }, () => take('o', 'c'));
  expect(taken).toEqual([true, true, true, false, false]);
  expect([take('o', 'd'), take('p', 'c')]).toEqual([true, true]);
});

test('review security 9: uplinks that still make samples stay counted when memory is full', () => {
  const { take } = new RuleBudget(2, 10);
  take('o', 'busy');
  take('o', 'busy');
  for (let n = 0; n < 100; n++) {
    take('o', `other ${n}`);
    expect(take('o', 'busy')).toBe(false);
  }
});
