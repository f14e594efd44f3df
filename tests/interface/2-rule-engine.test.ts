// Contract 13, 15, 35 through a whole platform: samples and timers trigger rules, whose actions reach real receivers.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ActionSink, sinkEnvironment, startActionSink } from '../world/action-sink.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let sink: ActionSink;
let clockAheadMs = 0;
beforeAll(async () => {
  sink = await startActionSink();
  world = await startWorld({ environment: sinkEnvironment, now: () => Date.now() + clockAheadMs });
});
afterAll(async () => {
  await world.close();
  await sink.close();
});

const source = (deviceId: string, more: object = {}) => ({
  id: 's1',
  inputIds: [deviceId],
  dataTopic: 'default',
  dataKey: 'temperature',
  variableName: 'temperature',
  valueType: 'NUMERICAL',
  lastSample: false,
  triggerOnUplink: false,
  ...more,
});

function warmRule(deviceId: string, actionId: string, more: object = {}) {
  const operandFirst = { type: 'DATA_SOURCE', dataSourceId: 's1' };
  const operandSecond = { type: 'CONSTANT', value: 20 };
  const conditions = [{ operandFirst, operator: 'GT', operandSecond, order: 0 }];
  return {
    name: 'Too warm',
    workspaceId: world.workspaceId,
    inputs: [{ id: deviceId, type: 'DEVICE' }],
    logic: {
      type: 'COMPARISON',
      dataSources: [source(deviceId)],
      logicBlocks: [{ conditions, actionIds: [actionId] }],
    },
    actions: [{ id: actionId }],
    ...more,
  };
}

async function scriptRule(
  device: TestDevice,
  actionIds: string[],
  script: string,
  more: object = {},
) {
  const { organizationId, workspaceId } = world;
  const properties = [
    { name: 'Limit', variableName: 'limit', defaultValue: '20', type: 'NUMERICAL' },
  ];
  const block = { organizationId, name: 'Block', script, properties };
  const { id: customLogicId } = await world.must('POST', '/v3/rules/custom', block);
  return world.must('POST', '/v3/rules', {
    name: 'Script',
    workspaceId,
    inputs: [{ id: device.id, type: 'DEVICE' }],
    logic: {
      type: 'CUSTOM_LOGIC',
      dataSources: [source(device.id)],
      customLogic: { customLogicId, actionIds },
    },
    actions: actionIds.map((id) => ({ id })),
    ...more,
  });
}

const runs = async (rule: { id: string }) =>
  (await world.must('GET', `/v3/rules/${rule.id}/runs`)).content;

describe('contract 13: comparison', () => {
  test('a sample fires an action once, from false to true; its payload is the template filled in', async () => {
    const device = await world.device({ name: 'Oven' });
    const customPayload =
      '{"t": {{data.temperature}}, "rule": {{rule.name}}, "of": {{dataSources.1.device.name}}}';
    const action = await sink.action(world, 'once', { useCustomPayload: true, customPayload });
    const rule = await world.must('POST', '/v3/rules', warmRule(device.id, action));
    for (const temperature of [19, 21, 22, 18, 23]) await world.capture(device, { temperature });
    expect(await sink.next('once')).toEqual({ t: 21, rule: 'Too warm', of: 'Oven' });
    expect(await sink.next('once')).toEqual({ t: 23, rule: 'Too warm', of: 'Oven' });
    expect(sink.left('once')).toEqual([]);
    const told = await runs(rule);
    const outcomes = told.map((run: { outcome: string }) => run.outcome);
    expect(outcomes).toEqual(['FIRED', 'NOT_FIRED', 'SUPPRESSED', 'FIRED', 'NOT_FIRED']);
    expect(told[0]).toMatchObject({
      trigger: 'UPLINK',
      deviceId: device.id,
      reason: 'logic block 1 was true: 23 is above 20',
      actionIds: [action],
      inputs: [{ dataSourceId: 's1', trigger: true, deviceId: device.id, value: 23 }],
    });
    const log = await world.must('GET', `/v3/devices/${device.id}/processing-logs`);
    const ofRules = log.content.filter((entry: { source: string }) => entry.source === 'RULE');
    expect(ofRules).toHaveLength(2);
    expect(ofRules[0]).toMatchObject({ level: 'INFO', message: 'Rule Too warm: fired, 1 action' });
  });

  test('sendConsecutiveAlerts fires every time; interface 4.3: backfilled samples trigger like uplinks', async () => {
    const device = await world.device();
    const action = await sink.action(world, 'again', { sendConsecutiveAlerts: true });
    await world.must('POST', '/v3/rules', warmRule(device.id, action));
    await world.capture(device, { temperature: 21 });
    await world.must('POST', `/v3/devices/${device.id}/backfill`, {
      data: { temperature: 22 },
      timestamp: '2026-01-01T00:00:00Z',
    });
    expect(await sink.next('again')).toMatchObject({
      data: { temperature: 21 },
      deviceId: device.deviceId,
    });
    expect(await sink.next('again')).toMatchObject({
      data: { temperature: 22 },
      timestamp: '2026-01-01T00:00:00.000Z',
    });
  });

  test('a device that is given the tag, or loses it, is an input from then on, or no more', async () => {
    const tag = await world.must('POST', '/v3/tags', {
      name: 'Hot',
      workspaceId: world.workspaceId,
    });
    const device = await world.device();
    const action = await sink.action(world, 'tagged', { sendConsecutiveAlerts: true });
    const byTag = { ...warmRule(tag.id, action), inputs: [{ id: tag.id, type: 'ASSET_TAG' }] };
    await world.must('POST', '/v3/rules', byTag);
    // Tells when the rules have come to a sample of the device.
    const judged = await sink.action(world, 'judged', { sendConsecutiveAlerts: true });
    await world.must('POST', '/v3/rules', warmRule(device.id, judged));
    const capture = async (temperature: number) => {
      await world.capture(device, { temperature });
      expect(await sink.next('judged')).toMatchObject({ data: { temperature } });
    };
    await capture(30);
    const { version: _, ...record } = await world.must('GET', `/v3/devices/${device.id}`);
    await world.must('PUT', `/v3/devices/${device.id}`, { ...record, tags: [{ id: tag.id }] });
    await capture(31);
    expect(await sink.next('tagged')).toMatchObject({ data: { temperature: 31 } });
    await world.must('PUT', `/v3/devices/${device.id}`, { ...record, tags: [] });
    await capture(32);
    await world.must('PUT', `/v3/devices/${device.id}`, { ...record, tags: [{ id: tag.id }] });
    await capture(33);
    expect(await sink.next('tagged')).toMatchObject({ data: { temperature: 33 } });
    expect(sink.left('tagged')).toEqual([]);
  });
});

describe('contract 15: custom logic', () => {
  test('inputs, properties, state, data sources and actions with a result', async () => {
    const device = await world.device({ name: 'Oven' });
    const customPayload = '{{result}}';
    const more = { useCustomPayload: true, customPayload, sendConsecutiveAlerts: true };
    const action = await sink.action(world, 'script', more);
    const rule = await scriptRule(
      device,
      [action],
      `function consume(event) {
        const count = (event.state.count || 0) + 1;
        emit('state', { count });
        emit('log', { omitted: true });
        if (event.inputs.temperature > event.properties.limit) {
          const first = event.dataSources['1'];
          emit('action', { count, type: event.type, same: first.data.temperature === event.dataSources.temperature.data.temperature,
            trigger: first.trigger, device: event.device.name, invocations: event.numberOfInvocations });
        }
        if (event.inputs.temperature > 90) throw new Error('melting');
      }`,
    );
    for (const temperature of [10, 21, 22, 95]) await world.capture(device, { temperature });
    const wanted = { type: 'uplink', same: true, trigger: true, device: 'Oven', invocations: 0 };
    expect(await sink.next('script')).toEqual({ ...wanted, count: 2 });
    expect(await sink.next('script')).toEqual({ ...wanted, count: 3 });
    expect(await sink.next('script')).toEqual({ ...wanted, count: 4 });
    const [last] = await runs(rule);
    expect(last).toMatchObject({ outcome: 'FAILED', reason: expect.stringContaining('melting') });
    const log = await world.must('GET', `/v3/devices/${device.id}/processing-logs?level=ERROR`);
    expect(log.content).toMatchObject([
      { source: 'RULE', message: expect.stringContaining('melting') },
    ]);
  });

  test('the sample of a database action has the calculated keys of its device', async () => {
    const device = await world.device({ schemas: {} });
    await world.must('PUT', `/v3/device-types/${device.deviceTypeId}`, {
      calculatedKeys: [
        { key: 'half', topic: 'told', expression: 'temperature / 2' },
        { key: 'rise', topic: 'told', expression: 'temperature - prev(temperature)' },
      ],
    });
    const database = await world.must('POST', '/v3/output-connectors', {
      name: 'Told',
      workspaceId: world.workspaceId,
      type: 'CUSTOM_DATABASE',
      scope: 'RULE_ACTION',
      sendConsecutiveAlerts: true,
      customDatabaseProperties: { topic: 'told', targetDeviceId: null, useCurrentDevice: true },
    });
    const script = `function consume(event) {
      emit('action', { data: { temperature: event.inputs.temperature } });
    }`;
    await scriptRule(device, [database.id], script);
    const told = async () => {
      const body = { topic: 'told', limit: 10 };
      const found = await world.must('POST', `/v3/devices/${device.id}/query`, body);
      return (found as unknown as { data: object }[]).map(({ data }) => data);
    };
    await world.capture(device, { temperature: 10 });
    await expect.poll(told, { timeout: 60_000 }).toEqual([{ temperature: 10, half: 5 }]);
    await world.capture(device, { temperature: 14 });
    await expect.poll(told, { timeout: 60_000 }).toEqual([
      { temperature: 14, half: 7, rise: 4 },
      { temperature: 10, half: 5 },
    ]);
  });

  test('the database action passes its sample to the rules, at most ten times, and then reports it', async () => {
    const device = await world.device();
    const database = await world.must('POST', '/v3/output-connectors', {
      name: 'Loop',
      workspaceId: world.workspaceId,
      type: 'CUSTOM_DATABASE',
      scope: 'RULE_ACTION',
      sendConsecutiveAlerts: true,
      invokeRuleEngine: true,
      customDatabaseProperties: { topic: 'default', targetDeviceId: null, useCurrentDevice: true },
    });
    const script = `function consume(event) {
      emit('action', { data: { temperature: event.inputs.temperature + 1, hops: event.numberOfInvocations } });
    }`;
    const rule = await scriptRule(device, [database.id], script);
    await world.capture(device, { temperature: 0 });
    const stored = async () =>
      (await world.must('POST', `/v3/devices/${device.id}/query`, { topic: '*' })) as unknown[];
    while ((await stored()).length < 11) await new Promise((resolve) => setImmediate(resolve));
    const log = async () =>
      (await world.must('GET', `/v3/devices/${device.id}/processing-logs?level=ERROR`)).content as {
        message: string;
      }[];
    while ((await log()).length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(
      (await stored())
        .map((sample) => (sample as { data: { temperature: number } }).data.temperature)
        .sort((a, b) => a - b),
    ).toEqual(Array.from({ length: 11 }, (_, i) => i));
    const hopLimit = expect.stringContaining(
      'rules have already forwarded this sample 10 times (possible loop)',
    );
    expect(await log()).toMatchObject([{ source: 'OUTPUT', message: hopLimit }]);
    const path = `/v3/output-connectors/${database.id}/deliveries?state=DEAD`;
    // Saved after the line of the log.
    const dead = async () => (await world.must('GET', path)).content;
    const expected = [{ deviceId: device.id, cause: 'RULE', tries: 1 }];
    await expect.poll(dead).toMatchObject(expected);
    expect((await runs(rule)).length).toBe(11);
  });
});

describe('contract 13: geofence', () => {
  test('entering and leaving fire once each', async () => {
    const device = await world.device();
    const inside = await sink.action(world, 'inside');
    const outside = await sink.action(world, 'outside');
    const ring = [
      [8, 47],
      [9, 47],
      [9, 48],
      [8, 48],
      [8, 47],
    ];
    const feature = {
      type: 'Feature',
      properties: {},
      geometry: { type: 'Polygon', coordinates: [ring] },
    };
    await world.must('POST', '/v3/rules', {
      name: 'Fence',
      workspaceId: world.workspaceId,
      inputs: [{ id: device.id, type: 'DEVICE' }],
      logic: {
        type: 'GEO_FENCE',
        dataSources: [
          source(device.id, { id: 'a', dataKey: 'position.lat', variableName: 'latitude' }),
          source(device.id, { id: 'b', dataKey: 'position.lng', variableName: 'longitude' }),
        ],
        geoFenceLogicBlock: {
          geoJson: { type: 'FeatureCollection', features: [feature] },
          insideActionIds: [inside],
          outsideActionIds: [outside],
        },
      },
      actions: [{ id: inside }, { id: outside }],
    });
    for (const lng of [7, 8.5, 8.6, 9.5, 9.6, 8.5])
      await world.capture(device, { position: { lat: 47.5, lng } });
    expect(await sink.next('inside')).toMatchObject({ data: { position: { lng: 8.5 } } });
    expect(await sink.next('outside')).toMatchObject({ data: { position: { lng: 9.5 } } });
    expect(await sink.next('inside')).toMatchObject({ data: { position: { lng: 8.5 } } });
    expect([...sink.left('inside'), ...sink.left('outside')]).toEqual([]);
  });
});

describe('contract 13: timers', () => {
  test('a timed rule reads the last sample; what the clock jumped over is one run', async () => {
    const device = await world.device();
    const customPayload =
      '{"one": {{dataSources.1.data}}, "trigger": {{dataSources.1.trigger}}, "data": {{data}}}';
    const more = { sendConsecutiveAlerts: true, useCustomPayload: true, customPayload };
    const action = await sink.action(world, 'timed', more);
    await world.capture(device, { temperature: 40 });
    const timer = { enabled: true, type: 'INTERVAL', schedule: 'PT1H' };
    const rule = await world.must('POST', '/v3/rules', warmRule(device.id, action, { timer }));
    clockAheadMs += 5 * 3_600_000;
    expect(await sink.next('timed')).toEqual({
      one: { temperature: 40 },
      trigger: false,
      data: null,
    });
    const told = await runs(rule);
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({ trigger: 'TIMER', outcome: 'FIRED', deviceId: null });
    const { nextExecution } = await world.must('GET', `/v3/rules/${rule.id}`);
    expect(Date.parse(nextExecution)).toBeGreaterThan(Date.now() + clockAheadMs - 1);
    await world.must('PUT', `/v3/rules/${rule.id}`, { active: false });
  });

  test("a script's own timer runs it with its meta, and with the state of before", async () => {
    const device = await world.device();
    const more = { useCustomPayload: true, customPayload: '{{result}}' };
    const action = await sink.action(world, 'own timer', more);
    const rule = await scriptRule(
      device,
      [action],
      `function consume(event) {
        if (event.type === 'timer') emit('action', { meta: event.timer.meta, state: event.state, input: event.inputs.temperature });
        else {
          emit('state', { seen: event.inputs.temperature });
          emit('timer', { runAt: new Date(Date.now() + ${clockAheadMs} + 60000), meta: { why: 'later' } });
        }
      }`,
    );
    await world.capture(device, { temperature: 5 });
    while ((await runs(rule)).length === 0) await new Promise((resolve) => setImmediate(resolve));
    clockAheadMs += 120_000;
    expect(await sink.next('own timer')).toEqual({
      meta: { why: 'later' },
      state: { seen: 5 },
      input: 5,
    });
  });
});

test('a dry run over stored samples shows each would-be action and does none of them', async () => {
  const device = await world.device();
  const action = await sink.action(world, 'dry');
  for (const [i, temperature] of [10, 21, 22, 10, 23].entries()) {
    const timestamp = `2026-02-01T00:0${i}:00Z`;
    await world.must('POST', `/v3/devices/${device.id}/backfill`, {
      data: { temperature },
      timestamp,
    });
  }
  const rule = await world.must(
    'POST',
    '/v3/rules',
    warmRule(device.id, action, { active: false }),
  );
  const range = { from: '2026-02-01T00:00:00Z', to: '2026-02-01T00:05:00Z' };
  const answer = await world.must('POST', `/v3/rules/${rule.id}/simulate`, range);
  expect(answer).toMatchObject({
    samples: 5,
    runs: 5,
    fired: 2,
    trueSeconds: 180,
    truncated: false,
  });
  const fired = answer.content.filter((run: { outcome: string }) => run.outcome === 'FIRED');
  expect(fired.map((run: { timestamp: string }) => run.timestamp)).toEqual([
    '2026-02-01T00:01:00.000Z',
    '2026-02-01T00:04:00.000Z',
  ]);
  expect(fired[0].actions).toEqual([{ actionId: action, cause: 'block 0' }]);
  expect(await runs(rule)).toEqual([]);
  expect(sink.left('dry')).toEqual([]);
  const wrong = await world.call('POST', `/v3/rules/${rule.id}/simulate`, {
    from: range.to,
    to: range.from,
  });
  expect(wrong.body).toMatchObject({ status: 400, errorCode: '40030_BAD_INTERVAL' });
});
