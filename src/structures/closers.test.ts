// Closers: reverse order, a time limit for each part, and every failure is reported.
import { expect, test } from 'vitest';
import { closeInOrder, createClosers } from './closers.ts';

test('review bug B2: a part that throws, rejects or hangs stops no other, and all failures are reported', async () => {
  const closed: string[] = [];
  const reported: string[] = [];
  const closers = createClosers({
    failed: (what) => void reported.push(what),
    isHarmless: (error) => String(error) === 'Error: harmless',
    limitMs: 20,
  });
  closers.push('first', () => closed.push('first'));
  closers.push('throwing', () => {
    throw new Error('thrown');
  });
  closers.push('hanging', () => new Promise(() => undefined));
  closers.push('harmless', async () => Promise.reject(new Error('harmless')));
  closers.push('last', async () => closed.push('last'));
  const outcome = await closers
    .closeAll()
    .catch((error: AggregateError) => error.errors.map(String));
  expect(outcome).toEqual(['Error: closing hanging took longer than 20 ms', 'Error: thrown']);
  expect(closed).toEqual(['last', 'first']);
  expect(reported).toEqual(['closing harmless', 'closing hanging', 'closing throwing']);
  await closers.closeAll();
  expect(closed).toEqual(['last', 'first']);
});

test.each([
  [[], 'nothing'],
  [['a'], 'Error: a'],
  [['a', 'b'], 'AggregateError: Error: a; Error: b'],
])('the failures %j in a fixed order', async (names, expected) => {
  const closed: string[] = [];
  const failing = names.map((name) => () => {
    throw new Error(name);
  });
  const outcome = await closeInOrder(...failing, async () => closed.push('last')).then(
    () => 'nothing',
    String,
  );
  expect(outcome).toBe(expected);
  expect(closed).toEqual(['last']);
});
