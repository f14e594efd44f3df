// Contract 36 in read answers: last known metrics, declared topics, long series, filters by provider.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loraDevice } from '../world/lora-world.ts';
import { startWorld, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

test('review behaviour 17: battery level and signal quality remain until the next report, with their times', async () => {
  const device = await world.device();
  const metrics = async () => (await world.must('GET', `/v3/devices/${device.id}`)).uplinkMetrics;
  await world.capture(device, { batteryLevel: 80, sqi: 3 });
  const first = await metrics();
  expect(first).toMatchObject({
    batteryLevel: 80,
    batteryLevelStatus: 'GOOD',
    sqi: 3,
    signalQuality: 'GOOD',
  });
  expect([first.batteryTimestamp, first.sqiTimestamp]).toEqual([first.timestamp, first.timestamp]);
  for (const data of [{ a: 1 }, { a: 2 }]) await world.capture(device, data);
  const later = await metrics();
  expect(later.uplinkId).not.toBe(first.uplinkId);
  expect(later).toMatchObject({ batteryLevel: 80, batteryTimestamp: first.timestamp });
  expect(later).toMatchObject({ sqi: 3, sqiTimestamp: first.timestamp });
  await world.capture(device, { batteryLevel: 20 });
  const last = await metrics();
  expect(last).toMatchObject({
    batteryLevel: 20,
    batteryTimestamp: last.timestamp,
    sqiTimestamp: first.timestamp,
  });
});

test('contract 37: each metric remains until the next report, and positions of samples count', async () => {
  const device = await world.device();
  const metrics = async () => (await world.must('GET', `/v3/devices/${device.id}`)).uplinkMetrics;
  await world.capture(device, { latitude: 47.4, longitude: 8.5, port: 3 });
  const first = await metrics();
  expect(first).toMatchObject({ latitude: 47.4, longitude: 8.5, port: 3 });
  expect(first).not.toHaveProperty('knownAt');
  await world.capture(device, { temperature: 1 });
  await world.capture(device, { latitude: 91, longitude: 0 });
  await world.capture(device, { latitude: 1, longitude: '2', port: 4 });
  const { timestamp } = first;
  expect(await metrics()).toMatchObject({
    latitude: 47.4,
    longitude: 8.5,
    port: 4,
    knownAt: { latitude: timestamp, longitude: timestamp },
  });
  await world.capture(device, { latitude: -33.9, longitude: 151.2 });
  const moved = await metrics();
  expect(moved).toMatchObject({ latitude: -33.9, longitude: 151.2, port: 4 });
  expect(Object.keys(moved.knownAt)).toEqual(['port']);
});

test('review behaviour 12: declared topics come first, stored ones fill up to 50', async () => {
  const device = await world.device({
    schemas: {
      declared: JSON.stringify({
        type: 'object',
        properties: { level: { type: 'number', unit: 'm' } },
      }),
    },
  });
  const samples = Array.from({ length: 55 }, (_, i) => ({ topic: `topic${i}`, data: { a: i } }));
  await world.must('POST', `/v3/devices/${device.id}/backfill/bulk`, samples);
  const schemas = await world.must('GET', `/v3/devices/${device.id}/infer-schema`);
  expect(Object.keys(schemas)).toHaveLength(50);
  expect(Object.keys(schemas)[0]).toBe('declared');
  expect(schemas.declared.properties.level).toMatchObject({ unit: 'm', inferred: false });
});

test('review behaviour 14: the older series reads points that have the key, for any number of samples', async () => {
  const device = await world.device();
  // One point behind 20,000 samples without the key.
  const from = Date.parse('2026-01-01T00:00:00Z');
  const samples = Array.from({ length: 20_001 }, (_, i) => ({
    timestamp: new Date(from + i * 1_000).toISOString(),
    data: i === 0 ? { rare: 7 } : { often: i },
  }));
  await world.must('POST', `/v3/devices/${device.id}/backfill/bulk`, samples);
  const path = `/v3/devices/${device.id}/query/time-series`;
  const rare = await world.call('POST', path, { topic: 'default', dataKey: 'rare' });
  expect(rare.body).toEqual({ dataPoints: [[7, '2026-01-01T00:00:00.000Z']], key: 'rare' });
  const often = await world.call('POST', path, { topic: 'default', dataKey: 'often' });
  expect([often.body.dataPoints.length, often.headers.get('x-thinned')]).toEqual([20_000, null]);
  expect(often.body.dataPoints.at(-1)).toEqual([
    20_000,
    samples.at(-1)!.timestamp.replace('Z', '').slice(0, 23) + 'Z',
  ]);
});

test('review behaviour 19: assets are filtered by provider and packageName', async () => {
  const device = await world.device({ name: 'packed' });
  await world.must('PUT', `/v3/devices/${device.id}`, { properties: { packageName: 'm2m-100' } });
  const ids = async (filter: string) =>
    (await world.must('GET', `/v3/assets?workspaceId=${world.workspaceId}&${filter}`)).content.map(
      ({ id }: { id: string }) => id,
    );
  expect(await ids('packageName=m2m-100')).toEqual([device.id]);
  expect(await ids('packageName=m2m-200')).toEqual([]);
  expect(await ids('provider=nobody')).toEqual([]);
  const lora = [await loraDevice(world), await loraDevice(world, { type: 'LORIOT' })];
  expect(await ids('provider=ttn')).toEqual([lora[0]!.id]);
  expect(await ids('provider=loriot')).toEqual([lora[1]!.id]);
  expect(await ids('provider=loriot&packageName=m2m-100')).toEqual([]);
});
