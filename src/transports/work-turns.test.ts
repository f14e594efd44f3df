// Work turns: whoever used less time comes first, each in its order, and a full line refuses.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { WorkTurns, workTurnLimits } from './work-turns.ts';

/** Work that takes so many milliseconds of a clock that only work moves. */
function started() {
  let now = 0;
  const done: string[] = [];
  const turns = new WorkTurns(() => now);
  const work = (organization: string, ms: number, name = organization) =>
    turns.run(organization, () => {
      now += ms;
      done.push(name);
      return name;
    });
  return { turns, done, work };
}

test('work of a thread that has time is done at once, and returns its value', () => {
  const { done, work, turns } = started();
  expect([work('a', 1), work('b', 1)]).toEqual(['a', 'b']);
  expect(done).toEqual(['a', 'b']);
  expect(turns.wait('a')).toBeUndefined();
});

test('security 4: behind much work of one organization, that of another is next', async () => {
  const { done, work } = started();
  const all = Array.from({ length: 100 }, (_, i) => work('greedy', 5, `greedy ${i}`));
  await nextTurn();
  const doneBefore = done.length;
  const other = work('modest', 1);
  await other;
  expect(done.indexOf('modest') - doneBefore).toBeLessThanOrEqual(1);
  for (const one of all) await one;
  expect(done.filter((name) => name !== 'modest')).toEqual(
    Array.from({ length: 100 }, (_, i) => `greedy ${i}`),
  );
});

test('security 4: between pieces of work the event loop looks for other requests', async () => {
  const { done, work } = started();
  const all = Array.from({ length: 20 }, () => work('greedy', workTurnLimits.busyMs));
  let turnsOfLoop = 0;
  while (done.length < 20) {
    await nextTurn();
    turnsOfLoop++;
  }
  for (const one of all) await one;
  expect(turnsOfLoop).toBeGreaterThanOrEqual(18);
});

test('time that was used elsewhere counts', async () => {
  const { turns, done, work } = started();
  turns.charge('greedy', 50);
  const greedy = work('greedy', 1);
  const modest = work('modest', 1);
  await Promise.all([greedy, modest]);
  expect(done).toEqual(['modest', 'greedy']);
});

test('work that throws fails alone; a line that is full refuses', async () => {
  const { turns, work } = started();
  turns.charge('a', 50);
  const failing = turns.run('a', () => {
    throw new Error('no');
  });
  const next = work('a', 1);
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('a');
  turns.charge('a', 50);
  const waiting = Array.from({ length: workTurnLimits.tenantQueueMax }, () => work('a', 0));
  const refused = expect(work('a', 0)).rejects.toMatchObject({ problem: 'intakeFull' });
  expect(await Promise.all([work('b', 0), ...waiting])).toHaveLength(waiting.length + 1);
  await refused;
});
