// What is usual, for rules: each day is learned once, late samples do not replace it, and one workspace delays no other.
import { expect, test } from 'vitest';
import { dayMs } from '../../model/instant.ts';
import { type UsualDay, UsualDays, type UsualKey } from './usual-days.ts';

const dayOf = (at: number) => Math.floor(at / dayMs);

function started({ isPatient = false } = {}) {
  const learned: string[] = [];
  let ms = 0;
  const rested: (() => void)[] = [];
  const usual = new UsualDays(
    async ({ deviceId }, at): Promise<UsualDay> => {
      learned.push(`${deviceId} ${dayOf(at)}`);
      return { day: dayOf(at), dayOf, isOutside: () => false };
    },
    () => ms,
    () => new Promise<void>((resolve) => rested.push(resolve)),
    (error) => expect.fail(String(error)),
    isPatient,
  );
  return { usual, learned, rested, pass: (by: number) => (ms += by) };
}

const keyOf = (deviceId: string, workspaceId = 'w'): UsualKey => ({
  deviceId,
  workspaceId,
  topic: 'default',
  key: 't',
});

test('a day is learned once, also by samples that come together', async () => {
  const { usual, learned } = started();
  for (let sample = 0; sample < 5; sample++)
    expect((await usual.dayFor(keyOf('a'), sample * 1_000))?.day).toBe(0);
  await usual.dayFor(keyOf('a'), dayMs);
  expect(learned).toEqual(['a 0', 'a 1']);
});

test('a late sample is judged by its own day, which is not kept', async () => {
  const { usual, learned } = started();
  await usual.dayFor(keyOf('a'), 5 * dayMs);
  expect((await usual.dayFor(keyOf('a'), 3 * dayMs))?.day).toBe(3);
  await usual.dayFor(keyOf('a'), 5 * dayMs);
  expect(learned).toEqual(['a 5', 'a 3']);
});

test('a workspace that made many samples wait has its days learned behind them', async () => {
  const { usual, learned, rested, pass } = started();
  const fleet = Array.from({ length: 120 }, (_, i) => keyOf(`d${i}`));
  for (const one of fleet) await usual.dayFor(one, 0);
  expect(learned.filter((one) => one.endsWith(' 0')).length).toBeGreaterThanOrEqual(100);
  // The first of those that wait is learned at once, the others one after another.
  expect(await usual.dayFor(keyOf('d119'), 0)).toBeUndefined();
  // Another workspace waits for nothing.
  expect((await usual.dayFor(keyOf('other', 'v'), 0))?.day).toBe(0);
  for (let i = 0; i < 30; i++) {
    await expect.poll(() => rested.length).toBeGreaterThan(0);
    rested.shift()?.();
    if (new Set(learned).size === 121) break;
  }
  expect((await usual.dayFor(keyOf('d119'), 0))?.day).toBe(0);
  expect(learned.toSorted()).toEqual([...new Set(learned)].toSorted());
  // The next day those of the last one serve meanwhile, a week later nothing does.
  expect((await usual.dayFor(keyOf('d0'), dayMs))?.day).toBe(0);
  expect(await usual.dayFor(keyOf('d1'), 8 * dayMs)).toBeUndefined();
  pass(1_000);
  expect((await usual.dayFor(keyOf('d2'), dayMs))?.day).toBe(1);
});

test('a simulation waits for every day', async () => {
  const { usual } = started({ isPatient: true });
  for (let i = 0; i < 300; i++) expect(await usual.dayFor(keyOf(`d${i}`), 0)).toBeDefined();
});

test('the days of a large fleet make room for those of others', async () => {
  const { usual, learned } = started({ isPatient: true });
  await usual.dayFor(keyOf('small', 'v'), 0);
  for (let i = 0; i < 5_100; i++) await usual.dayFor(keyOf(`d${i}`), 0);
  learned.length = 0;
  await usual.dayFor(keyOf('small', 'v'), 0);
  expect(learned).toEqual([]);
  await usual.dayFor(keyOf('d0'), 0);
  expect(learned).toEqual(['d0 0']);
});
