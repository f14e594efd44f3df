// Node rounds: who is asked, how often, and for whom nothing waits.
import { expect, test } from 'vitest';
import { NodeRounds, skipMs } from './node-fan-out.ts';

const node = (id: string) => ({ id, url: `http://${id}` });

function world(ids: readonly string[]) {
  const asked: { readonly id: string; readonly answer: PromiseWithResolvers<unknown> }[] = [];
  const timers = new Set<() => void>();
  const failures: unknown[] = [];
  const state = { now: 0, others: ids.map(node) };
  const rounds = new NodeRounds({
    askMsMax: 1_000,
    others: () => state.others,
    ask({ id }, request) {
      const answer = Promise.withResolvers<unknown>();
      asked.push({ id: id + request, answer });
      return answer.promise;
    },
    failed: (error) => void failures.push(error),
    clock: () => state.now,
    setTimer(task) {
      timers.add(task);
      return () => timers.delete(task);
    },
  });
  const turns = async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  return {
    asked,
    failures,
    rounds,
    state,
    timers,
    turns,
    names: () => asked.map(({ id }) => id),
    async answerAll() {
      for (const { answer } of asked) answer.resolve(null);
      await turns();
    },
    async passTime() {
      for (const late of [...timers]) late();
      await turns();
    },
  };
}

function watched(promise: Promise<void>) {
  const seen = { isDone: false };
  void promise.then(() => (seen.isDone = true));
  return seen;
}

test('each other node is asked, and all must have read', async () => {
  const { rounds, asked, names, turns } = world(['a', 'b']);
  const shared = watched(rounds.ask(''));
  expect(names()).toEqual(['a', 'b']);
  asked[0]?.answer.resolve(null);
  await turns();
  expect(shared.isDone).toBe(false);
  asked[1]?.answer.resolve(null);
  await turns();
  expect(shared.isDone).toBe(true);
});

test('what comes during a question shares the next one', async () => {
  const { rounds, names, answerAll, turns } = world(['a']);
  const first = watched(rounds.ask(''));
  const later = [watched(rounds.ask('')), watched(rounds.ask('')), watched(rounds.ask(''))];
  await turns();
  expect(names()).toEqual(['a']);
  await answerAll();
  expect(first.isDone).toBe(true);
  expect(later.map(({ isDone }) => isDone)).toEqual([false, false, false]);
  expect(names()).toEqual(['a', 'a']);
  await answerAll();
  expect(later.every(({ isDone }) => isDone)).toBe(true);
  expect(names()).toEqual(['a', 'a']);
});

test.each(['late', 'refused'])('a node that is %s is skipped for a time', async (how) => {
  const { rounds, asked, state, names, answerAll, passTime, turns, failures, timers } = world([
    'a',
    'b',
  ]);
  const shared = watched(rounds.ask(''));
  asked[1]?.answer.resolve(null);
  if (how === 'refused') asked[0]?.answer.reject(new Error('no'));
  else await passTime();
  await turns();
  expect(shared.isDone).toBe(true);
  expect(failures).toHaveLength(1);
  expect(rounds.skipped()).toBe(1);
  const again = watched(rounds.ask(''));
  expect(names()).toEqual(['a', 'b', 'b']);
  await answerAll();
  expect(again.isDone).toBe(true);
  state.now += skipMs;
  expect(rounds.skipped()).toBe(0);
  void rounds.ask('');
  expect(names()).toEqual(['a', 'b', 'b', 'a', 'b']);
  await answerAll();
  expect(timers.size).toBe(0);
});

test('a late answer ends the skipping of its node', async () => {
  const { rounds, asked, names, passTime, answerAll, turns } = world(['a']);
  const shared = watched(rounds.ask(''));
  await passTime();
  expect(shared.isDone).toBe(true);
  await rounds.ask('');
  expect(names()).toEqual(['a']);
  asked[0]?.answer.resolve(null);
  await turns();
  expect(rounds.skipped()).toBe(0);
  const again = watched(rounds.ask(''));
  expect(names()).toEqual(['a', 'a']);
  await answerAll();
  expect(again.isDone).toBe(true);
});

test('each request has its own rounds', async () => {
  const { rounds, names, answerAll, turns } = world(['a']);
  const first = watched(rounds.ask(' x'));
  const other = watched(rounds.ask(' y'));
  const again = watched(rounds.ask(' x'));
  await turns();
  expect(names()).toEqual(['a x', 'a y']);
  await answerAll();
  expect([first.isDone, other.isDone, again.isDone]).toEqual([true, true, false]);
  await answerAll();
  expect(again.isDone).toBe(true);
  expect(names()).toEqual(['a x', 'a y', 'a x']);
});

test('without others nothing is asked', async () => {
  const { rounds, names } = world([]);
  await rounds.ask('');
  expect(names()).toEqual([]);
});
