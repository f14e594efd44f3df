// Turn end: what waits for a whole turn of the event loop is begun before work that yields to it.
import { expect, test } from 'vitest';
import { armTurnEnd, atTurnEnd } from './turns.ts';

test('tasks come before what was planned behind them, also those of the turn that has begun', async () => {
  const done: string[] = [];
  await new Promise<void>((resolve) => {
    armTurnEnd();
    setImmediate(() => {
      done.push('work');
      resolve();
    });
    // As a request that is read after the work of the turn was planned.
    process.nextTick(() => atTurnEnd(() => done.push('request')));
  });
  expect(done).toEqual(['request', 'work']);
});

test('a task of a task belongs to the next turn, and each is called once', async () => {
  const done: string[] = [];
  atTurnEnd(() => {
    done.push('first');
    atTurnEnd(() => done.push('second'));
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(done).toEqual(['first']);
  await new Promise((resolve) => setImmediate(resolve));
  expect(done).toEqual(['first', 'second']);
});
