// Contract 36: input and emits of custom logic, and permissions to create and simulate a rule.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ActionSink, sinkEnvironment, startActionSink } from '../world/action-sink.ts';
import { checkedFetch } from '../world/checked-fetch.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let sink: ActionSink;
let clockAheadMs = 0;
beforeAll(async () => {
  sink = await startActionSink();
  world = await startWorld({
    environment: { ...sinkEnvironment, QUOTA_RULE_SAMPLES: '20' },
    now: () => Date.now() + clockAheadMs,
  });
});
afterAll(async () => {
  await world.close();
  await sink.close();
});

const source = (deviceId: string, id = 's1', name = 'temperature') => ({
  id,
  inputIds: [deviceId],
  dataTopic: 'default',
  dataKey: name,
  variableName: name,
  valueType: 'NUMERICAL',
});

/** A rule of custom logic with the device as its two data sources. */
async function scriptRule(device: TestDevice, actionId: string, script: string, more: object = {}) {
  const { organizationId, workspaceId, must } = world;
  const { id: customLogicId } = await must('POST', '/v3/rules/custom', {
    organizationId,
    name: 'Block',
    script,
  });
  return must('POST', '/v3/rules', {
    name: 'Script',
    workspaceId,
    inputs: [{ id: device.id, type: 'DEVICE' }],
    logic: {
      type: 'CUSTOM_LOGIC',
      dataSources: [source(device.id), source(device.id, 's2', 'humidity')],
      customLogic: { customLogicId, actionIds: [actionId] },
    },
    actions: [{ id: actionId }],
    ...more,
  });
}

const comparison = (deviceId: string, type = 'DEVICE', more: object = {}) => ({
  name: 'Comparison',
  workspaceId: world.workspaceId,
  inputs: [{ id: deviceId, type }],
  logic: {
    type: 'COMPARISON',
    dataSources: [source(deviceId)],
    logicBlocks: [
      {
        conditions: [
          {
            operandFirst: { type: 'DATA_SOURCE', dataSourceId: 's1' },
            operator: 'GT',
            operandSecond: { type: 'CONSTANT', value: 20 },
          },
        ],
      },
    ],
  },
  ...more,
});

const all = { useCustomPayload: true, customPayload: '{{result}}', sendConsecutiveAlerts: true };

describe('custom logic', () => {
  test('review behaviour 1: data sources are listed only by number; names are aliases of the same', async () => {
    const device = await world.device();
    const action = await sink.action(world, 'sources', all);
    const script = `function consume({ dataSources, dataSourceNames }) {
      emit('action', { keys: Object.keys(dataSources), walked: Object.values(dataSources).length,
        same: dataSources.humidity === dataSources['2'], text: JSON.stringify(dataSources).split('"topic"').length - 1,
        names: dataSourceNames === undefined });
    }`;
    await scriptRule(device, action, script);
    await world.capture(device, { temperature: 1, humidity: 2 });
    expect(await sink.next('sources')).toEqual({
      keys: ['1', '2'],
      walked: 2,
      same: true,
      text: 2,
      names: true,
    });
  });

  test('review behaviour 32: a timed run has no device', async () => {
    const device = await world.device();
    const action = await sink.action(world, 'timed', all);
    const timer = { enabled: true, type: 'INTERVAL', schedule: 'PT1H' };
    await scriptRule(
      device,
      action,
      `function consume(event) { emit('action', { has: 'device' in event }); }`,
      {
        timer,
      },
    );
    clockAheadMs += 3_600_000;
    expect(await sink.next('timed')).toEqual({ has: false });
  });

  const emitted = {
    topic: 'emitted',
    timestamp: '2026-01-02T03:04:05.000Z',
    meta: { by: 'script' },
  };
  const cases = [
    ['an emitted action', emitted, {}, emitted],
    [
      "what was not emitted is the connector's",
      { timestamp: emitted.timestamp },
      {},
      { topic: 'connectors', timestamp: emitted.timestamp },
    ],
    [
      'a custom payload',
      null,
      { useCustomPayload: true, customPayload: JSON.stringify({ data: { x: 1 }, ...emitted }) },
      emitted,
    ],
  ] as const;
  test.for(cases)(
    'review behaviour 2: %s: its topic, timestamp and meta win',
    async ([, said, more, wanted]) => {
      const { must, workspaceId } = world;
      const device = await world.device();
      const database = await must('POST', '/v3/output-connectors', {
        name: 'Database',
        workspaceId,
        type: 'CUSTOM_DATABASE',
        scope: 'RULE_ACTION',
        customDatabaseProperties: { topic: 'connectors', useCurrentDevice: true },
        ...more,
      });
      const action = said === null ? '{ only: true }' : JSON.stringify({ data: { x: 1 }, ...said });
      await scriptRule(device, database.id, `function consume() { emit('action', ${action}); }`);
      await world.capture(device, { temperature: 1, humidity: 1 });
      const stored = async () =>
        (
          (await must('POST', `/v3/devices/${device.id}/query`, { topic: '*' })) as {
            data: object;
          }[]
        ).filter(({ data }) => 'x' in data);
      await expect
        .poll(stored, { interval: 20, timeout: 60_000 })
        .toMatchObject([{ data: { x: 1 }, ...wanted }]);
    },
  );

  test('review behaviour 11: uplinkMeta of the data source that triggered', async () => {
    const device = await world.device();
    const customPayload =
      '{"meta": {{dataSources.1.uplinkMeta}}, "other": {{dataSources.2.uplinkMeta}}}';
    const action = await sink.action(world, 'meta', { ...all, customPayload });
    await scriptRule(device, action, `function consume() { emit('action', {}); }`);
    await world.capture(device, { temperature: 1 });
    expect(await sink.next('meta')).toMatchObject({
      meta: { dataReceived: expect.any(String), bytesReceived: expect.any(Number) },
      other: null,
    });
  });
});

describe('review behaviour 25: what triggers', () => {
  test('without a timer a data source triggers, and the record says so', async () => {
    const device = await world.device();
    const rule = await world.must('POST', '/v3/rules', comparison(device.id));
    expect(rule.logic.dataSources).toMatchObject([{ triggerOnUplink: true }]);
  });

  test('a timer with a tag as input is refused', async () => {
    const tag = await world.must('POST', '/v3/tags', { name: 'T', workspaceId: world.workspaceId });
    const timer = { enabled: true, type: 'INTERVAL', schedule: 'PT1H' };
    const answer = await world.call(
      'POST',
      '/v3/rules',
      comparison(tag.id, 'ASSET_TAG', { timer }),
    );
    expect([answer.status, answer.body.message]).toEqual([
      400,
      expect.stringContaining('a timer requires device inputs'),
    ]);
  });
});

describe('review security 7: what a simulation shows', () => {
  test('a device that was moved to another workspace is simulated no more', async () => {
    const { must, organizationId } = world;
    const device = await world.device();
    const rule = await must('POST', '/v3/rules', comparison(device.id));
    await world.capture(device, { temperature: 30 });
    const range = {
      from: new Date(Date.now() - 3_600_000).toISOString(),
      to: new Date(Date.now() + 86_400_000).toISOString(),
    };
    expect((await must('POST', `/v3/rules/${rule.id}/simulate`, range)).runs).toBe(1);
    const other = await must('POST', '/v3/workspaces', { name: 'Other', organizationId });
    const there = await world.device({ workspaceId: other.id });
    await must('POST', '/v3/devices/bulk/move', {
      workspaceId: world.workspaceId,
      deviceIds: [device.id],
      targetWorkspaceId: other.id,
      dataFlowId: there.dataFlowId,
    });
    const placeOf = async () => (await must('GET', `/v3/devices/${device.id}`)).workspaceId;
    await expect.poll(placeOf, { interval: 20, timeout: 60_000 }).toBe(other.id);
    const simulated = await must('POST', `/v3/rules/${rule.id}/simulate`, range);
    expect([simulated.samples, simulated.runs]).toEqual([0, 0]);
  });
});

test('review security 9: rules that multiply samples stop at the budget of their uplink, which is noted', async () => {
  const { must, workspaceId } = world;
  const device = await world.device();
  for (const name of ['a', 'b', 'c']) {
    const database = await must('POST', '/v3/output-connectors', {
      name,
      workspaceId,
      type: 'CUSTOM_DATABASE',
      scope: 'RULE_ACTION',
      sendConsecutiveAlerts: true,
      invokeRuleEngine: true,
      useCustomPayload: true,
      customPayload: `{"temperature": 30, "path": "{{data.path}}${name}"}`,
      customDatabaseProperties: { topic: 'default', useCurrentDevice: true },
    });
    const { logic, ...rest } = comparison(device.id, 'DEVICE', { actions: [{ id: database.id }] });
    const logicBlocks = logic.logicBlocks.map((block) => ({ ...block, actionIds: [database.id] }));
    await must('POST', '/v3/rules', { ...rest, logic: { ...logic, logicBlocks } });
  }
  await world.capture(device, { temperature: 30, path: '' });
  const log = async () =>
    (await must('GET', `/v3/devices/${device.id}/processing-logs?level=ERROR&size=100`)).content;
  // One uplink and 20 samples of rules fire three actions each; 20 of them were allowed.
  await expect.poll(async () => (await log()).length, { timeout: 60_000 }).toBe(21 * 3 - 20);
  // Chains of ten samples can end before the budget is used up.
  const messages = ((await log()) as { readonly message: string }[]).map((one) => one.message);
  const spent = messages.filter((one) =>
    one.includes('rules already created 20 samples from one uplink'),
  );
  expect(spent.length).toBeGreaterThan(0);
  const stored = (await must('POST', `/v3/devices/${device.id}/query?size=100`, {
    topic: '*',
  })) as unknown[];
  expect(stored.length).toBe(21);
});

test('review reliability 17: runs by outcome and how far followers are behind are metrics', async () => {
  const text = String((await checkedFetch(world.base, 'GET', '/metrics', {})).body);
  expect(
    Number(/^heliograph_rule_runs_total{outcome="FIRED"} (\d+)/m.exec(text)?.[1]),
  ).toBeGreaterThan(0);
  expect(text).toMatch(/^heliograph_rule_runs_total{outcome="DROPPED"} 0/m);
  for (const follower of ['rules', 'outputs']) {
    expect(text).toMatch(
      new RegExp(`^heliograph_journal_consumer_lag_entries{follower="${follower}"} \\d+`, 'm'),
    );
  }
});
