// Contract 42: what is newest is never dated later than a day ahead, and each key has its last value.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
const future = '2036-01-01T00:00:00.000Z';

async function store(device: TestDevice, at: string, data: object, topic = 'default') {
  const body = [{ timestamp: at, topic, data, deviceId: device.id }];
  await world.must('POST', '/v3/samples/bulk', body);
}

async function latestOf(device: TestDevice, more: object = {}) {
  const body = { deviceIds: [device.id], ...more };
  return (await world.must('POST', '/v3/devices/query/latest', body)).content[0];
}

test('behaviour 2: a sample of 2036 is newest to nothing while there is another', async () => {
  const device = await world.device();
  await store(device, future, { t: 99 });
  const one = (await latestOf(device)).samples;
  expect(one).toEqual([{ topic: 'default', timestamp: future, data: { t: 99 }, future: true }]);
  const path = `/v3/devices/${device.id}/query/latest-sample`;
  expect(await world.must('GET', path)).toMatchObject({ data: { t: 99 }, future: true });
  const times = [ago(3), ago(2), ago(1)] as const;
  for (const [i, at] of times.entries()) await store(device, at, { t: 10 + i });
  expect((await latestOf(device)).samples).toEqual([
    { topic: 'default', timestamp: times[2], data: { t: 12 } },
  ]);
  const latest = await world.must('GET', path);
  expect(latest).toMatchObject({ data: { t: 12 }, timestamp: times[2] });
  expect(latest).not.toHaveProperty('future');
  expect(await world.must('GET', `${path}?topic=default`)).toMatchObject({ data: { t: 12 } });
  expect((await latestOf(device, { keys: ['t'] })).values).toEqual({
    t: { value: 12, timestamp: times[2], topic: 'default' },
  });
});

test('behaviour 2: other topics of the device keep theirs, also one with nothing else', async () => {
  const device = await world.device();
  const at = ago(1);
  await store(device, future, { t: 99 }, 'first');
  await store(device, at, { t: 1 }, 'second');
  expect((await latestOf(device)).samples).toEqual([
    { topic: 'first', timestamp: future, data: { t: 99 }, future: true },
    { topic: 'second', timestamp: at, data: { t: 1 } },
  ]);
  expect((await latestOf(device, { keys: ['t'] })).values).toEqual({
    t: { value: 1, timestamp: at, topic: 'second' },
  });
  const path = `/v3/devices/${device.id}/query/latest-sample`;
  expect(await world.must('GET', path)).toMatchObject({ data: { t: 1 } });
});

test('behaviour 4: each key has its last value that is not null, and the time of it', async () => {
  const device = await world.device();
  const times = [ago(60 * 24 * 400), ago(60 * 30), ago(50), ago(2), ago(1)] as const;
  await store(device, times[0], { serial: 'x1', nested: { deep: true } }, 'boot');
  await store(device, times[1], { battery: 90 });
  await store(device, times[2], { battery: 80, mode: 'eco' });
  await store(device, times[3], { t: 20, battery: null });
  await store(device, times[4], { t: 21 });
  const keys = ['battery', 't', 'mode', 'serial', 'nested.deep', 'none'];
  expect((await latestOf(device, { keys })).values).toEqual({
    battery: { value: 80, timestamp: times[2], topic: 'default' },
    t: { value: 21, timestamp: times[4], topic: 'default' },
    mode: { value: 'eco', timestamp: times[2], topic: 'default' },
    serial: { value: 'x1', timestamp: times[0], topic: 'boot' },
    'nested.deep': { value: true, timestamp: times[0], topic: 'boot' },
  });
  expect((await latestOf(device, { keys })).samples[0]).toMatchObject({ data: { t: 21 } });
  expect((await latestOf(device, { keys, topics: ['boot'] })).values).toMatchObject({
    serial: { value: 'x1' },
  });
  expect(await latestOf(device)).not.toHaveProperty('values');
});

test('behaviour 4: of several topics, the later value wins, wherever it is', async () => {
  const device = await world.device();
  const times = [ago(9), ago(6), ago(3), ago(1)] as const;
  await store(device, times[0], { battery: 1 }, 'first');
  await store(device, times[1], { battery: 2 }, 'second');
  await store(device, times[2], { other: 3 }, 'second');
  const values = async () => (await latestOf(device, { keys: ['battery'] })).values;
  expect(await values()).toEqual({ battery: { value: 2, timestamp: times[1], topic: 'second' } });
  await store(device, times[3], { battery: 4 }, 'first');
  expect(await values()).toEqual({ battery: { value: 4, timestamp: times[3], topic: 'first' } });
});
