// Repetitions run once: within the window, while the first is under way, and after a start that read the journal.
import { expect, test } from 'vitest';
import { DuplicateFilter } from './duplicate-filter.ts';

const limits = { windowMs: 1_000, keysMax: 100 };

function filterAt() {
  const clock = { now: 10_000 };
  const runs: string[] = [];
  const filter = new DuplicateFilter(() => clock.now, limits);
  const once = (key: string, onlyDoubted?: boolean) =>
    filter.once(key, async () => void runs.push(key), 'org', onlyDoubted);
  return { clock, runs, filter, once };
}

test('the same key within the window is a repetition, and is not after it', async () => {
  const { clock, runs, once } = filterAt();
  expect(await once('a')).toEqual({ repeated: false, outcome: undefined });
  clock.now += 999;
  expect(await once('a')).toEqual({ repeated: true });
  clock.now += 1;
  expect((await once('a')).repeated).toBe(false);
  expect(runs).toEqual(['a', 'a']);
});

test('a sender that uses its keys again is only taken for repeating itself where it may not have heard of the first', async () => {
  const { clock, filter, runs, once } = filterAt();
  for (let i = 0; i < 3; i++) expect((await once('a', true)).repeated).toBe(false);
  expect((await once('a')).repeated).toBe(true);
  filter.doubt('a');
  expect((await once('a', true)).repeated).toBe(true);
  clock.now += 1_000;
  expect((await once('a', true)).repeated).toBe(false);
  // Doubted, and never stored: then it is not a repetition.
  filter.doubt('b');
  expect((await once('b', true)).repeated).toBe(false);
  expect(runs).toEqual(['a', 'a', 'a', 'a', 'b']);
});

test('reliability 6: a late original and its unmarked repetition are stored once, whichever is first', async () => {
  const { filter } = filterAt();
  const once = (key: string, onlyDoubted: boolean, isLate: boolean) =>
    filter.once(key, async () => undefined, 'org', onlyDoubted, isLate);
  for (const [key, lateFirst] of [
    ['a', true],
    ['b', false],
  ] as const) {
    filter.doubt(key);
    const [first, second] = [
      await once(key, !lateFirst, lateFirst),
      await once(key, lateFirst, !lateFirst),
    ];
    expect([first.repeated, second.repeated]).toEqual([false, true]);
    // The doubt is over: what has the key next is new.
    expect((await once(key, true, false)).repeated).toBe(false);
  }
});

test('a repetition that comes while the first is under way waits for it, and takes its place when it fails', async () => {
  const { filter } = filterAt();
  const first = Promise.withResolvers<string>();
  const order: string[] = [];
  const running = filter.once('a', () => first.promise, 'org');
  const second = filter.once('a', async () => void order.push('second ran'), 'org');
  const third = filter.once('a', async () => void order.push('third ran'), 'org');
  await Promise.resolve();
  expect(order).toEqual([]);
  first.reject(new Error('disk'));
  await expect(running).rejects.toThrow('disk');
  const outcomes = [await second, await third];
  expect(order).toEqual(['second ran']);
  expect(outcomes.map(({ repeated }) => repeated)).toEqual([false, true]);
});

test('a repetition that waits for work that succeeds is one', async () => {
  const { filter } = filterAt();
  const first = Promise.withResolvers<string>();
  const running = filter.once('a', () => first.promise, 'org');
  const second = filter.once('a', async () => 'never', 'org');
  first.resolve('stored');
  expect(await running).toEqual({ repeated: false, outcome: 'stored' });
  expect(await second).toEqual({ repeated: true });
});

test('keys read from the journal are known for the rest of their window', async () => {
  const { clock, filter, once } = filterAt();
  filter.remember('old', clock.now - 900);
  filter.remember('outdated', clock.now - 1_000);
  expect((await once('old')).repeated).toBe(true);
  expect((await once('outdated')).repeated).toBe(false);
});

test('however many keys there are, at most so many are kept, the newest ones', async () => {
  const { filter, once } = filterAt();
  for (let i = 0; i < 1_000; i++) await once(`key ${i}`);
  expect(filter.size).toBeLessThanOrEqual(limits.keysMax);
  for (let i = 960; i < 1_000; i++) expect((await once(`key ${i}`)).repeated).toBe(true);
  expect((await once('key 0')).repeated).toBe(false);
});

test('the window passes also when nothing else comes', async () => {
  const { clock, filter, once } = filterAt();
  await once('a');
  clock.now += 1_500;
  await once('b');
  clock.now += 1_500;
  await once('c');
  expect(filter.size).toBeLessThanOrEqual(2);
  expect((await once('a')).repeated).toBe(false);
});

test('review security 2: who has most keys forgets first', async () => {
  const { filter } = filterAt();
  const once = (owner: string, key: string) => filter.once(key, async () => undefined, owner);
  for (let i = 0; i < 20; i++) await once('quiet', `quiet ${i}`);
  for (let i = 0; i < 1_000; i++) await once('loud', `loud ${i}`);
  expect(filter.size).toBeLessThanOrEqual(limits.keysMax);
  for (let i = 0; i < 20; i++) expect((await once('quiet', `quiet ${i}`)).repeated).toBe(true);
  expect((await once('loud', 'loud 999')).repeated).toBe(true);
  expect((await once('loud', 'loud 0')).repeated).toBe(false);
});

test('keys of an organization that sends nothing more are forgotten after the window', async () => {
  const { clock, filter } = filterAt();
  for (let i = 0; i < 50; i++) await filter.once(`key ${i}`, async () => undefined, 'left');
  clock.now += 1_000;
  await filter.once('key', async () => undefined, 'other');
  expect(filter.size).toBe(1);
});
