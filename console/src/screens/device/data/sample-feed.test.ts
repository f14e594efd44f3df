// Sample feed: history and live samples joined without repetition or gap.
import { expect, test } from 'vitest';
import type { LiveSample } from '../../../api/stream.ts';
import { feedRows, newestByTopic, rowMatches } from './sample-feed.ts';

const sample = (second: number, data: Record<string, unknown>, topic = 'default'): LiveSample => ({
  deviceId: '02',
  topic,
  timestamp: new Date(second * 1_000).toISOString(),
  data,
});
const valuesOf = (rows: ReturnType<typeof feedRows>) => rows.map((row) => row.sample.data['a']);

test('a sample of both is there once, as a live one', () => {
  const rows = feedRows(
    [{ id: 1, sample: sample(3, { a: 3 }) }],
    [3, 2, 1].map((a) => sample(a, { a })),
  );
  expect(valuesOf(rows)).toEqual([3, 2, 1]);
  expect(rows.map(({ isLive }) => isLive)).toEqual([true, false, false]);
});

test('a history that is asked for again fills what was missed', () => {
  const live = [3, 1].map((a) => ({ id: a, sample: sample(a, { a }) }));
  expect(valuesOf(feedRows(live, [sample(2, { a: 2 }), sample(1, { a: 1 })]))).toEqual([3, 2, 1]);
});

test('rows have ids that do not repeat', () => {
  const rows = feedRows([], [sample(1, { a: 1 }), sample(1, { a: 1 })]);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(2);
});

test('the newest sample of each topic', () => {
  const rows = feedRows([{ id: 1, sample: sample(5, { a: 5 }) }], [sample(4, { a: 4 })]);
  const newest = newestByTopic(rows, [sample(3, { a: 3 }), sample(6, { a: 6 }, 'side')]);
  expect([...newest].map(([topic, { data }]) => [topic, data['a']])).toEqual([
    ['default', 5],
    ['side', 6],
  ]);
});

test.each([
  ['', true],
  ['TEMP', true],
  ['temp 21', true],
  ['temp 22', false],
  ['climate', true],
])('a filter "%s"', (words, isMatch) => {
  const [row] = feedRows([], [sample(1, { temperature: 21 }, 'climate')]);
  expect(row !== undefined && rowMatches(row, words)).toBe(isMatch);
});
