// Contract 39.4: rules with output connectors that are created with them, all or nothing.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temperatureOf } from '../world/alarm-rules.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let device: TestDevice;
beforeAll(async () => {
  world = await startWorld();
  device = await world.device();
});
afterAll(() => world.close());

const conditions = (limit: number) => [
  {
    operandFirst: { type: 'DATA_SOURCE', dataSourceId: 's1' },
    operator: 'GT',
    operandSecond: { type: 'CONSTANT', value: limit },
  },
];
const alarm = (name: string) => ({
  name,
  type: 'ALARM',
  alarmProperties: { name: `{{device.name}} ${name}`, severity: 'MAJOR' },
});
const rule = (blocks: readonly (readonly [limit: number, id: string])[], actions: object[]) => ({
  name: 'Too hot',
  workspaceId: world.workspaceId,
  inputs: [{ id: device.id, type: 'DEVICE' }],
  logic: {
    type: 'COMPARISON',
    dataSources: [temperatureOf(device.id)],
    logicBlocks: blocks.map(([limit, id]) => ({ conditions: conditions(limit), actionIds: [id] })),
  },
  actions,
});
const outputs = async () =>
  (
    await world.must('GET', `/v3/output-connectors?workspaceId=${world.workspaceId}&size=100`)
  ).content.filter(({ global }: { global: boolean }) => !global);

test('a rule and its outputs are one request, and the blocks name them by their place', async () => {
  const known = await world.must('POST', '/v3/output-connectors', {
    ...alarm('known'),
    workspaceId: world.workspaceId,
  });
  const made = await world.must(
    'POST',
    '/v3/rules',
    rule(
      [
        [20, 'new:0'],
        [30, known.id],
        [40, 'new:2'],
      ],
      [
        { outputConnector: alarm('warm'), configuration: { a: 1 } },
        { id: known.id },
        { outputConnector: alarm('hot') },
      ],
    ),
  );
  const [warm, , hot] = made.actions;
  expect(made.actions).toMatchObject([
    { name: 'warm', type: 'ALARM', configuration: { a: 1 } },
    { id: known.id },
    { name: 'hot', type: 'ALARM' },
  ]);
  expect(made.logic.logicBlocks).toMatchObject([
    { actionIds: [warm.id] },
    { actionIds: [known.id] },
    { actionIds: [hot.id] },
  ]);
  expect(await world.must('GET', `/v3/output-connectors/${hot.id}`)).toMatchObject({
    name: 'hot',
    scope: 'RULE_ACTION',
    workspaceId: world.workspaceId,
    version: 0,
  });
  await world.capture(device, { temperature: 50 });
  const names = async () =>
    (await world.must('GET', `/v3/alarms?ruleId=${made.id}`)).content.map(
      ({ name }: { name: string }) => name,
    );
  await expect.poll(async () => (await names()).length).toBeGreaterThan(0);
  const next = await world.must('PUT', `/v3/rules/${made.id}`, {
    logic: rule([[20, 'new:0']], []).logic,
    actions: [{ outputConnector: alarm('replaced') }],
  });
  expect(next.actions).toMatchObject([{ name: 'replaced' }]);
  expect(next.logic.logicBlocks).toMatchObject([{ actionIds: [next.actions[0].id] }]);
});

test('when anything is wrong, neither the rule nor an output is stored, and the place is named', async () => {
  const before = await outputs();
  const mailing = {
    ...alarm('mailing'),
    alarmProperties: {
      name: 'x',
      severity: 'MAJOR',
      notify: [{ on: 'OPENED', emails: ['a@example.org'] }],
    },
  };
  const trials: readonly [object, number, RegExp][] = [
    [rule([[1, 'new:1']], [{ outputConnector: alarm('a') }]), 400, /new:1 is not an action/],
    [rule([[1, 'new:0']], [{}]), 400, /actions\.0: must have either id or outputConnector/],
    [
      rule([[1, 'new:0']], [{ id: '0900000000000009', outputConnector: alarm('a') }]),
      400,
      /not both/,
    ],
    [
      rule(
        [[1, 'new:0']],
        [{ outputConnector: { ...alarm('a'), alarmProperties: { name: 'x' } } }],
      ),
      400,
      /body actions\.0\.outputConnector\.alarmProperties\.severity: is required/,
    ],
    [
      rule([[1, 'new:0']], [{ outputConnector: alarm('a') }, { outputConnector: mailing }]),
      409,
      /SMTP_URL/,
    ],
    [
      rule(
        [[1, 'new:0']],
        Array.from({ length: 21 }, () => ({ outputConnector: alarm('a') })),
      ),
      400,
      /at most 20/,
    ],
  ];
  for (const [sent, status, message] of trials) {
    const refused = await world.call('POST', '/v3/rules', sent);
    expect(refused.status, refused.body.message).toBe(status);
    expect(refused.body.message).toMatch(message);
  }
  expect(await outputs()).toEqual(before);
});

test('a simulation checks new outputs, and creates none', async () => {
  const other = await world.device();
  const day = Date.UTC(2026, 0, 2);
  const samples = [10, 30, 10, 30].map((temperature, i) => ({
    timestamp: new Date(day + i * 60_000).toISOString(),
    data: { temperature },
  }));
  await world.must('POST', `/v3/devices/${other.id}/backfill/bulk`, samples);
  const before = await outputs();
  const draft = {
    ...rule([[20, 'new:0']], [{ outputConnector: alarm('would') }]),
    inputs: [{ id: other.id, type: 'DEVICE' }],
    logic: {
      type: 'COMPARISON',
      dataSources: [temperatureOf(other.id)],
      logicBlocks: [{ conditions: conditions(20), actionIds: ['new:0'] }],
    },
  };
  const range = { from: new Date(day).toISOString(), to: new Date(day + 3_600_000).toISOString() };
  const told = await world.must('POST', '/v3/rules/simulate', { rule: draft, ...range });
  expect(told).toMatchObject({ samples: 4, fired: 2, trueSeconds: 3_480, truncated: false });
  expect(await outputs()).toEqual(before);
});

test('with an Idempotency-Key the rule and its outputs are created once', async () => {
  const sent = rule([[20, 'new:0']], [{ outputConnector: alarm('once') }]);
  const key = { 'idempotency-key': 'rule-with-output' };
  const first = await world.call('POST', '/v3/rules', sent, key);
  const second = await world.call('POST', '/v3/rules', sent, key);
  expect(second.body.id).toBe(first.body.id);
  const made = (await outputs()).filter(({ name }: { name: string }) => name === 'once');
  expect(made).toHaveLength(1);
});
