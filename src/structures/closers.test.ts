// Closers: reverse order, a time limit for each part, and every failure is reported.
import { expect, test } from 'vitest';
import { closeInOrder, Closers, StopTime } from './closers.ts';

test('review bug B2: a part that throws, rejects or hangs stops no other, and all failures are reported', async () => {
  const closed: string[] = [];
  const reported: string[] = [];
  const closers = new Closers({
    failed: (what) => void reported.push(what),
    isHarmless: (error) => String(error) === 'Error: harmless',
  });
  closers.push('first', () => closed.push('first'));
  closers.push('throwing', () => {
    throw new Error('thrown');
  });
  closers.push('hanging', () => new Promise(() => undefined));
  closers.push('harmless', async () => Promise.reject(new Error('harmless')));
  closers.push('last', async () => closed.push('last'));
  const outcome = await closers
    .closeAll(new StopTime(40))
    .catch((error: AggregateError) => error.errors.map(String));
  expect(outcome).toEqual([
    expect.stringMatching(
      /^Error: closing hanging took longer than \d+ ms, half of .* STOP_SECONDS$/,
    ),
    'Error: thrown',
  ]);
  expect(closed).toEqual(['last', 'first']);
  expect(reported).toEqual(['closing harmless', 'closing hanging', 'closing throwing']);
  await closers.closeAll(new StopTime(40));
  expect(closed).toEqual(['last', 'first']);
});

test('reliability 7: a part may take longer than others, and hanging ones leave time for the rest within one limit', async () => {
  const closers = new Closers({ failed: () => undefined, isHarmless: () => false });
  const closed: string[] = [];
  closers.push('store', () => closed.push('store'));
  for (let i = 0; i < 5; i++) closers.push(`hanging ${i}`, () => new Promise(() => undefined));
  const slow = Promise.withResolvers<void>();
  closers.push('slow', () => slow.promise.then(() => void closed.push('slow')));
  const since = performance.now();
  const all = closers.closeAll(new StopTime(400));
  // Not a fixed part of the time each: what the others do not need, one part has.
  setTimeout(() => slow.resolve(), 100);
  await expect(all).rejects.toMatchObject({ errors: { length: 5 } });
  expect(closed).toEqual(['slow', 'store']);
  expect(performance.now() - since).toBeLessThan(2_000);
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
