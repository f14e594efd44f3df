// Contract 36: one time series per device of a list or tag; unknown ids of a list are omitted.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let tagId: string;
const devices: TestDevice[] = [];
const unknown = '0200000000000000';
const interval = { from: '2026-03-01T10:00:00Z', to: '2026-03-01T12:00:00Z' };
const common = {
  topic: 'default',
  dataKey: 'energy',
  accumulator: 'SUM',
  interval,
  bucketInterval: 'PT1H',
};
const timestamps = ['2026-03-01T10:00:00.000Z', '2026-03-01T11:00:00.000Z'];

beforeAll(async () => {
  world = await startWorld();
  tagId = (await world.must('POST', '/v3/tags', { workspaceId: world.workspaceId, name: 'floor' }))
    .id;
  for (let d = 0; d < 3; d++) {
    const device = await world.device({ tags: [{ id: tagId }] });
    devices.push(device);
    // The third device sends nothing.
    for (let i = 0; i < (d < 2 ? 2 : 0); i++) {
      await world.capture(
        device,
        { energy: 10 * (d + 1) + i },
        { timestamp: `2026-03-01T10:${10 + i}:00Z` },
      );
    }
  }
});
afterAll(() => world.close());

const series = (device: TestDevice, dataPoints: (number | null)[]) => ({
  deviceId: device.id,
  topic: 'default',
  dataKey: 'energy',
  dataPoints,
  timestamps,
});

describe.each(['raw', 'aggregated/hourly'])('review behaviour 3: %s time series', (source) => {
  test('of a list are a plain array in the order of deviceIds, unknown ids omitted', async () => {
    const deviceIds = [devices[2]!.id, unknown, devices[1]!.id, devices[0]!.id, devices[1]!.id];
    const path = `/v3/devices/query/batch/${source}/time-series`;
    expect(await world.must('POST', path, { ...common, deviceIds })).toEqual([
      series(devices[2]!, [null, null]),
      series(devices[1]!, [41, null]),
      series(devices[0]!, [21, null]),
    ]);
    const none = await world.call('POST', path, { ...common, deviceIds: [unknown] });
    expect([none.status, none.body.message]).toEqual([404, expect.stringContaining(unknown)]);
  });

  test('review behaviour 18: of a tag are a page with one series per device, in order of name', async () => {
    const path = `/v3/tags/${tagId}/query/${source}/time-series`;
    const page = await world.must('POST', path, common);
    expect(page).toMatchObject({
      totalElements: 3,
      totalPages: 1,
      size: 20,
      number: 0,
      first: true,
      last: true,
    });
    const expected = [
      series(devices[0]!, [21, null]),
      series(devices[1]!, [41, null]),
      series(devices[2]!, [null, null]),
    ];
    expect(page.content).toEqual(expected);
    const second = await world.must('POST', `${path}?page=1&size=2`, common);
    expect([second.content, second.last]).toEqual([[expected[2]], true]);
    expect(
      (await world.call('POST', `/v3/tags/7100000000000000/query/${source}/time-series`, common))
        .status,
    ).toBe(404);
  });

  test('review behaviour 3: a kpi batch leaves unknown ids out too, and is a 404 when all are unknown', async () => {
    const path = `/v3/devices/query/batch/${source}`;
    const asked = { ...common, deviceIds: [unknown, devices[1]!.id] };
    const page = await world.must('POST', `${path}/kpi`, asked);
    expect(page.content).toEqual([
      { deviceId: devices[1]!.id, topic: 'default', dataKey: 'energy', kpi: 41 },
    ]);
    expect(page.totalElements).toBe(1);
    const sum = await world.must('POST', `${path}/accumulated-kpi`, asked);
    expect(sum).toMatchObject({ kpi: 41, deviceIds: [devices[1]!.id] });
    for (const kind of ['kpi', 'accumulated-kpi']) {
      expect(
        (await world.call('POST', `${path}/${kind}`, { ...common, deviceIds: [unknown] })).status,
      ).toBe(404);
    }
  });

  test('review behaviour 3: a COUNT kind is 0 without any value, and null in a bucket without any', async () => {
    for (const accumulator of ['COUNT', 'DISTINCT_COUNT', 'MATCHED_COUNT', 'UNMATCHED_COUNT']) {
      const asked = { ...common, accumulator, deviceIds: [devices[2]!.id] };
      const page = await world.must('POST', `/v3/devices/query/batch/${source}/kpi`, asked);
      expect(page.content).toMatchObject([{ kpi: 0 }]);
      const many = await world.must('POST', `/v3/devices/query/batch/${source}/time-series`, asked);
      expect(many).toMatchObject([{ dataPoints: [null, null] }]);
    }
  });
});

test('review behaviour 4: an hourly series of a month with 31 days is answered, 10,001 buckets are not', async () => {
  const path = `/v3/devices/${devices[0]!.id}/query/aggregated/hourly/time-series`;
  const january = { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' };
  const month = await world.must('POST', path, { ...common, interval: january });
  expect([month.dataPoints.length, month.timestamps.length]).toEqual([744, 744]);
  const to = new Date(Date.parse(january.from) + 10_001 * 3_600_000).toISOString();
  const refused = await world.call('POST', path, {
    ...common,
    interval: { from: january.from, to },
  });
  expect([refused.status, refused.body.errorCode]).toEqual([400, '40032_TOO_MANY_BUCKETS']);
  expect(refused.body.message).toMatch(/10001 buckets.*the maximum is 10000.*at least PT2H/);
});
