// A block that waits equals a slow reading of the whole history, on random samples and wake-ups.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BlockWait } from '../../model/rule.ts';
import { type BlockHold, heldBlock } from './condition-states.ts';

/** At each time a sample that says what the conditions are, or, without one, a look at the clock. */
type Event = readonly [time: number, isTrue: boolean | null];

/** Finds the first moment of each change in everything that happened since the last one. */
function slowly({ holdsForMs, clearsForMs }: BlockHold, events: readonly Event[]): boolean[] {
  const states: boolean[] = [];
  let state = false;
  let changed = -1;
  for (const [i, [now]] of events.entries()) {
    const since = events
      .slice(changed + 1, i + 1)
      .filter((event): event is readonly [number, boolean] => event[1] !== null);
    const agreeing = since.findLastIndex(([, isTrue]) => isTrue === state);
    const first = since[agreeing + 1];
    if (first !== undefined && now - first[0] >= (state ? clearsForMs : holdsForMs)) {
      state = !state;
      changed = i;
    }
    states.push(state);
  }
  return states;
}

function stepwise(hold: BlockHold, events: readonly Event[]): boolean[] {
  let state = false;
  let wait: BlockWait | null = null;
  return events.map(([now, isTrue]) => {
    if (isTrue === null) {
      if (wait !== null && wait.due <= now) [state, wait] = [!state, null];
    } else {
      const step = heldBlock(hold, state, wait, isTrue, { time: now, now });
      [state, wait] = [step.isTrue, step.wait];
    }
    return state;
  });
}

const events = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 60 }), fc.option(fc.boolean())), { maxLength: 40 })
  .map((list) => list.sort(([a], [b]) => a - b));
const duration = fc.constantFrom(0, 1, 5, 15);

test('any samples and durations', () => {
  fc.assert(
    fc.property(events, duration, duration, (list, holdsForMs, clearsForMs) => {
      const hold = { holdsForMs, clearsForMs, clearTest: undefined };
      expect(stepwise(hold, list)).toEqual(slowly(hold, list));
    }),
    { numRuns: 2_000 },
  );
});

test('samples received long after they were taken wait by their own times, or by the clock', () => {
  const hold = { holdsForMs: 15, clearsForMs: 0, clearTest: undefined };
  const first = heldBlock(hold, false, null, true, { time: 0, now: 1_000 });
  expect(first).toEqual({ isTrue: false, wait: { since: 0, due: 1_015 } });
  const early = { time: 14, now: 1_001 };
  expect(heldBlock(hold, false, first.wait, true, early)).toEqual(first);
  expect(heldBlock(hold, false, first.wait, true, { time: 15, now: 1_001 }).isTrue).toBe(true);
  expect(heldBlock(hold, false, first.wait, true, { time: 14, now: 1_015 }).isTrue).toBe(true);
});
