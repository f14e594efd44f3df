// Contract 38.1: calculated keys of device types, computed at intake and backfill.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

type Keys = readonly {
  readonly key: string;
  readonly expression: string;
  readonly topic?: string;
  readonly title?: string;
  readonly unit?: string;
}[];

async function deviceWith(calculatedKeys: Keys, script?: string): Promise<TestDevice> {
  const device = await world.device(script === undefined ? { schemas: {} } : { script });
  await world.must('PUT', `/v3/device-types/${device.deviceTypeId}`, { calculatedKeys });
  return device;
}

const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 10, minute)).toISOString();
const send = (device: TestDevice, minute: number, data: object) =>
  world.capture(device, data, { timestamp: at(minute) });

/** Data of the stored samples, oldest first. */
async function dataOf({ id }: TestDevice, topic = 'default'): Promise<JsonObject[]> {
  const body = { topic, limit: 10_000 };
  const { body: samples } = await world.call('POST', `/v3/devices/${id}/query`, body);
  return (samples as unknown as { data: JsonObject }[]).map(({ data }) => data).reverse();
}

test('they are computed from the data, and from each other in any order', async () => {
  const device = await deviceWith([
    { key: 'hot', expression: 'fahrenheit > 80' },
    { key: 'fahrenheit', expression: 'temperature * 9 / 5 + 32' },
    { key: 'nothing', expression: 'humidity + 1' },
  ]);
  expect((await send(device, 0, { temperature: 20 })).status).toBe(201);
  await send(device, 1, { temperature: 30, other: 'x' });
  expect(await dataOf(device)).toEqual([
    { temperature: 20, fahrenheit: 68, hot: false },
    { temperature: 30, other: 'x', fahrenheit: 86, hot: true },
  ]);
  const { body } = await world.call('POST', `/v3/devices/${device.id}/query/raw/kpi`, {
    topic: 'default',
    dataKey: 'fahrenheit',
    accumulator: 'MAX',
    interval: { from: at(0), to: at(59) },
  });
  expect(body).toMatchObject({ kpi: 86 });
});

test('samples of decoders have them, of their topic only', async () => {
  const script = `function consume(event) {
    emit("sample", { data: { a: event.data.a }, topic: "default" });
    emit("sample", { data: { a: event.data.a }, topic: "side" });
  }`;
  const device = await deviceWith([{ key: 'b', topic: 'side', expression: 'a * 2' }], script);
  await send(device, 0, { a: 4 });
  expect(await dataOf(device)).toEqual([{ a: 4 }]);
  expect(await dataOf(device, 'side')).toEqual([{ a: 4, b: 8 }]);
});

const history: Keys = [
  { key: 'mean', expression: 'avgOver(t, "PT10M")' },
  { key: 'step', expression: 't - prev(t)' },
  { key: 'humid', expression: 'last(rh, "PT5M")' },
  { key: 'total', expression: 'sumOver(step, "PT1H")' },
];
const readings: readonly (readonly [number, JsonObject])[] = [
  [0, { t: 10 }],
  [4, { t: 20 }],
  [5, { rh: 50 }],
  [9, { t: 60 }],
  [12, { t: 20 }],
];
const computed = [
  { t: 10, mean: 10 },
  { t: 20, mean: 15, step: 10, total: 10 },
  { rh: 50, mean: 15, humid: 50, total: 10 },
  { t: 60, mean: 30, step: 40, humid: 50, total: 50 },
  { t: 20, mean: 100 / 3, step: -40, total: 10 },
];

test('windows, last and previous values count what was sent before', async () => {
  const device = await deviceWith(history);
  for (const [minute, data] of readings) await send(device, minute, data);
  expect(await dataOf(device)).toEqual(computed);
});

test('a sample that is sent again is stored once, also when its window has moved', async () => {
  const device = await deviceWith(history);
  for (const [minute, data] of readings) await send(device, minute, data);
  for (const [minute, data] of readings) await send(device, minute, data);
  expect(await dataOf(device)).toEqual(computed);
  // The values that were sent again count once.
  await send(device, 13, { t: 40 });
  expect((await dataOf(device)).at(-1)).toEqual({ t: 40, mean: 35, step: 20, total: 30 });
});

test('backfills and bulk requests have them', async () => {
  const [one, bulk] = [await deviceWith(history), await deviceWith(history)];
  const samples = readings.map(([minute, data]) => ({ timestamp: at(minute), data }));
  await world.must('POST', `/v3/devices/${one.id}/backfill/bulk`, samples);
  const named = samples.map((sample) => ({ ...sample, deviceId: bulk.id }));
  await world.must('POST', '/v3/samples/bulk', named);
  expect(await dataOf(one)).toEqual(computed);
  expect(await dataOf(bulk)).toEqual(computed);
});

test('late samples see what was measured before them', async () => {
  const device = await deviceWith(history);
  for (const [minute, data] of readings.slice(1)) await send(device, minute, data);
  await send(device, 3, { t: 100 });
  await send(device, 0, { t: 10 });
  const found = await dataOf(device);
  expect(found[0]).toEqual({ t: 10, mean: 10 });
  expect(found[1]).toEqual({ t: 100, mean: 100 });
  await send(device, 13, { t: 40 });
  expect((await dataOf(device)).at(-1)).toMatchObject({ mean: (20 + 60 + 20 + 40) / 4 });
});

test('a value that the sample brings wins, with a note', async () => {
  const device = await deviceWith([{ key: 'b', expression: 'a * 2' }]);
  await send(device, 0, { a: 1, b: 7 });
  expect(await dataOf(device)).toEqual([{ a: 1, b: 7 }]);
  const path = `/v3/devices/${device.id}/processing-logs`;
  await expect
    .poll(async () => JSON.stringify((await world.call('GET', path)).body))
    .toContain('The calculated key b is in the sample already');
});

test('other devices of the workspace are read, and no others', async () => {
  const other = await world.device();
  await send(other, 0, { t: 5 });
  const device = await deviceWith([
    { key: 'difference', expression: `t - device("${other.id}", "t")` },
    { key: 'unknown', expression: 't - device("0200000000000000", "t")' },
  ]);
  await send(device, 1, { t: 7 });
  await send(other, 2, { t: 6 });
  await send(device, 3, { t: 7 });
  expect(await dataOf(device)).toEqual([
    { t: 7, difference: 2 },
    { t: 7, difference: 1 },
  ]);
});

test('the inferred schema says which keys are calculated', async () => {
  const device = await deviceWith([
    { key: 'f', expression: 't * 9 / 5 + 32', title: 'Fahrenheit', unit: '°F' },
    { key: 'later', topic: 'none', expression: 'x' },
  ]);
  await send(device, 0, { t: 1 });
  const { body } = await world.call('GET', `/v3/devices/${device.id}/infer-schema`);
  expect(body).toMatchObject({
    default: {
      properties: {
        t: { title: 't' },
        f: { title: 'Fahrenheit', unit: '°F', type: 'number', calculated: true },
      },
    },
    none: { properties: { later: { calculated: true } } },
  });
  expect(JSON.stringify(body)).not.toContain('"t":{"calculated"');
});

describe('POST /v3/device-types/:id/recalculate', () => {
  const ask = (device: TestDevice, more: object) =>
    world.call('POST', `/v3/device-types/${device.deviceTypeId}/recalculate`, {
      deviceIds: [device.id],
      dryRun: true,
      ...more,
    });

  test.each(['SAMPLES', 'UPLINKS'])(
    'finds nothing to change in what was computed: %s',
    async (source) => {
      const device = await deviceWith(history);
      for (const [minute, data] of readings) await send(device, minute, data);
      await expect
        .poll(async () => (await ask(device, { source })).body)
        .toMatchObject({ samples: 5, changed: source === 'SAMPLES' ? 0 : expect.any(Number) });
      const { status, body } = await ask(device, { source });
      expect(status).toBe(200);
      expect(body).toEqual({
        samples: 5,
        changed: 0,
        unchanged: 5,
        complete: true,
        differences: [],
      });
    },
  );

  test('tries keys on stored samples', async () => {
    const device = await deviceWith([{ key: 'old', expression: 't + 1' }]);
    for (const [minute, data] of readings) await send(device, minute, data);
    const calculatedKeys = [{ key: 'mean', expression: 'avgOver(t, "PT10M")' }];
    const body = { source: 'SAMPLES', from: at(4), calculatedKeys };
    expect((await ask(device, body)).body).toMatchObject({
      samples: 4,
      changed: 4,
      differences: [
        {
          deviceId: device.id,
          topic: 'default',
          timestamp: at(4),
          old: { t: 20, old: 21 },
          new: { t: 20, old: 21, mean: 15 },
        },
        { new: { rh: 50, mean: 15 } },
        { new: { t: 60, old: 61, mean: 30 } },
        { new: { t: 20, old: 21, mean: 100 / 3 } },
      ],
    });
    expect((await dataOf(device))[0]).toEqual({ t: 10, old: 11 });
    expect((await ask(device, { source: 'SAMPLES', dryRun: false })).status).toBe(400);
  });
});

describe('are refused with their place', () => {
  test.each<[string, Keys, object]>([
    [
      'an invalid formula',
      [{ key: 'a', expression: 'b + foo()' }],
      {
        errorCode: '40038_INVALID_EXPRESSION',
        message: 'Invalid calculatedKeys.0.expression at character 5: Unknown function foo',
        position: 4,
      },
    ],
    [
      'a cycle',
      [
        { key: 'a', expression: '1 + b' },
        { key: 'b', expression: '2 + prev(a)' },
      ],
      { errorCode: '40038_INVALID_EXPRESSION', message: expect.stringContaining('itself') },
    ],
    [
      'a formula over its own key',
      [{ key: 'a', expression: 'prev(a) + b' }],
      { errorCode: '40038_INVALID_EXPRESSION', position: 0 },
    ],
    [
      'a long window',
      [{ key: 'a', expression: 'avgOver(b, "PT25H")' }],
      { message: expect.stringContaining('at most PT24H') },
    ],
    [
      'a key twice',
      [
        { key: 'a', expression: '1' },
        { key: 'a', expression: '2' },
      ],
      { message: expect.stringContaining('occurs twice') },
    ],
    ['an invalid key', [{ key: 'a b', expression: '1' }], { errorCode: '40001_INVALID_REQUEST' }],
    [
      'too many',
      Array.from({ length: 51 }, (_, i) => ({ key: `k${i}`, expression: '1' })),
      { errorCode: '40001_INVALID_REQUEST' },
    ],
  ])('%s', async (_title, calculatedKeys, refusal) => {
    const draft = { name: 'T', organizationId: world.organizationId, calculatedKeys };
    const { status, body } = await world.call('POST', '/v3/device-types', draft);
    expect(status).toBe(400);
    expect(body).toMatchObject(refusal);
  });
});
