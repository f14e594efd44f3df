// Contract 38, delete and correct: what is removed is in no read, what takes its place is in all, and nobody is notified of old values again.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ActionSink, sinkEnvironment, startActionSink } from '../world/action-sink.ts';
import { type AlarmRules, alarmRules } from '../world/alarm-rules.ts';
import { openLive } from '../world/live-socket.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let sink: ActionSink;
let rules: AlarmRules;
beforeAll(async () => {
  sink = await startActionSink();
  world = await startWorld({ environment: sinkEnvironment });
  rules = alarmRules(world);
});
afterAll(async () => {
  await world.close();
  await sink.close();
});

const start = Date.parse('2026-05-04T10:00:00.000Z');
const at = (minutes: number) => new Date(start + minutes * 60_000).toISOString();
const hour = { from: at(30), to: at(90) };

/** One sample a minute for two hours, each second one in another topic too. */
async function filled(): Promise<TestDevice> {
  const device = await world.device();
  const samples = Array.from({ length: 120 }, (_, n) => ({
    deviceId: device.id,
    timestamp: at(n),
    data: { n, t: n / 10 },
  }));
  const others = samples
    .filter((_, n) => n % 2 === 0)
    .map((sample) => ({ ...sample, topic: 'side', data: { s: 1 } }));
  await world.must('POST', '/v3/samples/bulk', [...samples, ...others]);
  return device;
}

interface Found {
  readonly topic: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const stored = (device: TestDevice, more: object = {}): Promise<Found[]> =>
  world.must('POST', `/v3/devices/${device.id}/query`, { topic: '*', limit: 8_000, ...more });

const erase = (devices: readonly TestDevice[], more: object) =>
  world.must('POST', '/v3/samples/delete', {
    workspaceId: world.workspaceId,
    deviceIds: devices.map(({ id }) => id),
    ...more,
  });

async function completed({ id }: { readonly id: string }) {
  const read = () => world.must('GET', `/v3/operations/${id}`);
  await expect.poll(async () => (await read()).completed, { timeout: 60_000 }).not.toBeNull();
  return read();
}

/** Counts of each hour and topic, from samples and from hourly aggregates. */
async function hours(device: TestDevice): Promise<unknown[]> {
  const interval = { from: at(0), to: at(120) };
  const body = { topic: 'default', dataKey: 'n', accumulator: 'COUNT', interval };
  const path = `/v3/devices/${device.id}/query`;
  const points = async (source: string) =>
    (
      await world.must('POST', `${path}/${source}/time-series`, {
        ...body,
        bucketInterval: 'PT1H',
      })
    ).dataPoints;
  return [await points('raw'), await points('aggregated/hourly')];
}

test('a deletion is in no read when its operation is completed, and stands in the audit log', async () => {
  const device = await filled();
  const kept = await filled();
  const accepted = await erase([device], {
    ...hour,
    reason: 'probe lay in the sun',
    samplesMax: 90,
  });
  expect(accepted).toMatchObject({ type: 'DATA_DELETE', totalActionsRequired: 1 });
  const done = await completed(accepted);
  expect(done).toMatchObject({ succeeded: true, actionsCompleted: 1 });
  expect(done.actions[0]).toMatchObject({ type: 'DATA_DELETE', data: { samples: 90 } });
  const left = await stored(device);
  expect(left).toHaveLength(90);
  expect(left.filter(({ timestamp }) => timestamp >= hour.from && timestamp < hour.to)).toEqual([]);
  expect(await stored(kept)).toHaveLength(180);
  const path = `/v3/audit-logs?organizationId=${world.organizationId}&resourceId=${device.id}`;
  const { content } = await world.must('GET', path);
  const entry = content.find(({ resourceType }: never) => resourceType === 'SAMPLES');
  expect(entry).toMatchObject({ action: 'DELETE', resourceId: device.id });
  expect(Object.fromEntries(entry.changes.map((c: never) => [c['field'], c['after']]))).toEqual({
    ...hour,
    samples: 90,
    reason: 'probe lay in the sun',
  });
});

test('a dry run counts by topic and deletes nothing; samplesMax makes an old count harmless', async () => {
  const device = await filled();
  expect(await erase([device], { ...hour, dryRun: true })).toEqual({
    dryRun: true,
    devices: 1,
    samples: 90,
    byTopic: [
      { topic: 'default', samples: 60, oldest: at(30), newest: at(89) },
      { topic: 'side', samples: 30, oldest: at(30), newest: at(88) },
    ],
    exports: [],
  });
  const refused = await world.call('POST', '/v3/samples/delete', {
    workspaceId: world.workspaceId,
    deviceIds: [device.id],
    ...hour,
    samplesMax: 89,
  });
  expect([refused.status, refused.body.errorCode]).toEqual([409, '40995_MORE_SAMPLES']);
  expect(await stored(device)).toHaveLength(180);
});

test('the newest sample, topics and keys follow', async () => {
  const device = await filled();
  await completed(await erase([device], { from: at(60) }));
  const latest = await world.must('GET', `/v3/devices/${device.id}/query/latest-sample`);
  expect(latest).toMatchObject({ timestamp: at(59), data: { n: 59 } });
  await completed(await erase([device], { topics: ['side'] }));
  const schema = await world
    .must('POST', `/v3/devices/${device.id}/infer-schema`, {})
    .catch(() => '');
  expect(JSON.stringify(schema)).not.toContain('"s"');
  expect(await stored(device)).toHaveLength(60);
  await completed(await erase([device], { all: true }));
  expect(await stored(device)).toEqual([]);
});

test('without a limit it must be said that all go; what is sent again is stored again', async () => {
  const device = await filled();
  const body = { workspaceId: world.workspaceId, deviceIds: [device.id] };
  expect((await world.call('POST', '/v3/samples/delete', body)).status).toBe(400);
  await completed(await erase([device], { all: true }));
  const again = await world.must('POST', '/v3/samples/bulk', [
    { deviceId: device.id, timestamp: at(3), data: { n: 3, t: 0.3 } },
  ]);
  expect(again).toMatchObject({ stored: 1, duplicates: 0 });
  expect(await stored(device)).toHaveLength(1);
});

test('keys remove members of data, and a sample with nothing left goes', async () => {
  const device = await filled();
  const dryRun = await erase([device], { keys: ['t', 's'], dryRun: true });
  expect(dryRun).toMatchObject({ samples: 180 });
  await completed(await erase([device], { keys: ['t', 's'] }));
  const left = await stored(device);
  expect(left).toHaveLength(120);
  expect(left.at(-1)).toMatchObject({ topic: 'default', data: { n: 0 } });
  expect(new Set(left.map(({ data }) => Object.keys(data).join()))).toEqual(new Set(['n']));
});

test('hourly aggregates equal samples', async () => {
  const device = await filled();
  expect((await hours(device))[1]).toEqual([60, 60]);
  await completed(await erase([device], hour));
  expect(await hours(device)).toEqual([
    [30, 30],
    [30, 30],
  ]);
});

test('a resumed stream leaves removed samples out, and workspaces get one event', async () => {
  const device = await world.device();
  const url = `${world.base.replace('http', 'ws')}/v3/data-streams?xApiKey=${world.apiKey}`;
  const since = new Date().toISOString();
  for (let n = 0; n < 6; n++)
    await world.must('POST', '/v3/samples/bulk', [
      { deviceId: device.id, timestamp: at(n), data: { n } },
    ]);
  const live = await openLive(url);
  const { workspaceId } = world;
  await live.ask({
    type: 'subscribe',
    subscriptions: [{ workspaceId, kinds: ['SAMPLE', 'SAMPLES_CHANGED'] }],
  });
  await completed(await erase([device], { from: at(1), to: at(4) }));
  expect(await live.next()).toMatchObject({
    type: 'event',
    kind: 'SAMPLES_CHANGED',
    deviceId: device.id,
    topics: null,
    from: at(1),
    to: at(4),
    cause: 'DELETED',
  });
  const other = await world.device();
  await world.must('POST', '/v3/samples/bulk', [
    { deviceId: other.id, timestamp: at(0), data: { n: 0 } },
  ]);
  expect(await live.next()).toMatchObject({ type: 'sample_insert' });
  await completed(await erase([other], { all: true }));
  const { from, to } = await live.next();
  const interval = { from, to };
  expect(interval).toEqual({ from: '0000-01-01T00:00:00.000Z', to: '9999-12-31T23:59:59.999Z' });
  const count = { topic: 'default', dataKey: 'n', accumulator: 'COUNT', interval };
  const kpi = await world.must('POST', `/v3/devices/${other.id}/query/raw/kpi`, count);
  expect(kpi.kpi).toBe(0);
  live.close();
  const resumed = await openLive(url);
  await resumed.ask({ type: 'subscribe', since, subscriptions: [{ assetId: device.id }] });
  const seen: number[] = [];
  while (seen.length < 3) seen.push((await resumed.next())['sample'].data.n);
  expect(seen).toEqual([0, 4, 5]);
  resumed.close();
});

test('raw uplinks go too when asked for, and only by times', async () => {
  const device = await world.device();
  for (const n of [1, 2, 3]) await world.capture(device, { n });
  const uplinks = async () =>
    (await world.must('GET', `/v3/devices/${device.id}/uplinks`)).totalElements;
  expect(await uplinks()).toBe(3);
  await completed(await erase([device], { all: true }));
  expect(await uplinks()).toBe(3);
  const body = { workspaceId: world.workspaceId, deviceIds: [device.id], rawUplinks: true };
  for (const more of [{ topics: ['default'] }, { keys: ['n'] }, {}]) {
    const refused = await world.call('POST', '/v3/samples/delete', { ...body, ...more });
    expect(refused.status).toBe(400);
  }
  const asked = { all: true, rawUplinks: true };
  expect(await erase([device], { ...asked, dryRun: true })).toMatchObject({
    samples: 0,
    rawUplinks: 3,
  });
  const done = await completed(await erase([device], asked));
  expect(done.actions[0].data).toMatchObject({ samples: 0, rawUplinks: 3 });
  expect(await uplinks()).toBe(0);
  const path = `/v3/audit-logs?organizationId=${world.organizationId}&resourceId=${device.id}`;
  const { content } = await world.must('GET', path);
  expect(content[0].changes).toContainEqual({ field: 'rawUplinks', after: 3 });
});

test('a deleted or corrected newest value is the last value nowhere', async () => {
  const { hotRule, of, newest, output, send } = rules;
  const device = await world.device();
  await hotRule(device, [[30, await output()]]);
  await send(device, 20);
  await send(device, 90);
  expect(await of(device)).toHaveLength(1);
  const [hot] = await stored(device);
  const topic = 'default';
  const lastOf = async () => {
    const [one] = (
      await world.must('POST', '/v3/devices/query/latest', {
        deviceIds: [device.id],
        keys: ['temperature'],
      })
    ).content;
    const latest = await world.must('GET', `/v3/devices/${device.id}/query/latest-sample`);
    const kpi = await world.must('POST', `/v3/devices/${device.id}/query/aggregated/hourly/kpi`, {
      topic,
      dataKey: 'temperature',
      accumulator: 'LAST',
      interval: { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' },
    });
    return [
      one.values.temperature.value,
      one.samples[0].data.temperature,
      latest.data.temperature,
      kpi.kpi,
    ];
  };
  expect(await lastOf()).toEqual([90, 90, 90, 90]);
  await world.must('POST', `/v3/devices/${device.id}/samples/correct`, {
    corrections: [{ timestamp: hot?.timestamp, replacement: { data: { temperature: 25 } } }],
  });
  expect(await lastOf()).toEqual([25, 25, 25, 25]);
  await completed(await erase([device], { from: hot?.timestamp }));
  expect(await lastOf()).toEqual([20, 20, 20, 20]);
  await completed(await erase([device], { all: true }));
  const none = await world.call('GET', `/v3/devices/${device.id}/query/latest-sample`);
  expect(none.status).toBe(404);
  expect(await newest(device)).toMatchObject({ state: 'OPEN' });
});

test('rules compare with the value before a deleted or corrected last one', async () => {
  const { of, newest, output, send } = rules;
  const device = await world.device();
  const source = (id: string, dataTopic: string, dataKey: string, more: object) => ({
    id,
    inputIds: [device.id],
    dataTopic,
    dataKey,
    variableName: dataKey,
    valueType: 'NUMERICAL',
    ...more,
  });
  const operand = (dataSourceId: string) => ({ type: 'DATA_SOURCE', dataSourceId });
  const condition = { operandFirst: operand('s1'), operator: 'GT', operandSecond: operand('s2') };
  const actionId = await output();
  await world.must('POST', '/v3/rules', {
    name: 'Above its limit',
    workspaceId: world.workspaceId,
    inputs: [{ id: device.id, type: 'DEVICE' }],
    logic: {
      type: 'COMPARISON',
      dataSources: [
        source('s1', 'default', 'temperature', { lastSample: false, triggerOnUplink: true }),
        source('s2', 'limits', 'limit', { lastSample: true, triggerOnUplink: false }),
      ],
      logicBlocks: [{ conditions: [{ ...condition, order: 0 }], actionIds: [actionId] }],
    },
    actions: [{ id: actionId }],
  });
  const before = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const [low, middle, high] = [before(30), before(20), before(10)];
  const limits = [
    [low, 10],
    [middle, 80],
    [high, 100],
  ] as const;
  for (const [timestamp, limit] of limits)
    await world.must('POST', '/v3/samples/bulk', [
      { deviceId: device.id, topic: 'limits', timestamp, data: { limit } },
    ]);
  await send(device, 50, 60);
  expect(await of(device)).toEqual([]);
  await completed(await erase([device], { topics: ['limits'], from: high }));
  await send(device, 70);
  expect(await of(device)).toEqual([]);
  await world.must('POST', `/v3/devices/${device.id}/samples/correct`, {
    corrections: [{ topic: 'limits', timestamp: middle, replacement: { data: { limit: 20 } } }],
  });
  await send(device, 30);
  expect(await newest(device)).toMatchObject({ state: 'OPEN' });
});

describe('corrections', () => {
  const correct = (device: TestDevice, corrections: readonly object[], reason?: string) =>
    world.must('POST', `/v3/devices/${device.id}/samples/correct`, { corrections, reason });

  test('replace a sample, say who did it, and a device that repeats the old one stores nothing', async () => {
    const device = await filled();
    const replacement = { data: { n: 5, t: 21.5 } };
    expect(await correct(device, [{ timestamp: at(5), replacement }], 'unit')).toEqual({
      corrected: 1,
      rejected: [],
    });
    const only = { timestamp: { gte: at(5), lt: at(6) } };
    const [found, ...others] = await stored(device, only);
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      timestamp: at(5),
      data: { n: 5, t: 21.5 },
      meta: {
        svcCorrection: {
          reason: 'unit',
          replaced: { topic: 'default', timestamp: at(5), data: { n: 5, t: 0.5 } },
        },
      },
    });
    const repeated = [{ deviceId: device.id, timestamp: at(5), data: { n: 5, t: 0.5 } }];
    expect(await world.must('POST', '/v3/samples/bulk', repeated)).toMatchObject({
      stored: 0,
      duplicates: 1,
    });
    // A correction of the correction.
    await correct(device, [{ timestamp: at(5), replacement: { data: { n: 5, t: 22 } } }]);
    expect(await world.must('POST', '/v3/samples/bulk', repeated)).toMatchObject({ duplicates: 1 });
    expect(await stored(device, only)).toMatchObject([{ data: { t: 22 } }]);
  });

  test('are rejected one by one: without a sample, and with several at the instant', async () => {
    const device = await world.device();
    const deviceId = device.id;
    await world.must('POST', '/v3/samples/bulk', [
      { deviceId, timestamp: at(0), data: { a: 1 } },
      { deviceId, timestamp: at(0), data: { a: 2 } },
      { deviceId, timestamp: at(1), data: { a: 3 } },
    ]);
    const replacement = { data: { a: 9 } };
    const outcome = await correct(device, [
      { timestamp: at(7), replacement },
      { timestamp: at(0), replacement },
      { timestamp: at(0), data: { a: 2 }, replacement },
      { timestamp: at(1), replacement: null },
    ]);
    expect(outcome.corrected).toBe(2);
    expect(outcome.rejected.map((one: never) => [one['index'], one['errorCode']])).toEqual([
      [0, 'SAMPLE_NOT_FOUND'],
      [1, 'SAMPLE_AMBIGUOUS'],
    ]);
    const left = await stored(device);
    expect(left.map(({ data }) => data['a']).sort()).toEqual([1, 9]);
  });

  test('move a sample to another topic and time', async () => {
    const device = await filled();
    const replacement = { data: { n: 5 }, topic: 'other', timestamp: at(500) };
    await correct(device, [{ timestamp: at(5), replacement }]);
    expect(await stored(device, { topic: 'other' })).toMatchObject([
      { timestamp: at(500), topic: 'other', data: { n: 5 } },
    ]);
    const only = { topic: 'default', timestamp: { gte: at(5), lt: at(6) } };
    expect(await stored(device, only)).toEqual([]);
  });

  test('take epoch milliseconds, and say what is wrong with seconds', async () => {
    const device = await filled();
    const [from, to] = [Date.parse(at(5)), Date.parse(at(500))];
    await correct(device, [{ timestamp: from, replacement: { data: { n: 5 }, timestamp: to } }]);
    expect(await stored(device, { timestamp: { gte: at(500) } })).toMatchObject([
      { timestamp: at(500), data: { n: 5 } },
    ]);
    const path = `/v3/devices/${device.id}/samples/correct`;
    for (const seconds of [
      { timestamp: from / 1_000 },
      { timestamp: to, replacement: { data: {}, timestamp: 5 } },
    ])
      expect(
        await world.call('POST', path, { corrections: [{ replacement: null, ...seconds }] }),
      ).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('seconds? send milliseconds') },
      });
  });

  test('reach neither rules nor outputs', async () => {
    const { hotRule, of, newest, output, send } = rules;
    const device = await world.device();
    await hotRule(device, [[30, await output()]]);
    await send(device, 20);
    const [{ timestamp } = { timestamp: '' }] = await stored(device);
    await correct(device, [{ timestamp, replacement: { data: { temperature: 90 } } }]);
    await send(device, 21);
    expect(await of(device)).toEqual([]);
    await send(device, 40);
    expect(await newest(device)).toMatchObject({ state: 'OPEN' });
    expect(await of(device)).toHaveLength(1);
  });
});
