// Contract 37: series of many devices, topics, keys and accumulators in one request.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AccessWorld, startAccessWorld } from '../access/access-world.ts';
import type { TestDevice } from '../world/world.ts';

const path = '/v3/devices/query/batch/time-series';
const interval = { from: '2026-03-01T10:00:00Z', to: '2026-03-01T12:00:00Z' };
const common = { interval, bucketInterval: 'PT1H' };
const timestamps = ['2026-03-01T10:00:00.000Z', '2026-03-01T11:00:00.000Z'];
const unknown = '0200000000000000';

let at: AccessWorld;
let first: TestDevice;
let last: TestDevice;
let elsewhere: TestDevice;
beforeAll(async () => {
  at = await startAccessWorld();
  const { world } = at;
  first = await world.device();
  last = await world.device();
  elsewhere = await world.device({ workspaceId: at.secondWorkspaceId });
  const samples = [first, last, elsewhere].flatMap(({ id }, d) =>
    [1, 2, 6].map((n) => ({
      deviceId: id,
      timestamp: `2026-03-01T10:0${n}:00Z`,
      data: { a: n * 10 ** d, open: n > 1, word: 'x' },
    })),
  );
  const side = { deviceId: first.id, topic: 'side', timestamp: '2026-03-01T11:30:00Z' };
  await world.must('POST', '/v3/samples/bulk', [...samples, { ...side, data: { a: -1 } }]);
});
afterAll(() => at.close());

const wanted = (deviceId: string, accumulators: string[], more: object = {}) => ({
  deviceId,
  topic: 'default',
  dataKey: 'a',
  accumulators,
  ...more,
});
const ask = (series: object[], more: object = {}) =>
  at.world.call('POST', path, { ...common, series, ...more });

describe.each(['raw', 'hourly', undefined])('source %s', (source) => {
  test('answers in the order of the request, several accumulators each', async () => {
    const { body } = await ask(
      [
        wanted(last.id, ['MAX', 'COUNT']),
        wanted(unknown, ['AVG']),
        wanted(first.id, ['avg', 'MIN', 'MAX', 'SUM', 'NONE', 'MATCHED_COUNT']),
        wanted(first.id, ['SUM'], { topic: 'side' }),
        wanted(first.id, ['MATCHED_COUNT', 'DISTINCT_COUNT'], { dataKey: 'open' }),
        wanted(elsewhere.id, ['MIN']),
        wanted(first.id, ['SUM', 'AVG']),
        wanted(first.id, ['AVG'], { dataKey: 'nothing' }),
      ],
      { source },
    );
    const a = { topic: 'default', dataKey: 'a', timestamps };
    expect(body).toEqual([
      { ...a, deviceId: last.id, dataPoints: { MAX: [60, null], COUNT: [3, null] } },
      {
        ...a,
        deviceId: first.id,
        dataPoints: {
          AVG: [3, null],
          MIN: [1, null],
          MAX: [6, null],
          SUM: [9, null],
          LAST: [6, null],
          MATCHED_COUNT: [0, null],
        },
      },
      { ...a, topic: 'side', deviceId: first.id, dataPoints: { SUM: [null, -1] } },
      {
        ...a,
        dataKey: 'open',
        deviceId: first.id,
        dataPoints: { MATCHED_COUNT: [2, null], DISTINCT_COUNT: [2, null] },
      },
      { ...a, deviceId: elsewhere.id, dataPoints: { MIN: [100, null] } },
      { ...a, deviceId: first.id, dataPoints: { SUM: [9, null], AVG: [3, null] } },
      { ...a, dataKey: 'nothing', deviceId: first.id, dataPoints: { AVG: [null, null] } },
    ]);
  });
});

test('equals the series of single devices, in the zone of the request', async () => {
  const zoned = { interval, bucketInterval: 'P1D', timeZone: 'Asia/Kathmandu' };
  const { body } = await ask([wanted(first.id, ['AVG', 'MAX'])], zoned);
  for (const accumulator of ['AVG', 'MAX']) {
    const single = await at.world.must('POST', `/v3/devices/${first.id}/query/raw/time-series`, {
      ...zoned,
      topic: 'default',
      dataKey: 'a',
      accumulator,
    });
    expect(body[0].dataPoints[accumulator]).toEqual(single.dataPoints);
    expect(body[0].timestamps).toEqual(single.timestamps);
  }
});

test('permission is checked for every device', async () => {
  const key = await at.key({
    permissions: { asset: ['read'] },
    workspaces: [{ id: at.secondWorkspaceId }],
  });
  const statusOf = async (ids: string[]) =>
    (await key.call('POST', path, { ...common, series: ids.map((id) => wanted(id, ['AVG'])) }))
      .status;
  expect(await statusOf([elsewhere.id])).toBe(200);
  expect(await statusOf([elsewhere.id, first.id])).toBe(403);
  expect(await statusOf([unknown])).toBe(404);
  const other = await at.otherOwner.call('POST', path, {
    ...common,
    series: [wanted(first.id, ['AVG'])],
  });
  expect(other.status).toBe(404);
});

describe('limits', () => {
  const many = (count: number, accumulators = ['AVG']) =>
    Array.from({ length: count }, (_, n) => wanted(first.id, accumulators, { dataKey: `k${n}` }));
  const hundredBuckets = {
    interval: { from: '2026-03-01T00:00:00Z', to: '2026-03-01T01:40:00Z' },
    bucketInterval: 'PT1M',
  };

  test('1,000 series with 100,000 points are answered', async () => {
    const { status, body } = await ask(many(1_000), hundredBuckets);
    expect([status, body.length, body[999].timestamps.length]).toEqual([200, 1_000, 100]);
    expect(body[999].dataKey).toBe('k999');
  });

  test.each([
    ['1,001 series', () => ask(many(1_001))],
    ['100,100 points', () => ask([...many(999), wanted(first.id, ['AVG', 'MIN'])], hundredBuckets)],
    ['no series', () => ask([])],
    ['no accumulator', () => ask([wanted(first.id, [])])],
    ['an unknown accumulator', () => ask([wanted(first.id, ['AVG', 'MEAN'])])],
    ['an unknown source', () => ask([wanted(first.id, ['AVG'])], { source: 'daily' })],
    ['an unknown zone', () => ask([wanted(first.id, ['AVG'])], { timeZone: 'Moon/Sea' })],
    ['all topics', () => ask([wanted(first.id, ['AVG'], { topic: '*' })])],
    [
      'minutes of hourly aggregates',
      () => ask(many(1), { source: 'hourly', bucketInterval: 'PT5M' }),
    ],
  ])('%s is a 400', async (_, asked) => {
    expect((await asked()).status).toBe(400);
  });
});
