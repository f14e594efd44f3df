// Gaps of a series: pauses between reports are joined, silences are not.
import { expect, test } from 'vitest';
import { withGaps } from './plot.ts';

const times = (count: number) => Array.from({ length: count }, (_, at) => at * 60);

test.each([
  { name: 'no value', values: [null, null], joined: [null, null] },
  { name: 'one value', values: [null, 1, null], joined: [null, 1, null] },
  {
    name: 'a device that reports in every third bucket',
    values: [1, null, null, 2, null, null, 3, null],
    joined: [1, undefined, undefined, 2, undefined, undefined, 3, null],
  },
  {
    name: 'a silence of a device that reports in every bucket',
    values: [1, 2, 3, null, null, null, 4, 5],
    joined: [1, 2, 3, null, null, null, 4, 5],
  },
  {
    name: 'one late report',
    values: [1, 2, 3, null, 4, 5],
    joined: [1, 2, 3, undefined, 4, 5],
  },
])('$name', ({ values, joined }) => {
  expect(withGaps(times(values.length), values)).toEqual(joined);
});

/** Values of a device at these minutes of `count` buckets of a minute. */
const at = (count: number, minutes: readonly number[]) =>
  Array.from({ length: count }, (_, minute) => (minutes.includes(minute) ? 1 : null));
/** The minutes that no line crosses. */
const silences = (minutes: readonly number[], silentAfterS?: number): number =>
  withGaps(times(400), at(400, minutes), silentAfterS)
    .slice(minutes[0], minutes.at(-1))
    .filter((value) => value === null).length;

test.each([
  ['twice per wake', [0, 1, 60, 61, 120, 121, 180, 181], undefined, 0],
  ['hourly and on change', [0, 3, 4, 5, 7, 60, 61, 62, 63, 64, 65, 66, 67, 68, 120], 3_600, 0],
  ['every minute, away for less than it may be', [0, 1, 2, 3, 4, 5, 6, 40, 41, 42], 3_600, 0],
  ['every minute, away for longer', [0, 1, 2, 3, 4, 5, 6, 140, 141, 142], 3_600, 133],
  ['less often than it counts as silent', [0, 100, 200, 300], 600, 0],
] as const)('console H2: a device that reports %s', (_, minutes, silentAfterS, expected) => {
  expect(silences(minutes, silentAfterS)).toBe(expected);
});
