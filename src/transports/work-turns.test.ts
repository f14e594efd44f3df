// Work turns: whoever used less time comes first, each in its order, and a full line refuses.
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
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
  /** Uses the thread, as work that follows a piece does. */
  const use = (ms: number) => {
    now += ms;
  };
  return { turns, done, work, use, now: () => now };
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

test('security 4: turns are long while one organization is alone, and short while another uses the thread', async () => {
  const { turns, done, work, use } = started();
  const { turnMs, aloneTurnMs, aloneAfterMs } = workTurnLimits;
  /** The most pieces of a quarter of a millisecond that one turn of the event loop does. */
  const mostInOneTurn = async () => {
    await nextTurn();
    let left = 40;
    let most = 0;
    for (let i = left; i > 0; i--)
      void turns.slice('greedy', () => {
        use(0.25);
        left--;
      });
    while (left > 0) {
      const before = left;
      await nextTurn();
      most = Math.max(most, before - left);
    }
    return most;
  };
  expect(await mostInOneTurn()).toBe(aloneTurnMs / 0.25);
  await work('modest', 0.25);
  expect(done).toEqual(['modest']);
  expect(await mostInOneTurn()).toBe(turnMs / 0.25);
  use(aloneAfterMs);
  expect(await mostInOneTurn()).toBe(aloneTurnMs / 0.25);
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
  await nextTurn();
  turns.charge('a', 50);
  const waiting = Array.from({ length: workTurnLimits.tenantQueueMax }, () => work('a', 0));
  const refused = expect(work('a', 0)).rejects.toMatchObject({ problem: 'intakeFull' });
  expect(await Promise.all([work('b', 0), ...waiting])).toHaveLength(waiting.length + 1);
  await refused;
});

test('what follows a piece until it waits is measured, and takes of the same turn', async () => {
  const { turns, done, work, use, now } = started();
  expect(work('greedy', workTurnLimits.busyMs)).toBe('greedy');
  const sliced = async (name: string) => {
    await turns.wait('greedy');
    await Promise.resolve();
    use(workTurnLimits.busyMs);
    await Promise.resolve();
    done.push(name);
  };
  const first = sliced('first');
  const second = sliced('second');
  await nextTurn();
  expect(done).toEqual(['greedy', 'first']);
  await Promise.all([first, second]);
  expect(done).toEqual(['greedy', 'first', 'second']);
  expect(now()).toBe(3 * workTurnLimits.busyMs);
});

test('who used little does not wait for the lines of others, up to a limit', async () => {
  const { turns, done, work } = started();
  const all = Array.from({ length: 10 }, () => work('greedy', workTurnLimits.busyMs));
  expect(turns.size).toBe(9);
  expect(work('modest', 1)).toBe('modest');
  // Many who need little are much together: then they wait, and come before whoever used much.
  const many = Array.from({ length: 8 }, (_, i) => work(`light ${i}`, 1));
  const waiting = many.filter((one) => one instanceof Promise);
  expect(many.length - waiting.length).toBeGreaterThanOrEqual(1);
  expect(waiting.length).toBeGreaterThanOrEqual(4);
  await Promise.all(waiting);
  expect(done.filter((name) => name === 'greedy').length).toBeLessThanOrEqual(6);
  for (const one of all) await one;
});

test('who used much does not wait again after a while', () => {
  const { turns } = started();
  turns.charge('greedy', workTurnLimits.busyMs);
  expect(turns.wait('greedy')).toBeInstanceOf(Promise);
  const later = started();
  later.turns.charge('greedy', workTurnLimits.busyMs);
  later.use(20);
  later.turns.charge('other', workTurnLimits.busyMs);
  expect(later.turns.wait('greedy')).toBeUndefined();
});

interface Call {
  readonly organization: string;
  readonly ms: number;
  readonly follows: number;
}

const calls = fc.array(
  fc.record({
    organization: fc.constantFrom('a', 'b', 'c', 'd'),
    ms: fc.constantFrom(0, 0.2, 0.5, 1, 1.5),
    follows: fc.constantFrom(0, 0, 0.3, 1),
  }),
  { maxLength: 60 },
);

test('random work is done once, in the order of each organization, and never much of it in one turn', async () => {
  const largest = 2.5;
  await fc.assert(
    fc.asyncProperty(fc.array(calls, { minLength: 1, maxLength: 6 }), async (rounds) => {
      const { turns, use, now } = started();
      const begun = new Map<string, number[]>();
      let number = 0;
      const begin = async ({ organization, ms, follows }: Call, own: number) => {
        const result = turns.run(organization, () => {
          use(ms);
          begun.set(organization, [...(begun.get(organization) ?? []), own]);
        });
        if (!(result instanceof Promise)) return;
        await result;
        use(follows);
      };
      const all: Promise<void>[] = [];
      for (const round of rounds) {
        for (const call of round) all.push(begin(call, number++));
        const before = now();
        await nextTurn();
        // What the queue does in one turn; what was done at once came before.
        expect(now() - before).toBeLessThanOrEqual(workTurnLimits.busyMs + largest);
      }
      await Promise.all(all);
      expect(turns.size).toBe(0);
      const everything = [...begun.values()].flat();
      expect(everything).toHaveLength(number);
      for (const own of begun.values()) expect(own).toEqual(own.toSorted((one, two) => one - two));
    }),
  );
});

test('organizations with much work get equal time, however long their pieces are', async () => {
  const ms = fc.constantFrom(0.1, 0.5, 1, 1.9);
  await fc.assert(
    fc.asyncProperty(fc.array(ms, { minLength: 2, maxLength: 4 }), async (pieces) => {
      const { turns, use } = started();
      const used = pieces.map(() => 0);
      turns.charge('somebody', workTurnLimits.busyMs);
      for (const [i] of pieces.entries())
        turns.charge(`heavy ${i}`, workTurnLimits.lightUsedMs + 1);
      const all = pieces.flatMap((own, i) =>
        Array.from({ length: Math.ceil(60 / own) }, () =>
          turns.run(`heavy ${i}`, () => {
            use(own);
            used[i] = (used[i] ?? 0) + own;
          }),
        ),
      );
      // Until the first one has no more to do.
      while (Math.max(...used) < 40) await nextTurn();
      expect(Math.min(...used)).toBeGreaterThan(30);
      for (const one of all) await one;
    }),
    { numRuns: 20 },
  );
});
