// Moving work: quiet while it is short, a line a minute when it is not, and other failures are not concerned.
import { expect, test } from 'vitest';
import { problem } from '../model/problem.ts';
import { MovingWork } from './events.ts';

function moving() {
  const told: string[] = [];
  let now = 0;
  const write = (level: string) => (_: unknown, message?: string) =>
    void told.push(`${now / 1_000} ${level}: ${message}`);
  const log = { debug: () => undefined, warn: write('warn') };
  const moves = new MovingWork(log, () => now);
  return {
    told,
    at(seconds: number, error: unknown): boolean {
      now = seconds * 1_000;
      return moves.explains('evaluating rules', error);
    },
  };
}

const moved = new Error('No node evaluates rules/42 at present', { cause: problem('deviceMoved') });

test('reliability 8: what fails while leases move, as in a planned restart, has no lines', () => {
  const { told, at } = moving();
  for (const seconds of [0, 1, 6, 29]) expect(at(seconds, moved)).toBe(true);
  // Another restart, an hour later.
  for (const seconds of [3_600, 3_610]) expect(at(seconds, problem('nodeUnreachable'))).toBe(true);
  expect(told).toEqual([]);
});

test('reliability 8: what lasts has a line a minute', () => {
  const { told, at } = moving();
  for (let seconds = 0; seconds < 200; seconds += 5) at(seconds, moved);
  const line = 'warn: waiting for another node for long';
  expect(told).toEqual([`30 ${line}`, `90 ${line}`, `150 ${line}`]);
});

test('other failures are not of that kind', () => {
  const { at } = moving();
  for (const error of [new Error('a fault'), problem('intakeFull'), 'text', undefined])
    expect(at(0, error)).toBe(false);
});
