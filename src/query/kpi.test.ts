// KPIs and series: shapes, nulls, accumulators on mixed values, hourly widening, zones, working hours.
import { formatInstant } from '../model/instant.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { type FilledStore, filledStore } from '../../tests/oracle/filled-store.ts';
import type { Json } from '../model/json.ts';
import { Problem } from '../model/problem.ts';
import type { Sample } from '../model/sample.ts';
import { openTimeZones } from '../model/time-zone.ts';
import type { QueriedDevice, WorkspaceCalendar } from './accumulation.ts';
import { Calendars } from './calendars.ts';
import { DeviceQueries } from './device-queries.ts';
import { aggregationSeries } from './legacy-series.ts';
import { openPublicHolidays } from './public-holidays.ts';
import { seriesJson } from './unwritten-json.ts';

const plain: WorkspaceCalendar = {
  timezone: null,
  workingHours: null,
  holidays: null,
  holidayRegion: null,
};
const late = Date.parse('2027-01-01T00:00:00Z');
const openZone = openTimeZones();
const publicHolidays = openPublicHolidays();

const filled: FilledStore[] = [];

afterAll(async () => {
  for (const { close } of filled) await close();
});

async function queriesOf(samples: readonly Sample[]): Promise<DeviceQueries> {
  const made = await filledStore(samples);
  filled.push(made);
  const calendarOf = (workspaceId: string) => calendars.get(workspaceId) ?? plain;
  return new DeviceQueries(made.store, new Calendars(calendarOf, openZone, publicHolidays));
}

const calendars = new Map<string, WorkspaceCalendar>();

/** A device in a workspace of its own with the calendar. */
function device(id = 'd1', calendar = plain): QueriedDevice {
  const workspaceId = `w${calendars.size}`;
  calendars.set(workspaceId, calendar);
  return { id, workspaceId };
}
const sample = (time: string, value: Json, deviceId = 'd1', topic = 'default'): Sample => ({
  deviceId,
  topic,
  timestamp: Date.parse(time),
  data: { value },
});
const body = (accumulator: string, from: string, to: string) => ({
  topic: 'default',
  dataKey: 'value',
  accumulator,
  interval: { from, to },
});

async function problemOf(run: Promise<unknown>): Promise<Problem> {
  const error = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Problem) return error;
  throw new Error(`expected a refusal, got ${String(error)}`);
}

describe('interface 4.4: kpi', () => {
  const samples = [
    sample('2026-03-01T10:10:00Z', 4),
    sample('2026-03-01T10:20:00Z', true),
    sample('2026-03-01T10:30:00Z', 'open'),
    sample('2026-03-01T10:40:00Z', null),
    sample('2026-03-01T10:50:00Z', 1),
    sample('2026-03-01T11:00:00Z', 100),
    sample('2026-03-01T10:15:00Z', 50, 'd2'),
    sample('2026-03-01T10:15:00Z', 50, 'd1', 'other'),
  ];
  test.each([
    ['MIN', 1],
    ['MAX', 4],
    ['AVG', 2],
    ['SUM', 6],
    ['COUNT', 4],
    ['FIRST', 4],
    ['LAST', 1],
    ['NONE', 1],
    ['last', 1],
    ['DISTINCT_COUNT', 4],
    ['MATCHED_COUNT', 1],
    ['UNMATCHED_COUNT', 0],
    ['OCCUPANCY', 25],
  ])('%s of mixed values in [from, to) is %d', async (accumulator, kpi) => {
    const asked = body(accumulator, '2026-03-01T10:00:00Z', '2026-03-01T11:00:00Z');
    const answer = await (await queriesOf(samples)).kpis({
      devices: [device()],
      source: 'raw',
      body: asked,
      now: late,
    });
    expect(answer).toEqual([{ deviceId: 'd1', topic: 'default', dataKey: 'value', kpi }]);
  });

  test('contract 21: hourly kpis widen to whole hours', async () => {
    const asked = body('SUM', '2026-03-01T10:45:00Z', '2026-03-01T10:46:00Z');
    expect(
      (
        await (
          await queriesOf(samples)
        ).kpis({ devices: [device()], source: 'hours', body: asked, now: late })
      )[0]?.kpi,
    ).toBe(6);
    expect(
      (
        await (
          await queriesOf(samples)
        ).kpis({ devices: [device()], source: 'raw', body: asked, now: late })
      )[0]?.kpi,
    ).toBeNull();
  });

  test('contract: the accumulated kpi sums the kpis of the devices and leaves nulls out', async () => {
    const asked = body('MAX', '2026-03-01T10:00:00Z', '2026-03-01T11:00:00Z');
    const devices = [device('d1'), device('d2'), device('d3')];
    expect(
      await (await queriesOf(samples)).total({ devices, source: 'raw', body: asked, now: late }),
    ).toEqual({
      kpi: 54,
      topic: 'default',
      dataKey: 'value',
    });
    expect(
      (
        await (
          await queriesOf(samples)
        ).total({ devices: [device('d3')], source: 'raw', body: asked, now: late })
      ).kpi,
    ).toBeNull();
    const counted = { ...asked, accumulator: 'COUNT' };
    expect(
      (
        await (
          await queriesOf(samples)
        ).total({ devices: [device('d3')], source: 'raw', body: counted, now: late })
      ).kpi,
    ).toBe(0);
  });

  test.each([
    [{ accumulator: 'MEAN' }, '40033_UNKNOWN_ACCUMULATOR', 'MIN, MAX, AVG'],
    [
      { interval: { from: '2026-03-01T10:00:00Z', to: '2026-03-01T10:00:00Z' } },
      '40030_BAD_INTERVAL',
      'must be before',
    ],
    [
      { interval: { from: 'yesterday', to: '2026-03-01T10:00:00Z' } },
      '40035_BAD_BOUND',
      'Invalid interval.from yesterday',
    ],
    [{ timeZone: 'Mars/Olympus' }, '40034_UNKNOWN_TIME_ZONE', 'Mars/Olympus'],
    [{ topic: '*' }, '40001_INVALID_REQUEST', 'a single topic'],
  ])('%j is refused', async (change, code, text) => {
    const asked = { ...body('MIN', '2026-03-01T10:00:00Z', '2026-03-01T11:00:00Z'), ...change };
    const refused = await problemOf(
      (await queriesOf([])).kpis({ devices: [device()], source: 'raw', body: asked, now: late }),
    );
    expect([refused.status, refused.code, refused.message]).toEqual([
      400,
      code,
      expect.stringContaining(text),
    ]);
  });
});

describe('interface 4.4: time series', () => {
  const samples = ['00:30', '01:30', '01:45', '03:10'].map((time, i) =>
    sample(`2026-03-01T${time}:00Z`, i + 1),
  );

  test('contract: every bucket has a point, empty ones null, stamped with their start', async () => {
    const asked = {
      ...body('SUM', '2026-03-01T00:10:00Z', '2026-03-01T04:00:00Z'),
      bucketInterval: 'PT1H',
    };
    const series = await (await queriesOf(samples)).seriesOf(device(), {
      source: 'raw',
      body: asked,
      now: late,
    });
    expect(JSON.parse(seriesJson(series))).toEqual({
      deviceId: 'd1',
      topic: 'default',
      dataKey: 'value',
      dataPoints: [1, 5, null, 4],
      timestamps: ['00:10', '01:00', '02:00', '03:00'].map((time) => `2026-03-01T${time}:00.000Z`),
    });
  });

  test('contract 21: bucketInterval is PT1H when absent', async () => {
    const asked = {
      ...body('COUNT', '2026-03-01T00:00:00Z', '2026-03-01T04:00:00Z'),
      bucketInterval: null,
    };
    const series = await (await queriesOf(samples)).seriesOf(device(), {
      source: 'hours',
      body: asked,
      now: late,
    });
    expect(series.dataPoints).toEqual([1, 2, null, 1]);
  });

  test("contract: days are those of the request's zone, else the workspace's, else UTC", async () => {
    const asked = {
      ...body('COUNT', '2026-02-28T00:00:00Z', '2026-03-02T00:00:00Z'),
      bucketInterval: 'P1D',
    };
    const inNewYork = device('d1', { ...plain, timezone: 'America/New_York' });
    const stamps = async (of: QueriedDevice, timeZone: string | null) =>
      (
        await (
          await queriesOf(samples)
        ).seriesOf(of, { source: 'raw', body: { ...asked, timeZone }, now: late })
      ).starts.map((at) => formatInstant(at).slice(8, 13));
    expect(await stamps(device(), null)).toEqual(['28T00', '01T00']);
    expect(await stamps(inNewYork, null)).toEqual(['28T00', '28T05', '01T05']);
    expect(await stamps(inNewYork, 'Asia/Tokyo')).toEqual(['28T00', '28T15', '01T15']);
    expect(await stamps(device('d1', { ...plain, timezone: 'No/Where' }), null)).toEqual([
      '28T00',
      '01T00',
    ]);
  });

  test('contract 21: the older aggregation form takes its bounds in either order', async () => {
    const older = {
      data: { key: 'value', topic: 'default' },
      timestamp: { from: '2026-03-01T02:00:00Z', to: '2026-03-01T00:00:00Z' },
      bucket: { interval: 'PT1H', aggregation: 'AVG' },
    };
    expect(await aggregationSeries(device(), older, late, await queriesOf(samples))).toEqual({
      data: {
        dataPoints: [1, 2.5],
        timestamps: ['2026-03-01T00:00:00.000Z', '2026-03-01T01:00:00.000Z'],
      },
    });
  });
});

describe('interface 4.6: occupancy', () => {
  const occupied = (times: readonly string[]) =>
    times.map((time) => sample(`2026-03-02T${time}:00Z`, true));
  const kpi = async (
    samples: readonly Sample[],
    from: string,
    to: string,
    calendar = plain,
    now = late,
  ) =>
    (
      await (
        await queriesOf(samples)
      ).kpis({
        devices: [device('d1', calendar)],
        source: 'raw',
        body: body('OCCUPANCY', from, to),
        now,
      })
    )[0]?.kpi;
  const monday = ['2026-03-02T00:00:00Z', '2026-03-03T00:00:00Z'] as const;
  const officeHours = {
    enabled: true,
    days: {
      MONDAY: [
        { from: '08:00', to: '12:00' },
        { from: '13:00', to: '17:00' },
      ],
    },
  };

  test('slots of five minutes over those of the interval', async () => {
    const samples = [...occupied(['10:00', '10:04', '10:07']), sample('2026-03-02T10:20:00Z', 0)];
    expect(await kpi(samples, '2026-03-02T10:00:00Z', '2026-03-02T11:00:00Z')).toBeCloseTo(
      (2 / 12) * 100,
      12,
    );
    expect(await kpi([], '2026-03-02T10:00:00Z', '2026-03-02T11:00:00Z')).toBeNull();
  });

  test('slots that have not begun are not counted', async () => {
    const now = Date.parse('2026-03-02T10:12:00Z');
    expect(
      await kpi(occupied(['10:00']), '2026-03-02T10:00:00Z', '2026-03-02T11:00:00Z', plain, now),
    ).toBeCloseTo(100 / 3, 12);
    expect(
      await kpi(occupied(['10:00']), '2026-03-02T11:00:00Z', '2026-03-02T12:00:00Z', plain, now),
    ).toBeNull();
  });

  test('with working hours only slots within them count, in the zone of the workspace', async () => {
    const calendar = { ...plain, timezone: 'Europe/Zurich', workingHours: officeHours };
    // 07:00Z is 08:00 in Zurich; 11:30Z is in the lunch break.
    const samples = occupied(['06:55', '07:00', '11:30', '12:00']);
    expect(await kpi(samples, ...monday, calendar)).toBeCloseTo((2 / 96) * 100, 12);
    const disabled = { ...calendar, workingHours: { ...officeHours, enabled: false } };
    expect(await kpi(samples, ...monday, disabled)).toBeCloseTo((4 / 288) * 100, 12);
  });

  test('a period may reach into the next day, or to 24:00', async () => {
    const night = {
      ...plain,
      workingHours: { enabled: true, days: { MONDAY: [{ from: '22:00', to: '06:00' }] } },
    };
    const evening = {
      ...plain,
      workingHours: { enabled: true, days: { MONDAY: [{ from: '22:00', to: '24:00' }] } },
    };
    const samples = [sample('2026-03-03T05:55:00Z', 1), sample('2026-03-02T23:55:00Z', 1)];
    expect(await kpi(samples, '2026-03-02T00:00:00Z', '2026-03-04T00:00:00Z', night)).toBeCloseTo(
      (2 / 96) * 100,
      12,
    );
    expect(await kpi(samples, '2026-03-02T00:00:00Z', '2026-03-04T00:00:00Z', evening)).toBeCloseTo(
      (1 / 24) * 100,
      12,
    );
  });

  test('public holidays do not count, listed or of the region', async () => {
    const listed = { ...plain, holidays: [{ date: '2026-03-02', name: 'Own day' }] };
    expect(await kpi(occupied(['10:00']), ...monday, listed)).toBeNull();
    const christmas = ['2026-12-24T23:00:00Z', '2026-12-25T23:00:00Z'] as const;
    const region = { ...plain, timezone: 'Europe/Zurich', holidayRegion: 'CH-ZH' };
    expect(await kpi([sample('2026-12-25T10:00:00Z', 1)], ...christmas, region)).toBeNull();
    const unknown = { ...plain, holidayRegion: 'XX-YY' };
    expect(await kpi([sample('2026-12-25T10:00:00Z', 1)], ...christmas, unknown)).toBeCloseTo(
      (1 / 288) * 100,
      12,
    );
  });

  test('working hours over more than ten years are refused', async () => {
    const calendar = { ...plain, workingHours: officeHours };
    const refused = await problemOf(
      kpi([], '2000-01-01T00:00:00Z', '2026-01-01T00:00:00Z', calendar),
    );
    expect([refused.status, refused.message]).toEqual([400, expect.stringContaining('3660 days')]);
  });

  test('series count the slots of each bucket', async () => {
    const asked = {
      ...body('OCCUPANCY', '2026-03-02T10:30:00Z', '2026-03-02T12:00:00Z'),
      bucketInterval: 'PT1H',
    };
    const series = await (await queriesOf(occupied(['10:31', '11:00', '11:05']))).seriesOf(
      device(),
      { source: 'raw', body: asked, now: late },
    );
    expect(series.dataPoints[0]).toBeCloseTo((1 / 6) * 100, 12);
    expect(series.dataPoints[1]).toBeCloseTo((2 / 12) * 100, 12);
  });
});
