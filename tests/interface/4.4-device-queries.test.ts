// Interface 4.4 and 4.7 against a whole platform: samples, KPIs and series of one device.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkedFetch } from '../world/checked-fetch.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let device: TestDevice;

beforeAll(async () => {
  world = await startWorld();
  device = await world.device();
  for (let i = 0; i < 12; i++) {
    const minute = String(i * 10).padStart(3, '0');
    const timestamp = new Date(Date.parse('2026-03-01T10:00:00Z') + i * 600_000).toISOString();
    const data = {
      temperature: 20 + i,
      open: i % 3 === 0,
      label: `label ${i % 4}`,
      position: { lat: i },
      list: [{ t: i }, i % 2 === 0],
    };
    const stored = await world.capture(device, data, {
      timestamp,
      topic: i === 11 ? 'alarm' : 'default',
    });
    expect(stored.status, minute).toBe(201);
  }
});

afterAll(() => world.close());

const path = (rest: string) => `/v3/devices/${device.id}/query${rest}`;
const interval = { from: '2026-03-01T10:00:00Z', to: '2026-03-01T12:00:00Z' };
const common = { topic: 'default', dataKey: 'temperature', accumulator: 'AVG', interval };

test('interface 4.4: samples newest first, bounded by time, limit and skip', async () => {
  const all = await world.must('POST', path(''), {});
  expect(all).toHaveLength(11);
  expect(all[0]).toEqual({
    timestamp: '2026-03-01T11:40:00.000Z',
    deviceId: device.id,
    svcDeviceId: device.id,
    topic: 'default',
    data: {
      temperature: 30,
      open: false,
      label: 'label 2',
      position: { lat: 10 },
      list: [{ t: 10 }, true],
    },
  });
  const some = { topic: 'default', timestamp: { gt: '2026-03-01T10:20:00Z' }, limit: 2, skip: 1 };
  expect(await world.must('POST', path(''), some)).toEqual(all.slice(1, 3));
  expect(await world.must('GET', path('?topic=*&limit=1'))).toMatchObject([{ topic: 'alarm' }]);
  expect(await world.must('GET', path('/topics'))).toEqual(['alarm', 'default']);
  expect(await world.must('GET', path('/latest-sample'))).toMatchObject({ topic: 'alarm' });
  expect((await world.call('POST', path(''), { limit: 10_001 })).status).toBe(400);
});

describe.each(['raw', 'aggregated/hourly'])('interface 4.4: %s', (source) => {
  test.each([
    ['MIN', 'temperature', 20],
    ['MAX', 'temperature', 30],
    ['AVG', 'temperature', 25],
    ['SUM', 'temperature', 275],
    ['COUNT', 'label', 11],
    ['FIRST', 'temperature', 20],
    ['NONE', 'temperature', 30],
    ['DISTINCT_COUNT', 'label', 4],
    ['MATCHED_COUNT', 'open', 4],
    ['UNMATCHED_COUNT', 'open', 7],
    ['OCCUPANCY', 'open', (4 / 24) * 100],
    ['MAX', 'position.lat', 10],
    ['AVG', 'list.0.t', 5],
    ['MATCHED_COUNT', 'list.1', 6],
    ['MAX', 'list.2', null],
    ['MAX', 'nothing', null],
    ['COUNT', 'nothing', 0],
  ])('%s of %s is %d', async (accumulator, dataKey, kpi) => {
    const answer = await world.must('POST', path(`/${source}/kpi`), {
      ...common,
      accumulator,
      dataKey,
    });
    expect(answer).toEqual({ deviceId: device.id, topic: 'default', dataKey, kpi });
  });

  test('contract 38: LAST of a key with text has no kpi, and says its value', async () => {
    const asked = { ...common, accumulator: 'LAST', dataKey: 'label' };
    expect(await world.must('POST', path(`/${source}/kpi`), asked)).toEqual({
      deviceId: device.id,
      topic: 'default',
      dataKey: 'label',
      kpi: null,
      value: 'label 2',
    });
  });

  test('a series has one point per bucket, null where nothing is', async () => {
    const asked = {
      ...common,
      interval: { from: '2026-03-01T09:00:00Z', to: '2026-03-01T12:00:00Z' },
    };
    expect(
      await world.must('POST', path(`/${source}/time-series`), {
        ...asked,
        bucketInterval: 'PT1H',
      }),
    ).toEqual({
      deviceId: device.id,
      topic: 'default',
      dataKey: 'temperature',
      dataPoints: [null, 22.5, 28],
      timestamps: ['09', '10', '11'].map((hour) => `2026-03-01T${hour}:00:00.000Z`),
    });
    const days = { ...asked, bucketInterval: 'P1D', timeZone: 'Asia/Tokyo', accumulator: 'COUNT' };
    expect(await world.must('POST', path(`/${source}/time-series`), days)).toMatchObject({
      dataPoints: [11],
    });
  });
});

test.each(['raw', 'aggregated/hourly'])(
  'review behaviour 30: a series of %s reaches into arrays',
  async (source) => {
    const asked = { ...common, dataKey: 'list.0.t', accumulator: 'MAX', bucketInterval: 'PT1H' };
    expect(await world.must('POST', path(`/${source}/time-series`), asked)).toMatchObject({
      dataPoints: [5, 10],
    });
  },
);

test('interface 4.7: an hour is the least for hourly aggregates, and 10,000 buckets the most', async () => {
  const hourly = await world.call('POST', path('/aggregated/hourly/time-series'), {
    ...common,
    bucketInterval: 'PT30M',
  });
  expect([hourly.status, hourly.body.errorCode]).toEqual([400, '40031_BAD_BUCKET_INTERVAL']);
  const many = {
    ...common,
    interval: { from: '2026-01-01T00:00:00Z', to: '2026-03-01T00:00:00Z' },
    bucketInterval: 'PT5M',
  };
  const refused = await world.call('POST', path('/raw/time-series'), many);
  expect([refused.status, refused.body.errorCode]).toEqual([400, '40032_TOO_MANY_BUCKETS']);
});

test('contract 21: both older forms of series', async () => {
  const raw = {
    dataKey: 'open',
    topic: 'default',
    timestamp: { gte: interval.from, lte: '2026-03-01T10:10:00Z' },
  };
  expect(await world.must('POST', path('/time-series'), raw)).toEqual({
    dataPoints: [
      [true, '2026-03-01T10:00:00.000Z'],
      [false, '2026-03-01T10:10:00.000Z'],
    ],
    key: 'open',
  });
  const older = {
    data: { key: 'temperature', topic: 'default' },
    timestamp: { from: interval.to, to: interval.from },
    bucket: { interval: 'PT1H', aggregation: 'MAX' },
  };
  expect(
    (await world.must('POST', path('/time-series/aggregation'), older)).data.dataPoints,
  ).toEqual([25, 30]);
});

test('contract 35: exports', async () => {
  const csv = await world.must('GET', `/v3/devices/${device.id}/export?format=csv`);
  expect(csv.split('\r\n').slice(0, 2)).toEqual([
    'timestamp,deviceId,topic,temperature,open,label,position.lat,list',
    `2026-03-01T10:00:00.000Z,${device.id},default,20,true,label 0,0,"[{""t"":0},true]"`,
  ]);
});

test('interface 5: an unknown device is a 404, no credential a 401', async () => {
  expect((await world.call('POST', '/v3/devices/0200000000000000/query', {})).status).toBe(404);
  const answer = await checkedFetch(world.base, 'GET', path('/topics'), {});
  expect(answer.status).toBe(401);
});
