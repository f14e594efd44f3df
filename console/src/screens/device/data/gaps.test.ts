// Gaps of a series: pauses between reports are joined, silences are not.
import { expect, test } from 'vitest';
import { withGaps } from './gaps.ts';

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
