// Contract 39.3: the trace of an uplink. One real fault for each code, and its fix followed until the verdict is OK.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { traceCodes } from '../../src/model/device-trace.ts';
import { type Receiver, startReceiver } from '../deliveries/receivers.ts';
import { signIn } from '../access/access-world.ts';
import { alarmRules } from '../world/alarm-rules.ts';
import { comparison, customLogic } from '../world/rule-logic.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  world = await startWorld({ environment: { EGRESS_ALLOW: '127.0.0.0/8' } });
});
afterAll(async () => {
  await world.close();
  await receiver.close();
});

type Body = Record<string, unknown>;

interface Trace {
  readonly device: Body;
  readonly at: string | null;
  readonly verdict: {
    readonly code: string;
    readonly text: string;
    readonly fix: { readonly text: string; readonly link: Body | null } | null;
  };
  readonly steps: readonly {
    readonly kind: string;
    readonly state: string;
    readonly code: string;
  }[];
}

const trace = (
  device: Pick<TestDevice, 'id'>,
  query: Record<string, string> = {},
): Promise<Trace> =>
  world.must('GET', `/v3/devices/${device.id}/trace?${new URLSearchParams(query)}`);

const seen = new Set<string>();

/** Waits for the verdict: rules, deliveries and refusals follow within seconds. */
async function verdict(
  device: Pick<TestDevice, 'id'>,
  code: string,
  query: Record<string, string> = {},
): Promise<Trace['verdict']> {
  const ask = async () => (await trace(device, query)).verdict;
  await expect.poll(async () => (await ask()).code, { timeout: 60_000 }).toBe(code);
  seen.add(code);
  return ask();
}

const send = async (device: TestDevice, body: unknown = { temperature: 21 }, query = {}) =>
  (await world.capture(device, body, query)).body.id as string;

const emitting = (data: string, topic = 'default') =>
  `function consume(event) { emit('sample', { data: ${data}, topic: '${topic}' }); }`;

async function putDecoder({ deviceTypeId }: TestDevice, code: string): Promise<void> {
  const type = await world.must('GET', `/v3/device-types/${deviceTypeId}`);
  await world.must('PUT', `/v3/device-types/${deviceTypeId}`, { ...type, uplinkScript: { code } });
}

const refuse = (secret: string, deviceId: string) =>
  fetch(`${world.base}/v3/capture?${new URLSearchParams({ secret, deviceId })}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"temperature":1}',
  });

async function webhook(name: string, scope = 'DATA_FLOW'): Promise<string> {
  const webhookProperties = {
    uri: `${receiver.url}/${name}`,
    method: 'POST',
    contentType: 'JSON',
    authType: 'NONE',
  };
  const { workspaceId } = world;
  const body = { name, workspaceId, type: 'WEBHOOK', scope, webhookProperties };
  return (await world.must('POST', '/v3/output-connectors', body)).id;
}

/** `logic` gets the id of the action that fires. */
async function rule(device: TestDevice, logic: (actionId: string) => Body, actionId?: string) {
  const action = actionId ?? (await webhook('rule', 'RULE_ACTION'));
  return world.must('POST', '/v3/rules', {
    name: 'Warm',
    workspaceId: world.workspaceId,
    inputs: [{ id: device.id, type: 'DEVICE' }],
    logic: logic(action),
    actions: [{ id: action }],
  });
}

const warm =
  ({ id }: Pick<TestDevice, 'id'>, block: Body = {}) =>
  (actionId: string): Body =>
    comparison(id, {}, { actionIds: [actionId], ...block });

const putRule = async (id: string, changes: Body) => {
  const current = await world.must('GET', `/v3/rules/${id}`);
  await world.must('PUT', `/v3/rules/${id}`, { ...current, ...changes });
};

describe('arrival', () => {
  test('OK, with every step in order', async () => {
    const device = await world.device({ script: emitting('event.data') });
    const id = await send(device);
    await verdict(device, 'OK');
    const found = await trace(device);
    expect(found).toMatchObject({
      device: { id: device.id, deviceId: device.deviceId },
      verdict: { code: 'OK', fix: null },
      steps: [
        { kind: 'ARRIVED', state: 'OK', text: expect.stringContaining('HTTP') },
        { kind: 'DECODED', state: 'OK', link: { kind: 'DEVICE_TYPE', id: device.deviceTypeId } },
        { kind: 'STORED', state: 'OK' },
        { kind: 'RULE', state: 'SKIPPED' },
        { kind: 'DELIVERY', state: 'SKIPPED' },
      ],
    });
    expect(await trace(device, { correlationId: id })).toEqual(found);
    expect(await trace(device, { at: new Date().toISOString() })).toEqual(found);
  });

  test('NEVER_HEARD: the connector says how to send', async () => {
    const device = await world.device();
    const { fix } = await verdict(device, 'NEVER_HEARD');
    expect(fix?.link).toEqual({ kind: 'DEVICE_CONNECTOR', id: device.connectorId });
    const { uplinkSecret } = await world.must('GET', `/v3/device-connectors/${fix?.link?.['id']}`);
    await send({ ...device, secret: uplinkSecret });
    await verdict(device, 'OK');
  });

  test('a device with samples of a backfill alone was heard', async () => {
    const device = await world.device();
    await world.must('POST', `/v3/devices/${device.id}/backfill`, {
      timestamp: new Date().toISOString(),
      data: { a: 1 },
    });
    await verdict(device, 'OK');
  });

  test('REFUSED: a similar ID is named with what was meant', async () => {
    const device = await world.device();
    await refuse(device.secret, `${device.deviceId} `);
    const { text, fix } = await verdict(device, 'REFUSED');
    expect(text).toBe(
      `The uplink was rejected: no device has the ID \`${device.deviceId} \`. Did you mean \`${device.deviceId}\`?`,
    );
    expect(fix?.link).toEqual({ kind: 'DEVICE_CONNECTOR', id: device.connectorId });
    const { steps } = await trace(device);
    expect(steps.map(({ kind, state }) => [kind, state])).toEqual([
      ['ARRIVED', 'OK'],
      ['REFUSED', 'BROKEN'],
    ]);
    // The ID is corrected, as the fix says.
    await send(device);
    await verdict(device, 'OK');
    // A device that sends is not made suspicious by another one.
    await refuse(device.secret, `${device.deviceId}x`);
    await expect
      .poll(
        async () =>
          (await world.must('GET', `/v3/device-connectors/${device.connectorId}/refusals`))
            .totalElements,
        { timeout: 60_000 },
      )
      .toBe(2);
    await verdict(device, 'OK');
  });

  test('REFUSED: its own ID over another connector, also while it sends', async () => {
    const device = await world.device();
    const other = await world.device();
    await send(device);
    await verdict(device, 'OK');
    await refuse(other.secret, device.deviceId);
    const { fix } = await verdict(device, 'REFUSED');
    expect(fix?.text).toContain('secret of the device connector of this device');
    await send(device);
    await verdict(device, 'OK');
  });

  test('SILENT: the time after which it counts as silent is raised', async () => {
    const device = await world.device();
    const current = await world.must('GET', `/v3/devices/${device.id}`);
    await world.must('PUT', `/v3/devices/${device.id}`, { ...current, onlineTimeout: 1 });
    await send(device);
    const { fix } = await verdict(device, 'SILENT');
    expect(fix?.link).toEqual({ kind: 'DEVICE', id: device.id });
    const silent = await world.must('GET', `/v3/devices/${fix?.link?.['id']}`);
    await world.must('PUT', `/v3/devices/${device.id}`, { ...silent, onlineTimeout: 3_600 });
    await verdict(device, 'OK');
  });

  test('an uplink that is not kept is unknown, not broken', async () => {
    const device = await world.device();
    const { steps } = await trace(device, { correlationId: 'none' });
    expect(steps).toMatchObject([{ kind: 'ARRIVED', state: 'UNKNOWN', code: 'EXPIRED' }]);
    const wrong = await world.call('GET', `/v3/devices/${device.id}/trace?at=yesterday`);
    expect(wrong.status).toBe(400);
  });
});

describe('decoding', () => {
  test('SCRIPT_ERROR: with the place in the script; corrected', async () => {
    const device = await world.device({
      script: "function consume() { throw new Error('broken'); }",
    });
    const id = await send(device);
    const { text, fix } = await verdict(device, 'SCRIPT_ERROR');
    expect(text).toContain('broken');
    expect(fix?.link).toEqual({ kind: 'DEVICE_TYPE', id: device.deviceTypeId });
    const { steps } = await trace(device);
    expect(steps.find(({ code }) => code === 'SCRIPT_ERROR')).toMatchObject({
      details: { line: 1, message: expect.stringContaining('broken'), correlationId: id },
    });
    await putDecoder(device, emitting('event.data'));
    await send(device);
    await verdict(device, 'OK');
  });

  test('NO_SAMPLE: nothing, and nothing with the topic', async () => {
    const device = await world.device({ script: 'function consume() {}' });
    await send(device);
    const { fix } = await verdict(device, 'NO_SAMPLE');
    expect(fix?.link).toEqual({ kind: 'DEVICE_TYPE', id: device.deviceTypeId });
    await putDecoder(device, emitting('event.data'));
    await send(device);
    const other = await verdict(device, 'NO_SAMPLE', { topic: 'door' });
    expect(other.text).toContain('but to default');
    await putDecoder(device, emitting('event.data', 'door'));
    await send(device, { open: true });
    await verdict(device, 'OK', { topic: 'door' });
  });

  test('KEY_MISSING: the sample lacks it, or has null', async () => {
    const device = await world.device({
      script: emitting('{ temp: event.data.temperature, gone: null }'),
    });
    await send(device);
    const { text, fix } = await verdict(device, 'KEY_MISSING', { dataKey: 'temperature' });
    expect(text).toContain('it has temp');
    expect(fix?.link).toEqual({ kind: 'DEVICE_TYPE', id: device.deviceTypeId });
    await verdict(device, 'KEY_MISSING', { dataKey: 'gone' });
    await putDecoder(device, emitting('{ a: { temperature: event.data.temperature } }'));
    await send(device);
    await verdict(device, 'OK', { dataKey: 'a.temperature' });
  });

  test('KEY_INVALID: removed by the validation', async () => {
    const device = await world.device({ script: emitting("{ 'bad key': 1, good: 1 }") });
    await send(device);
    const { fix } = await verdict(device, 'KEY_INVALID', { dataKey: 'bad key' });
    expect(fix?.link).toEqual({ kind: 'DEVICE_TYPE', id: device.deviceTypeId });
    await verdict(device, 'OK');
    await putDecoder(device, emitting("{ 'bad key': 1 }"));
    await send(device);
    await verdict(device, 'KEY_INVALID');
    await putDecoder(device, emitting('{ bad_key: 1 }'));
    await send(device);
    await verdict(device, 'OK', { dataKey: 'bad_key' });
  });
});

describe('storing', () => {
  test('EXPIRED: older than the retention of the flow', async () => {
    const device = await world.device();
    const path = `/v3/data-flows/${device.dataFlowId}`;
    await world.must('PUT', path, { ...(await world.must('GET', path)), retentionDays: 1 });
    const timestamp = new Date(Date.now() - 3 * 86_400_000).toISOString();
    await send(device, { temperature: 1 }, { timestamp });
    const { fix } = await verdict(device, 'EXPIRED');
    expect(fix?.link).toEqual({ kind: 'DATA_FLOW', id: device.dataFlowId });
    await world.must('PUT', path, { ...(await world.must('GET', path)), retentionDays: 30 });
    await send(device, { temperature: 2 }, { timestamp });
    await verdict(device, 'OK');
  });

  test('NOT_ROUTED: a flow without the database, and an output that is not in the flow', async () => {
    const device = await world.device({ outputs: [] });
    await send(device);
    const { fix } = await verdict(device, 'NOT_ROUTED');
    expect(fix?.link).toEqual({ kind: 'DATA_FLOW', id: device.dataFlowId });
    const path = `/v3/data-flows/${device.dataFlowId}`;
    const route = async (outputConnectors: Body[]) =>
      world.must('PUT', path, { ...(await world.must('GET', path)), outputConnectors });
    const database = { id: '0900000000000000', topic: '*' };
    await route([database]);
    await send(device, { temperature: 22 });
    await verdict(device, 'OK');
    const output = await webhook('unrouted');
    const asked = { outputConnectorId: output };
    expect((await verdict(device, 'NOT_ROUTED', asked)).fix?.link).toEqual({
      kind: 'DATA_FLOW',
      id: device.dataFlowId,
    });
    await route([database, { id: output, topic: '*' }]);
    await send(device, { temperature: 23 });
    await verdict(device, 'OK', asked);
    expect((await trace(device, asked)).steps.at(-1)).toMatchObject({
      kind: 'DELIVERY',
      state: 'OK',
      link: { kind: 'OUTPUT_CONNECTOR', id: output },
    });
  });
});

describe('rules', () => {
  test('RULE_FALSE, RULE_OFF and RULE_SUPPRESSED, each only for the rule that is asked for', async () => {
    const device = await world.device();
    const { id } = await rule(device, warm(device));
    const asked = { ruleId: id };
    const link = { kind: 'RULE', id };
    await send(device, { temperature: 1 });
    const isFalse = await verdict(device, 'RULE_FALSE', asked);
    expect([isFalse.text, isFalse.fix?.link]).toEqual([
      expect.stringContaining('no condition was met'),
      link,
    ]);
    await verdict(device, 'OK');
    await send(device, { temperature: 30 });
    await verdict(device, 'OK', asked);
    await send(device, { temperature: 31 });
    expect((await verdict(device, 'RULE_SUPPRESSED', asked)).fix?.link).toEqual(link);
    await world.must('GET', `/v3/rules/${id}`);
    await putRule(id, { active: false });
    expect((await verdict(device, 'RULE_OFF', asked)).fix?.link).toEqual(link);
    await verdict(device, 'OK');
    await putRule(id, { active: true });
    await send(device, { temperature: 32 });
    await verdict(device, 'OK', asked);
  });

  test('RULE_OF_OTHERS: the rule reads another device', async () => {
    const device = await world.device();
    const other = await world.device();
    const { id, actions } = await rule(other, warm(other));
    await send(device, { temperature: 30 });
    const { fix } = await verdict(device, 'RULE_OF_OTHERS', { ruleId: id });
    expect(fix?.link).toEqual({ kind: 'RULE', id });
    await putRule(id, {
      inputs: [{ id: device.id, type: 'DEVICE' }],
      logic: warm(device)(actions[0].id),
    });
    await send(device, { temperature: 31 });
    await verdict(device, 'OK', { ruleId: id });
    const unknown = await verdict(device, 'RULE_OF_OTHERS', { ruleId: '2100000000000000' });
    expect(unknown.text).toContain('No rule of this workspace');
  });

  test('RULE_WAITING: met, but not for long enough', async () => {
    const device = await world.device();
    const { id, actions } = await rule(device, warm(device, { holdsFor: 'PT1H' }));
    await send(device, { temperature: 30 });
    const { fix } = await verdict(device, 'RULE_WAITING', { ruleId: id });
    expect(fix?.link).toEqual({ kind: 'RULE', id });
    await putRule(id, { logic: warm(device)(actions[0].id) });
    await send(device, { temperature: 31 });
    await verdict(device, 'OK', { ruleId: id });
  });

  test('RULE_FAILED: its script throws', async () => {
    const device = await world.device();
    const block = await world.must('POST', '/v3/rules/custom', {
      organizationId: world.organizationId,
      name: 'Broken',
      script: "function consume() { throw new Error('no'); }",
    });
    const { id } = await rule(device, () => customLogic(device.id, block.id));
    await send(device, { temperature: 30 });
    // A failure is told without being asked for.
    const { fix } = await verdict(device, 'RULE_FAILED');
    expect(fix?.link).toEqual({ kind: 'RULE', id });
    const path = `/v3/rules/custom/${block.id}`;
    const current = await world.must('GET', path);
    await world.must('PUT', path, { ...current, script: 'function consume() {}' });
    await send(device, { temperature: 31 });
    await verdict(device, 'OK');
  });

  test('an alarm that was opened is a step', async () => {
    const device = await world.device();
    const alarm = await world.must('POST', '/v3/output-connectors', {
      name: 'Alarm',
      workspaceId: world.workspaceId,
      type: 'ALARM',
      alarmProperties: { name: 'Hot', severity: 'MAJOR' },
    });
    const { id } = await rule(device, warm(device), alarm.id);
    await send(device, { temperature: 30 });
    await expect
      .poll(async () => (await trace(device, { ruleId: id })).steps, { timeout: 60_000 })
      .toContainEqual(
        expect.objectContaining({
          kind: 'ALARM',
          state: 'OK',
          details: { alarmId: expect.stringMatching(/^22/), alarm: 'Hot', alarmState: 'OPEN' },
        }),
      );
  });
});

describe('deliveries', () => {
  test('DELIVERY_WAITING and DELIVERY_FAILED: the target answers again, the delivery is resent', async () => {
    const output = await webhook('failing');
    const device = await world.device({
      outputs: [
        { id: '0900000000000000', topic: '*' },
        { id: output, topic: '*' },
      ],
    });
    const link = { kind: 'OUTPUT_CONNECTOR', id: output };
    const answered = receiver.answering;
    receiver.answering = (_, response) => {
      response.statusCode = 503;
      response.end('later');
    };
    await send(device);
    const waiting = await verdict(device, 'DELIVERY_WAITING');
    expect(waiting.fix?.link).toEqual(link);
    await expect
      .poll(async () => (await trace(device)).verdict.text, { timeout: 60_000 })
      .toContain('503');
    const other = await world.device({
      outputs: [
        { id: '0900000000000000', topic: '*' },
        { id: output, topic: '*' },
      ],
    });
    receiver.answering = (_, response) => {
      response.statusCode = 400;
      response.end('never');
    };
    const failedId = await send(other);
    const failed = await verdict(other, 'DELIVERY_FAILED', { correlationId: failedId });
    expect(failed.fix?.link).toEqual(link);
    receiver.answering = answered;
    await world.must('POST', `/v3/output-connectors/${output}/deliveries/resend`);
    await verdict(other, 'OK', { correlationId: failedId });
  });
});

test('steps without their scope are SKIPPED', async () => {
  const device = await world.device({
    script: "function consume() { throw new Error('secret'); }",
  });
  await rule(device, warm(device));
  await send(device);
  const owner = await signIn(world.base, 'admin@localhost');
  const { secret } = await owner.must('POST', '/v3/api-keys', {
    name: 'reads devices',
    organizationId: world.organizationId,
    permissions: { asset: ['read'] },
  });
  const path = `/v3/devices/${device.id}/trace`;
  const { body } = await world.call('GET', path, undefined, { 'x-api-key': secret });
  expect(body.steps.slice(-2)).toMatchObject([
    { kind: 'RULE', state: 'SKIPPED' },
    { kind: 'DELIVERY', state: 'SKIPPED' },
  ]);
});

test('MUTED: the alarm of the uplink tells nobody until its mute ends', async () => {
  const device = await world.device();
  const { output, hotRule } = alarmRules(world);
  await hotRule(device, [[20, await output()]]);
  const { id: muteId } = await world.must('POST', '/v3/mutes', {
    name: 'Maintenance',
    workspaceId: world.workspaceId,
    what: { deviceIds: [device.id] },
    weekly: {
      days: ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'],
      from: '00:00',
      to: '00:00',
      timeZone: 'UTC',
    },
  });
  await send(device, { temperature: 30 });
  const muted = await verdict(device, 'MUTED');
  expect(muted.fix?.link).toMatchObject({ kind: 'RULE' });
  await world.must('DELETE', `/v3/mutes/${muteId}`);
  await verdict(device, 'OK');
});

test('every code was seen', () => {
  expect(traceCodes.filter((code) => !seen.has(code))).toEqual([]);
});
