// Series of many devices: the limit of points, and the zone of each device's workspace.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatInstant, instantsJson } from '../model/instant.ts';
import { Problem } from '../model/problem.ts';
import { openTimeZones } from '../model/time-zone.ts';
import { Calendars } from './calendars.ts';
import { DeviceQueries, seriesPointsMax } from './device-queries.ts';
import { openPublicHolidays } from './public-holidays.ts';
import { packedSeries, packedSeriesJson, seriesJson, seriesListJson } from './unwritten-json.ts';

const zones: Readonly<Record<string, string>> = { zurich: 'Europe/Zurich', tokyo: 'Asia/Tokyo' };
// The port's answer for devices without samples.
const empty: DeviceQueries['store'] = {
  buckets: async ({ deviceIds, edges }) =>
    deviceIds.map(() => new Array(edges.length - 1).fill(undefined)),
  async *values() {},
};
const calendars = new Calendars(
  (id) => ({
    timezone: zones[id] ?? null,
    workingHours: null,
    holidays: null,
    holidayRegion: null,
  }),
  openTimeZones(),
  openPublicHolidays(),
);
const queries = new DeviceQueries(empty, calendars);
const body = (from: string, to: string, bucketInterval: string) => ({
  topic: 'default',
  dataKey: 'value',
  accumulator: 'AVG',
  interval: { from, to },
  bucketInterval,
});

test('a year of medians by day of many devices is read a few devices at a time', async () => {
  const perCall: Record<string, number> = {};
  const devices = Array.from({ length: 100 }, (_, i) => ({ id: `d${i}`, workspaceId: 'utc' }));
  for (const accumulator of ['AVG', 'MEDIAN', 'MODE']) {
    const buckets: typeof empty.buckets = async (request) => {
      perCall[accumulator] = Math.max(perCall[accumulator] ?? 0, request.deviceIds.length);
      return empty.buckets(request);
    };
    const asked = { ...body('2025-01-01T00:00:00Z', '2026-01-01T00:00:00Z', 'P1D'), accumulator };
    await new DeviceQueries({ ...empty, buckets }, calendars).series({
      devices,
      source: 'raw',
      body: asked,
      now: 0,
    });
  }
  expect(perCall).toEqual({ AVG: 100, MEDIAN: 6, MODE: 6 });
});

test('contract 38: accumulators in the order of time refuse more than 10 million values', async () => {
  const store = {
    ...empty,
    buckets: async () => [[{ count: 6_000_000 }]],
    values: () => {
      throw new Error('Nothing is read');
    },
  };
  const devices = ['utc', 'tokyo'].map((workspaceId) => ({ id: workspaceId, workspaceId }));
  const asked = {
    ...body('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', 'PT1H'),
    accumulator: 'RATE',
  };
  const one = devices.slice(0, 1);
  const query = { source: 'raw', body: asked, now: 0 } as const;
  await expect(
    new DeviceQueries(store, calendars).series({ ...query, devices: one }),
  ).rejects.toThrow('Nothing is read');
  const refused = new DeviceQueries(
    { ...store, buckets: async () => [[{ count: 6e6 }], [{ count: 6e6 }]] },
    calendars,
  ).series({ ...query, devices: [devices[0]!, devices[0]!] });
  await expect(refused).rejects.toMatchObject({
    code: '40084_TOO_MANY_VALUES',
    message: expect.stringContaining('12000000 values'),
  });
});

test('review behaviour 3: above the limit of points a list is refused, one device is not', async () => {
  const asked = body('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', 'PT10S');
  const devices = Array.from({ length: 29 }, (_, i) => ({ id: `d${i}`, workspaceId: 'utc' }));
  expect(29 * 8_640).toBeGreaterThan(seriesPointsMax);
  const refused = await queries
    .series({ devices, source: 'raw', body: asked, now: 0 })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Problem);
  expect(refused).toMatchObject({ status: 400, code: '40036_TOO_MANY_POINTS' });
  expect((refused as Problem).message).toContain('250560 points');
  expect(
    await queries.series({ devices: devices.slice(1), source: 'raw', body: asked, now: 0 }),
  ).toHaveLength(28);
});

test('contract 36: without a zone in the request, days are those of each device, in the order of the list', async () => {
  const asked = body('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z', 'P1D');
  const devices = ['tokyo', 'zurich', 'utc', 'tokyo'].map((workspaceId, i) => ({
    id: `d${i}`,
    workspaceId,
  }));
  const series = await queries.series({ devices, source: 'raw', body: asked, now: 0 });
  expect(
    series.map(({ deviceId, starts }) => [
      deviceId,
      starts.map((at) => formatInstant(at).slice(8, 13)),
    ]),
  ).toEqual([
    ['d0', ['01T00', '01T15']],
    ['d1', ['01T00', '01T23']],
    ['d2', ['01T00']],
    ['d3', ['01T00', '01T15']],
  ]);
});

const inAnyYear = { min: Date.UTC(-300), max: Date.UTC(12_000) };
const starts = fc.oneof(
  fc.array(fc.integer(inAnyYear)),
  // Buckets of zones with and without whole hours, over midnights and years.
  fc
    .record({
      from: fc.integer(inAnyYear),
      step: fc.constantFrom(1, 60_000, 900_000, 1_800_000, 3_600_000, 86_400_000),
      rest: fc.constantFrom(0, 1_800_000, 2_700_000, 1),
      count: fc.nat(60),
    })
    .map(({ from, step, rest, count }) =>
      Array.from({ length: count }, (_, i) => (Math.floor(from / step) + i) * step + rest),
    ),
);

test('contract 36: the JSON of series is that of their members, for any buckets and points', () => {
  const points = fc.array(fc.oneof(fc.double(), fc.integer(), fc.constant(null)));
  fc.assert(
    fc.property(starts, points, fc.string(), (times, dataPoints, dataKey) => {
      const timestamps = times.map(formatInstant);
      expect(instantsJson(times)).toBe(JSON.stringify(timestamps));
      const names = { deviceId: 'd1', topic: 'ö"', dataKey };
      const one = { ...names, dataPoints, starts: times };
      const shown = JSON.stringify({ ...names, dataPoints, timestamps });
      expect(seriesJson(one)).toBe(shown);
      expect(seriesListJson([one, one])).toBe(`[${shown},${shown}]`);
      expect(packedSeriesJson(packedSeries(one)!)).toBe(shown);
    }),
  );
});
