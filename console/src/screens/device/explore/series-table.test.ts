// Series table: rows with a value, and their export in the zone that is shown.
import { describe, expect, test } from 'vitest';
import { bucketsFor } from '../../../../../src/dashboards/buckets.ts';
import { csvOf, evenBucket, ndjsonOf, tableOf } from './series-table.ts';

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

describe('review console M13: devices that report at other seconds share rows', () => {
  const hours = 24;
  const interval = { fromMs: 0, toMs: hours * 3_600_000 };
  const bucketS = 120;
  const count = (hours * 3_600) / bucketS;
  /** The first bucket begins with the interval, the others at even minutes. */
  const times = Array.from({ length: count }, (_, at) => (at === 0 ? 76 : at * bucketS));
  /** Buckets with a value, of a device that reports each `paceS` from `firstS` on. */
  const reports = (paceS: number, firstS: number, toS = hours * 3_600) => {
    const at = Array.from(
      { length: Math.ceil((toS - firstS) / paceS) },
      (_, n) => firstS + n * paceS,
    );
    const filled = new Set(at.map((second) => Math.floor(second / bucketS)));
    return times.map((_, bucket) => (filled.has(bucket) ? 20 : null));
  };
  const merged = (...all: readonly (number | null)[][]) =>
    times.map(
      (_, at) => all.map((values) => values[at]).find((one) => typeof one === 'number') ?? null,
    );

  test.each([
    ['each 5 minutes', [reports(300, 0), reports(300, 130)], 'PT5M'],
    ['each 15 minutes', [reports(900, 0), reports(900, 300), reports(900, 700)], 'PT15M'],
    [
      'each 15 minutes, twice half of the time',
      [0, 400].map((first) => merged(reports(900, first), reports(1_800, first + 310))),
      'PT15M',
    ],
    [
      'each 15 minutes, and often for the last hour',
      [0, 300].map((first) => merged(reports(900, first), reports(60, 23 * 3_600 + first))),
      'PT15M',
    ],
    ['hourly', [reports(3_600, 10), reports(3_600, 1_900)], 'PT1H'],
    ['in the same buckets: as they are', [reports(300, 0), reports(300, 20)], undefined],
    ['one of them much more often: as they are', [reports(60, 0), reports(3_600, 300)], undefined],
    ['a single line', [reports(900, 0)], undefined],
    ['too few to tell', [reports(30_000, 0), reports(30_000, 130)], undefined],
  ] as const)('%s', (_, columns, expected) => {
    expect(evenBucket(times, columns, bucketsFor(interval))?.iso).toBe(expected);
  });
});
