// Time ranges: the keys of a chart move and zoom it, and never beyond now.
import { expect, test } from 'vitest';
import { changedRange } from './time-range.ts';

const hour = 3_600_000;
const now = 1_000 * hour;
const last = (hours: number) => ({ fromMs: now - hours * hour, toMs: now });

test.each([
  ['earlier', last(4), { fromMs: now - 6 * hour, toMs: now - 2 * hour }],
  ['later', last(4), last(4)],
  [
    'later',
    { fromMs: now - 8 * hour, toMs: now - 4 * hour },
    { fromMs: now - 6 * hour, toMs: now - 2 * hour },
  ],
  ['zoomIn', last(4), { fromMs: now - 3 * hour, toMs: now - hour }],
  ['zoomOut', last(4), last(8)],
  ['zoomIn', { fromMs: now - 10_000, toMs: now }, { fromMs: now - 10_000, toMs: now }],
  ['zoomOut', last(366 * 24), last(366 * 24)],
] as const)('%s of %o', (change, range, expected) => {
  expect(changedRange(range, change, now)).toEqual(expected);
});
