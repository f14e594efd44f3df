// Interface 4.5 against a whole platform: one number per device of a tag or list, and their sum.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let tagId: string;
const devices: TestDevice[] = [];
const interval = { from: '2026-03-01T10:00:00Z', to: '2026-03-01T11:00:00Z' };
const common = { topic: 'default', dataKey: 'energy', accumulator: 'SUM', interval };

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

const kpiOf = (device: TestDevice, kpi: number | null) => ({
  deviceId: device.id,
  topic: 'default',
  dataKey: 'energy',
  kpi,
});

test.each(['raw', 'aggregated/hourly'])(
  'interface 4.5: %s kpi of a tag is a page with one item per device',
  async (source) => {
    const page = await world.must('POST', `/v3/tags/${tagId}/query/${source}/kpi`, common);
    expect(page).toMatchObject({
      totalElements: 3,
      totalPages: 1,
      size: 20,
      number: 0,
      first: true,
      last: true,
    });
    const expected = [kpiOf(devices[0]!, 21), kpiOf(devices[1]!, 41), kpiOf(devices[2]!, null)];
    expect(page.content).toHaveLength(3);
    expect(page.content).toEqual(expect.arrayContaining(expected));
  },
);

test.each(['raw', 'aggregated/hourly'])(
  'interface 4.5: %s accumulated-kpi sums the devices',
  async (source) => {
    expect(
      await world.must('POST', `/v3/tags/${tagId}/query/${source}/accumulated-kpi`, common),
    ).toEqual({
      kpi: 62,
      tagId,
      topic: 'default',
      dataKey: 'energy',
    });
    const deviceIds = devices.map((device) => device.id);
    const listed = { ...common, deviceIds };
    expect(
      await world.must('POST', `/v3/devices/query/batch/${source}/accumulated-kpi`, listed),
    ).toEqual({
      kpi: 62,
      topic: 'default',
      dataKey: 'energy',
      deviceIds,
    });
  },
);

test.each(['', '/raw/kpi', '/aggregated/hourly/kpi'])('contract 21: batch%s', async (path) => {
  const deviceIds = [devices[1]!.id, devices[0]!.id];
  const page = await world.must('POST', `/v3/devices/query/batch${path}`, { ...common, deviceIds });
  expect(page.content).toEqual([kpiOf(devices[1]!, 41), kpiOf(devices[0]!, 21)]);
  // Contract 36: an unknown id is omitted.
  const unknown = { ...common, deviceIds: [...deviceIds, '0200000000000000'] };
  expect((await world.must('POST', `/v3/devices/query/batch${path}`, unknown)).content).toEqual(
    page.content,
  );
});

test('interface 4.5: an unknown tag is a 404', async () => {
  expect((await world.call('POST', '/v3/tags/7100000000000000/query/raw/kpi', common)).status).toBe(
    404,
  );
});
