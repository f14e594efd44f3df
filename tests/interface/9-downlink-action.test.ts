// Contract 9, 17: a downlink action commands MQTT devices: the trigger, and others that it names.
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  downTopic,
  inbox,
  type MqttDevice,
  type MqttWorld,
  startMqttWorld,
  upTopic,
} from '../world/mqtt-world.ts';

const within = { timeout: 60_000 };

let world: MqttWorld;
beforeAll(async () => {
  world = await startMqttWorld();
});
afterAll(() => world.close());

async function downlinkAction(downlinkProperties: object): Promise<string> {
  const { workspaceId } = world;
  const base = {
    name: 'Command',
    workspaceId,
    type: 'DOWNLINK',
    scope: 'RULE_ACTION',
    sendConsecutiveAlerts: true,
  };
  const { id } = await world.must('POST', '/v3/output-connectors', { ...base, downlinkProperties });
  return id;
}

async function warmRule(device: MqttDevice, actionId: string): Promise<void> {
  const source = {
    id: 's',
    inputIds: [device.id],
    dataTopic: 'default',
    dataKey: 't',
    valueType: 'NUMERICAL',
  };
  const operandFirst = { type: 'DATA_SOURCE', dataSourceId: 's' };
  const conditions = [
    { operandFirst, operator: 'GT', operandSecond: { type: 'CONSTANT', value: 20 } },
  ];
  await world.must('POST', '/v3/rules', {
    name: 'Too warm',
    workspaceId: world.workspaceId,
    inputs: [{ id: device.id, type: 'DEVICE' }],
    logic: {
      type: 'COMPARISON',
      dataSources: [source],
      logicBlocks: [{ conditions, actionIds: [actionId] }],
    },
    actions: [{ id: actionId }],
  });
}

async function listening(device: MqttDevice) {
  const client = await world.client(device);
  const received = inbox(client);
  await client.subscribeAsync(downTopic(device), { qos: 1 });
  const send = (data: object) =>
    client.publishAsync(upTopic(device), JSON.stringify(data), { qos: 1 });
  return { received, send };
}

test('the device that triggered the rule gets the payload with its expressions filled in, once a sample, in order', async () => {
  const device = await world.mqttDevice();
  const downlinkPayload = { valve: 'closed', at: '{{data.t}}', of: '{{deviceId}}' };
  await warmRule(
    device,
    await downlinkAction({ downlinkType: 'MQTT', topic: 'valve', downlinkPayload }),
  );
  const { received, send } = await listening(device);
  for (const t of [21, 5, 22]) await send({ t });
  for (const t of [21, 22]) {
    const { topic, text, qos } = await received.next();
    expect(topic).toBe(downTopic(device, '/valve'));
    expect(JSON.parse(text)).toEqual({ valve: 'closed', at: t, of: device.deviceId });
    expect(qos).toBe(1);
  }
  expect(received.messages).toEqual([]);
  const states = async () =>
    (await world.must('GET', `/v3/devices/${device.id}/downlinks`)).content.map(
      (one: { state: string }) => one.state,
    );
  await expect.poll(states, within).toEqual(['ACKNOWLEDGED', 'ACKNOWLEDGED']);
});

test('named devices get it, not the one that triggered; one that is away gets it when it comes back', async () => {
  const sensor = await world.mqttDevice();
  const [near, away] = [await world.mqttDevice(), await world.mqttDevice()];
  const target = { targetDeviceIds: [near.id, away.id], downlinkType: 'MQTT', topic: 'siren' };
  const action = await downlinkAction({
    ...target,
    raw: true,
    rawDownlinkPayload: '00ff{{data.code}}',
  });
  await warmRule(sensor, action);
  const [atSensor, atNear] = [await listening(sensor), await listening(near)];
  await atSensor.send({ t: 30, code: '41' });
  const bytes = Buffer.from([0x00, 0xff, 0x41]).toString();
  expect(await atNear.received.next()).toMatchObject({
    topic: downTopic(near, '/siren'),
    text: bytes,
  });
  const delivered = async () =>
    (await world.must('GET', `/v3/output-connectors/${action}/deliveries?state=DELIVERED`)).content;
  await expect
    .poll(delivered, within)
    .toMatchObject([{ deviceId: sensor.id, cause: 'RULE', answer: 'queued for 2 devices' }]);
  const atAway = await listening(away);
  expect(await atAway.received.next()).toMatchObject({
    topic: downTopic(away, '/siren'),
    text: bytes,
  });
  expect(atSensor.received.messages).toEqual([]);
});

test('a named device that is gone: the delivery is dead, and the log of the device that triggered it says why', async () => {
  const [sensor, target] = [await world.mqttDevice(), await world.mqttDevice()];
  const action = await downlinkAction({
    downlinkPayload: {},
    targetDeviceIds: [target.id],
    downlinkType: 'MQTT',
    topic: 'siren',
  });
  await warmRule(sensor, action);
  await world.must('DELETE', `/v3/devices/${target.id}`);
  const { send } = await listening(sensor);
  await send({ t: 30 });
  const dead = async () =>
    (await world.must('GET', `/v3/output-connectors/${action}/deliveries?state=DEAD`)).content;
  await expect
    .poll(dead, within)
    .toMatchObject([{ tries: 1, reason: expect.stringContaining(target.id) }]);
  const log = await world.must('GET', `/v3/devices/${sensor.id}/processing-logs?level=ERROR`);
  expect(log.content).toMatchObject([
    { source: 'OUTPUT', message: expect.stringContaining(target.id) },
  ]);
});
