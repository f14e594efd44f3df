// Document slots: the share of an organization, and the end of the time.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DocumentSlots } from './document-slots.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const caller = new AbortController().signal;
const busy = { status: 429, problem: 'documentsBusy' };

test('an organization has two documents at once, and others have theirs', async () => {
  const slots = new DocumentSlots();
  const works = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const running = works.map(({ promise }) => slots.run('a', caller, () => promise));
  await expect(slots.run('a', caller, async () => 'third')).rejects.toMatchObject(busy);
  expect(await slots.run('b', caller, async () => 'other')).toBe('other');
  works[0]?.resolve('first');
  expect(await running[0]).toBe('first');
  expect(await slots.run('a', caller, async () => 'next')).toBe('next');
  works[1]?.reject(new Error('broken'));
  await expect(running[1]).rejects.toThrow('broken');
  expect(await slots.run('a', caller, async () => 'after a failure')).toBe('after a failure');
});

test('after 20 seconds the caller is told, and the slot is free when the work has ended', async () => {
  const slots = new DocumentSlots();
  const works = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const signals: AbortSignal[] = [];
  const running = works.map(({ promise }) =>
    slots.run('a', caller, (signal) => {
      signals.push(signal);
      return promise;
    }),
  );
  const told = Promise.allSettled(running);
  await vi.advanceTimersByTimeAsync(20_000);
  for (const outcome of await told)
    expect(outcome).toMatchObject({ reason: { status: 503, problem: 'documentTimedOut' } });
  expect(signals.every(({ aborted }) => aborted)).toBe(true);
  await expect(slots.run('a', caller, async () => 'third')).rejects.toMatchObject(busy);
  works[0]?.resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect(await slots.run('a', caller, async () => 'next')).toBe('next');
});

test('a caller who goes away ends the work', async () => {
  const gone = new AbortController();
  const slots = new DocumentSlots();
  let seen: AbortSignal | undefined;
  const running = slots.run('a', gone.signal, (signal) => {
    seen = signal;
    return Promise.withResolvers<void>().promise;
  });
  gone.abort(new Error('gone'));
  await expect(running).rejects.toThrow('gone');
  expect(seen?.aborted).toBe(true);
});
