// HTTP answers: the outcome of a delivery by status, headers and clock.
import { expect, test } from 'vitest';
import { outcomeOf } from './http-answer.ts';

const now = Date.UTC(2026, 0, 1, 12);

test.each([
  ['120', 120_000],
  ['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
  ['Thu, 01 Jan 2026 11:00:00 GMT', 0],
  ['soon', undefined],
  [undefined, undefined],
])('review bug B8: Retry-After %s is a pause by the clock that is given', (retryAfter, pause) => {
  const outcome = outcomeOf({ status: 503, retryAfter, text: '' }, () => now);
  expect(outcome).toMatchObject({ ok: false, retry: true });
  expect('retryAfterMs' in outcome ? outcome.retryAfterMs : undefined).toBe(pause);
});
