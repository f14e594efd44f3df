// Series table: rows with a value, and their export in the zone that is shown.
import { expect, test } from 'vitest';
import { csvOf, ndjsonOf, tableOf } from './series-table.ts';

const timestamps = [
  '2026-11-22T12:00:00.000Z',
  '2026-11-22T13:00:00.000Z',
  '2026-11-22T14:00:00.000Z',
];
const series = (points: (number | null)[]) => ({
  deviceId: '02',
  topic: 'default',
  dataKey: 'a',
  timestamps,
  dataPoints: { AVG: points },
});
const table = tableOf([series([1, null, 3]), series([null, null, 0.5])], 'AVG', ['a', '=b, "c"']);

test('buckets without any value are not rows', () => {
  expect(table.rows.map(({ values }) => values)).toEqual([
    [1, null],
    [3, 0.5],
  ]);
});

test('CSV has times of the zone, empty cells and cells that are not formulas', () => {
  expect(csvOf(table, 'Europe/Zurich')).toBe(
    [
      `time,a,"'=b, ""c"""`,
      '2026-11-22T13:00:00+01:00,1,',
      '2026-11-22T15:00:00+01:00,3,0.5',
      '',
    ].join('\r\n'),
  );
});

test('NDJSON has a line for each row', () => {
  expect(ndjsonOf(table, 'UTC').split('\n')).toEqual([
    '{"time":"2026-11-22T12:00:00+00:00","a":1,"=b, \\"c\\"":null}',
    '{"time":"2026-11-22T14:00:00+00:00","a":3,"=b, \\"c\\"":0.5}',
    '',
  ]);
});
