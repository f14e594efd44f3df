// Contract 38: accumulators in the order of time, quantiles and MODE on every KPI and series endpoint, raw and hourly alike.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let meter: TestDevice;
let quiet: TestDevice;
let tagId: string;

const hour = 3_600_000;
const start = Date.UTC(2026, 2, 28, 23);
/** Two days of Zurich, the second of 23 hours. */
const interval = { from: '2026-03-28T23:00:00Z', to: '2026-03-30T22:00:00Z' };
const metric = { topic: 'default', dataKey: 'total', interval, timeZone: 'Europe/Zurich' };

/** By hours from the start: the meter answers 0 twice, goes back a little, and is replaced. */
const readings: readonly (readonly [hours: number, total: number])[] = [
  [-1, 1_000],
  [1, 1_010],
  [2, 0],
  [3, 0],
  [4, 1_030],
  [5, 1_029.9],
  [6, 1_040],
  [30, 1_100],
  [31, 5],
  [40, 25],
  [50, 125],
];

beforeAll(async () => {
  world = await startWorld();
  tagId = (await world.must('POST', '/v3/tags', { workspaceId: world.workspaceId, name: 'Meters' }))
    .id;
  meter = await world.device({ tags: [{ id: tagId }] });
  quiet = await world.device({ tags: [{ id: tagId }] });
  const rows = readings.map(([hours, total]) => ({
    deviceId: meter.id,
    timestamp: new Date(start + hours * hour).toISOString(),
    data: { total, on: hours < 5, state: hours === 6 ? 'heating' : 'idle' },
  }));
  // The later half first: the order of arrival does not count.
  for (const half of [rows.slice(5), rows.slice(0, 5)])
    await world.must('POST', '/v3/samples/bulk', half);
});

afterAll(() => world.close());

const sources = ['raw', 'aggregated/hourly'] as const;

async function kpi(accumulator: string, more: object = {}): Promise<Record<string, unknown>[]> {
  const path = (source: string) => `/v3/devices/${meter.id}/query/${source}/kpi`;
  const answers: Record<string, unknown>[] = [];
  for (const source of sources) {
    const answer = await world.must('POST', path(source), { ...metric, accumulator, ...more });
    const { deviceId: _, topic: __, dataKey: ___, ...rest } = answer;
    answers.push(rest);
  }
  return answers;
}

test.each([
  // 10 + 20 over the zeros + 10 from the old value on + 60, then the new meter: 5 + 20; what follows is later.
  ['INCREASE', {}, 125],
  ['INCREASE', { resets: 'ALL' }, 10 + 0 + 0 + 1_030 + 1_029.9 + 10.1 + 60 + 5 + 20],
  ['DELTA', {}, 25 - 1_000],
  ['RATE', { per: 'PT1H' }, 125 / 41],
  ['DURATION_TRUE', { dataKey: 'on' }, 5 * 3_600],
  ['TIME_IN_STATE', { dataKey: 'state', state: 'heating' }, 24 * 3_600],
  ['TIME_IN_STATE', { dataKey: 'state', state: 'heating', maxGap: 'PT6H' }, 6 * 3_600],
] as const)('%s with %o is the same raw and hourly', async (accumulator, more, expected) => {
  for (const answer of await kpi(accumulator, more)) {
    expect(answer['kpi']).toBeCloseTo(expected, 6);
    expect(answer['coverage']).toBeGreaterThan(0);
  }
});

test('a time-weighted average counts the values before and behind, and says what it covers', async () => {
  const body = { interval: { from: '2026-03-28T23:00:00Z', to: '2026-03-29T00:00:00Z' } };
  expect(await kpi('TIME_WEIGHTED_AVG', body)).toEqual([
    { kpi: 1_007.5, coverage: 1 },
    { kpi: 1_007.5, coverage: 1 },
  ]);
  const step = { ...body, interpolation: 'STEP' };
  expect(await kpi('INTEGRAL', { ...step, per: 'PT30M' })).toEqual([
    { kpi: 2_000, coverage: 1 },
    { kpi: 2_000, coverage: 1 },
  ]);
  expect(await kpi('INTEGRAL', { ...step, maxGap: 'PT90M' })).toEqual([
    { kpi: 500, coverage: 0.5 },
    { kpi: 500, coverage: 0.5 },
  ]);
  const none = { interval: { from: '2026-05-01', to: '2026-05-02' } };
  expect(await kpi('TIME_WEIGHTED_AVG', none)).toEqual([
    { kpi: null, coverage: 0 },
    { kpi: null, coverage: 0 },
  ]);
});

test('quantiles, STDDEV and MODE are the same raw and hourly, and texts are the value', async () => {
  const inside = readings.map(([, total]) => total).slice(1, -1);
  const sorted = inside.toSorted((a, b) => a - b);
  const mean = inside.reduce((sum, n) => sum + n, 0) / inside.length;
  const deviation = Math.sqrt(
    inside.reduce((sum, n) => sum + (n - mean) ** 2, 0) / (inside.length - 1),
  );
  const expected = { MEDIAN: sorted[4], P25: sorted[2], P100: 1_100, STDDEV: deviation, MODE: 0 };
  for (const [accumulator, number] of Object.entries(expected))
    for (const answer of await kpi(accumulator)) {
      expect(answer['kpi']).toBeCloseTo(number!, 9);
      expect(Object.keys(answer)).toEqual(['kpi']);
    }
  const text = { kpi: null, value: 'idle' };
  for (const accumulator of ['FIRST', 'LAST', 'MODE'])
    expect(await kpi(accumulator, { dataKey: 'state' })).toEqual([text, text]);
});

test('buckets of INCREASE add up to the whole on every endpoint of series', async () => {
  const body = { ...metric, accumulator: 'INCREASE', bucketInterval: 'P1D' };
  const days = { dataPoints: [40, 85], timestamps: [interval.from, '2026-03-29T22:00:00Z'] };
  const device = { deviceId: meter.id, topic: 'default', dataKey: 'total' };
  const none = { ...device, deviceId: quiet.id, dataPoints: [null, null], coverage: [0, 0] };
  const deviceIds = [meter.id, quiet.id];
  for (const source of sources) {
    const path = `query/${source}/time-series`;
    const one = await world.must('POST', `/v3/devices/${meter.id}/${path}`, body);
    expect(one).toMatchObject({ ...device, dataPoints: days.dataPoints });
    expect(one.coverage).toEqual([expect.closeTo(6 / 23, 9), expect.closeTo(17 / 24, 9)]);
    const batch = await world.must('POST', `/v3/devices/query/batch/${source}/time-series`, {
      ...body,
      deviceIds,
    });
    expect(batch).toMatchObject([one, none]);
    const tagged = await world.must('POST', `/v3/tags/${tagId}/${path}`, body);
    expect(tagged.content).toContainEqual(one);
    const many = await world.must('POST', '/v3/devices/query/batch/time-series', {
      series: deviceIds.map((deviceId) => ({
        ...{ deviceId, topic: 'default', dataKey: 'total' },
        accumulators: ['INCREASE', 'MAX', 'P50', 'MEDIAN', 'RATE'],
        per: 'PT1H',
      })),
      ...{ interval, bucketInterval: 'P1D', timeZone: 'Europe/Zurich' },
      source: source === 'raw' ? 'raw' : 'hourly',
    });
    expect(many[0].dataPoints).toMatchObject({ INCREASE: [40, 85], MAX: [1_040, 1_100] });
    expect(many[0].dataPoints.P50).toEqual(many[0].dataPoints.MEDIAN);
    expect(many[0].dataPoints.RATE[0]).toBeCloseTo(40 / 7, 9);
    expect(many[0].coverage.INCREASE).toEqual(one.coverage);
    expect(many[1].coverage.INCREASE).toEqual([0, 0]);
    const accumulated = await world.must(
      'POST',
      `/v3/tags/${tagId}/query/${source}/accumulated-kpi`,
      { ...metric, accumulator: 'INCREASE' },
    );
    expect(accumulated.kpi).toBe(125);
    const page = await world.must('POST', `/v3/devices/query/batch/${source}/kpi`, {
      ...metric,
      ...{ accumulator: 'INCREASE', deviceIds },
    });
    expect(page.content.map((item: { kpi: number }) => item.kpi)).toEqual([125, null]);
  }
  const older = await world.must('POST', `/v3/devices/${meter.id}/query/time-series/aggregation`, {
    data: { key: 'total', topic: 'default' },
    timestamp: interval,
    bucket: { interval: 'P1D', aggregation: 'INCREASE' },
    timeZone: 'Europe/Zurich',
  });
  expect(older.data.dataPoints).toEqual(days.dataPoints);
});

test.each([
  [{ accumulator: 'TIME_IN_STATE' }, 'state: is required for TIME_IN_STATE'],
  [{ accumulator: 'RATE', per: 'P1M' }, 'per: must not have months or years'],
  [{ accumulator: 'RATE', per: 'PT0S' }, 'per: '],
  [{ accumulator: 'INTEGRAL', maxGap: '1 day' }, 'maxGap: a duration must start with P'],
  [{ accumulator: 'INTEGRAL', interpolation: 'SPLINE' }, 'interpolation'],
  [{ accumulator: 'P101' }, 'Unknown accumulator P101'],
])('%o is a 400 that says what is wrong', async (more, message) => {
  const path = `/v3/devices/${meter.id}/query/raw/kpi`;
  const { status, body } = await world.call('POST', path, { ...metric, ...more });
  expect([status, body.message]).toEqual([400, expect.stringContaining(message)]);
});
