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
    expect((await ask(device, { ...body, dryRun: false })).status).toBe(400);
  });

  /** The completed operation, with its results. */
  async function completed(device: TestDevice, more: object) {
    const { status, body } = await ask(device, { dryRun: false, ...more });
    expect([status, body.type]).toEqual([202, 'DATA_RECALCULATE']);
    const read = () => world.must('GET', `/v3/operations/${body.id}`);
    await expect.poll(async () => (await read()).completed, { timeout: 60_000 }).not.toBeNull();
    return read();
  }
  const keysOf = (device: TestDevice, calculatedKeys: Keys) =>
    world.must('PUT', `/v3/device-types/${device.deviceTypeId}`, { calculatedKeys });

  test('writes what the dry run shows, once, and says so', async () => {
    const device = await deviceWith([{ key: 'mean', expression: 't' }]);
    for (const [minute, data] of readings) await send(device, minute, data);
    await keysOf(device, history);
    const preview = (await ask(device, { source: 'SAMPLES' })).body;
    const done = await completed(device, { source: 'SAMPLES' });
    expect(done).toMatchObject({ succeeded: true, canceled: false, actionsCompleted: 1 });
    expect(done.actions[0]).toMatchObject({
      type: 'UPDATE',
      data: { id: device.id, samples: preview.changed },
    });
    expect(await dataOf(device)).toEqual(computed);
    expect((await ask(device, { source: 'SAMPLES' })).body).toMatchObject({ changed: 0 });
    const path = `/v3/audit-logs?organizationId=${world.organizationId}&resourceId=${device.id}`;
    const { content } = await world.must('GET', path);
    const entry = content.find(({ resourceType }: never) => resourceType === 'SAMPLES');
    expect(entry).toMatchObject({ action: 'UPDATE' });
    expect(entry.changes).toContainEqual({ field: 'samples', after: preview.changed });
    // Hourly aggregates follow, and so does what comes next.
    const { body } = await world.call(
      'POST',
      `/v3/devices/${device.id}/query/aggregated/hourly/kpi`,
      {
        topic: 'default',
        dataKey: 'total',
        accumulator: 'MAX',
        interval: { from: at(0), to: at(59) },
      },
    );
    expect(body).toMatchObject({ kpi: 50 });
    await send(device, 13, { t: 40 });
    expect((await dataOf(device)).at(-1)).toEqual({ t: 40, mean: 35, step: 20, total: 30 });
  });

  test('without dryRun it is done for all devices of the type, in the range alone', async () => {
    const device = await deviceWith([]);
    for (const [minute, data] of readings) await send(device, minute, data);
    await keysOf(device, [{ key: 'f', expression: 't * 2' }]);
    const path = `/v3/device-types/${device.deviceTypeId}/recalculate`;
    const { status, body } = await world.call('POST', path, {
      source: 'SAMPLES',
      from: at(4),
      to: at(9),
    });
    expect(status).toBe(202);
    await expect
      .poll(async () => (await world.must('GET', `/v3/operations/${body.id}`)).completed)
      .not.toBeNull();
    expect(await dataOf(device)).toEqual([
      { t: 10 },
      { t: 20, f: 40 },
      { rh: 50 },
      { t: 60 },
      { t: 20 },
    ]);
  });

  const decoder = (factor: number) =>
    `function consume(event) {
      const count = (event.state.count || 0) + 1;
      emit('state', { count });
      emit('sample', { data: { v: event.data.raw * ${factor}, count, ...event.data.more }, topic: 'default' });
    }`;

  test('UPLINKS decodes kept raw uplinks again, in order and with state; corrected samples stay', async () => {
    const device = await deviceWith([{ key: 'step', expression: 'v - prev(v)' }], decoder(1));
    for (const [minute, raw] of [1, 2, 4, 8, 16].entries()) await send(device, minute, { raw });
    const other = { timestamp: at(2).replace(':00.000', ':30.000'), data: { v: 100 } };
    await world.must('POST', `/v3/devices/${device.id}/backfill/bulk`, [other]);
    await world.must('POST', `/v3/devices/${device.id}/samples/correct`, {
      corrections: [{ timestamp: at(4), replacement: { data: { v: -1 } } }],
    });
    const repair = (factor: number) =>
      world.must('PUT', `/v3/device-types/${device.deviceTypeId}`, {
        uplinkScript: { code: decoder(factor) },
      });
    await repair(10);
    const preview = (await ask(device, { source: 'UPLINKS' })).body;
    expect(preview).toMatchObject({ samples: 5, changed: 5 });
    expect(await completed(device, { source: 'UPLINKS' })).toMatchObject({ succeeded: true });
    const repaired = [
      { v: 10, count: 1 },
      { v: 20, count: 2, step: 10 },
      { v: 40, count: 3, step: 20 },
      { v: 100, step: 96 },
      { v: 80, count: 4, step: -20 },
      { v: -1 },
    ];
    expect(await dataOf(device)).toEqual(repaired);
    // A second repair finds what the first has made, and a third nothing to change.
    await repair(100);
    await completed(device, { source: 'UPLINKS' });
    expect(await dataOf(device)).toEqual([
      { v: 100, count: 1 },
      { v: 200, count: 2, step: 100 },
      { v: 400, count: 3, step: 200 },
      { v: 100, step: 96 },
      { v: 800, count: 4, step: 700 },
      { v: -1 },
    ]);
    const again = await completed(device, { source: 'UPLINKS' });
    expect(again.actions[0].data).toMatchObject({ samples: 0 });
  });

  test('a preview of UPLINKS counts an uplink that was sent twice once', async () => {
    const plain = `function consume(event) {
      emit('sample', { data: { v: event.data.raw }, topic: 'default' });
    }`;
    const device = await deviceWith([{ key: 'step', expression: 'v - prev(v)' }], plain);
    for (const minute of [0, 1, 0, 1]) await send(device, minute, { raw: minute + 1 });
    const stored = [{ v: 1 }, { v: 2, step: 1 }];
    expect(await dataOf(device)).toEqual(stored);
    const preview = (await ask(device, { source: 'UPLINKS' })).body;
    expect(preview).toMatchObject({ samples: 2, changed: 0, unchanged: 2, differences: [] });
    const done = await completed(device, { source: 'UPLINKS' });
    expect(done.actions[0].data).toMatchObject({ samples: 0 });
    expect(await dataOf(device)).toEqual(stored);
  });

  test('UPLINKS keeps the samples of uplinks that fail, and values that decoders emit', async () => {
    const device = await deviceWith([{ key: 'step', expression: '1' }], decoder(1));
    await send(device, 0, { raw: 1 });
    await send(device, 1, { raw: 2, more: { step: 7 } });
    await send(device, 2, { raw: 3 });
    const code = `function consume(event) {
      if (event.data.raw === 3) throw new Error('three');
      emit('sample', { data: { w: event.data.raw, ...event.data.more }, topic: 'default' });
    }`;
    await world.must('PUT', `/v3/device-types/${device.deviceTypeId}`, { uplinkScript: { code } });
    const done = await completed(device, { source: 'UPLINKS' });
    expect(done.actions[0].data).toMatchObject({
      samples: 2,
      reason: expect.stringContaining('1 raw uplink keeps its samples'),
    });
    expect(await dataOf(device)).toEqual([
      { w: 1, step: 1 },
      { w: 2, step: 7 },
      { v: 3, count: 3, step: 1 },
    ]);
  });

  test('UPLINKS moves samples in time, and a device without decoder fails', async () => {
    const emits = (shift: string) =>
      `function consume(event) {
        emit('sample', { data: { v: event.data.v }, topic: 'default', timestamp: new Date(event.data.at + ${shift}) });
      }`;
    const device = await deviceWith([], emits('0'));
    const times = Array.from({ length: 4 }, (_, n) => Date.parse(at(n * 10)));
    for (const [v, time] of times.entries()) await world.capture(device, { v, at: time });
    await world.must('PUT', `/v3/device-types/${device.deviceTypeId}`, {
      uplinkScript: { code: emits('3600000') },
    });
    await completed(device, { source: 'UPLINKS' });
    const body = { topic: 'default', limit: 100 };
    const found = await world.call('POST', `/v3/devices/${device.id}/query`, body);
    const samples = found.body as unknown as { timestamp: string; data: { v: number } }[];
    expect(samples.map(({ timestamp, data }) => [data.v, Date.parse(timestamp)]).reverse()).toEqual(
      times.map((time, v) => [v, time + 3_600_000]),
    );
    const plain = await deviceWith([]);
    await send(plain, 0, { a: 1 });
    const failed = await completed(plain, { source: 'UPLINKS' });
    expect(failed).toMatchObject({ succeeded: false, actionsFailed: 1 });
    expect(failed.actions[0].data.error).toContain('has no decoder');
  });

  test('devices of another type fail, and unknown ones are refused', async () => {
    const [device, stranger] = [await deviceWith([]), await world.device()];
    const done = await completed(device, { source: 'SAMPLES', deviceIds: [stranger.id] });
    expect(done.actions[0]).toMatchObject({ state: 'FAILED' });
    const unknown = { source: 'SAMPLES', dryRun: false, deviceIds: ['0200000000000000'] };
    expect((await ask(device, unknown)).status).toBe(404);
    const turned = { source: 'SAMPLES', dryRun: false, from: at(2), to: at(1) };
    expect((await ask(device, turned)).status).toBe(400);
  });

  test('clients of old see another type; a completed operation cannot be canceled', async () => {
    const device = await deviceWith([{ key: 'f', expression: 't' }]);
    await send(device, 0, { t: 1 });
    const { id } = await completed(device, { source: 'SAMPLES' });
    const cancel = await world.call('POST', `/v3/operations/${id}/cancel`);
    expect([cancel.status, cancel.body.canceled, cancel.body.succeeded]).toEqual([
      200,
      false,
      true,
    ]);
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
