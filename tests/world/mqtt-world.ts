// MQTT world: a platform with its ports open, MQTT devices, and clients that record results.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import { SignJWT } from 'jose';
import { freePort } from '../../bench/load/server-process.ts';
import { databaseConnectorId } from '../../src/model/ids.ts';
import { startWorld, type World } from './world.ts';

export interface MqttDevice {
  readonly id: string;
  readonly deviceId: string;
  readonly connectorId: string;
  readonly dataFlowId: string;
  readonly secret: string;
}

export interface MqttWorld extends World {
  readonly mqttPort: number;
  readonly mqttTlsPort: number;
  mqttDevice(options?: MqttDeviceOptions): Promise<MqttDevice>;
  /** A client of secret mode; it is ended with the world. */
  client(device: MqttDevice, options?: IClientOptions, url?: string): Promise<MqttClient>;
  clientWith(options: IClientOptions, url?: string): Promise<MqttClient>;
  /** All there are, oldest first. */
  samples(device: MqttDevice): Promise<{ topic: string; data: Record<string, unknown> }[]>;
}

export interface MqttDeviceOptions {
  readonly script?: string;
  /** Another device on the same connector. */
  readonly beside?: MqttDevice;
  readonly connector?: Record<string, unknown>;
}

export async function startMqttWorld(
  options: { directory?: string; environment?: Record<string, string>; now?: () => number } = {},
): Promise<MqttWorld> {
  const mqttPort = await freePort();
  const mqttTlsPort = await freePort();
  const ports = { MQTT_PORT: String(mqttPort), MQTT_TLS_PORT: String(mqttTlsPort) };
  const world = await startWorld({ ...options, environment: { ...ports, ...options.environment } });
  const clients: MqttClient[] = [];
  let count = 0;

  const clientWith: MqttWorld['clientWith'] = async (
    wanted,
    url = `mqtt://127.0.0.1:${mqttPort}`,
  ) => {
    const client = await mqtt.connectAsync(url, { reconnectPeriod: 0, ...wanted }, false);
    // A connection that the platform cuts is what many tests are about.
    client.on('error', () => undefined);
    clients.push(client);
    return client;
  };

  return {
    ...world,
    mqttPort,
    mqttTlsPort,
    mqttDevice: (wanted) => createMqttDevice(world, ++count, wanted),
    client: ({ connectorId, secret }, wanted = {}, url) =>
      clientWith({ username: connectorId, password: secret, ...wanted }, url),
    clientWith,
    async samples({ id }) {
      const from = new Date(0).toISOString();
      const url = `${world.base}/v3/devices/${id}/export?format=ndjson&from=${from}`;
      const text = await (await fetch(url, { headers: { 'x-api-key': world.apiKey } })).text();
      const lines = text.split('\n').filter((line) => line !== '');
      return lines.map(
        (line) => JSON.parse(line) as { topic: string; data: Record<string, unknown> },
      );
    },
    async close() {
      await Promise.all(clients.map((client) => client.endAsync(true)));
      await world.close();
    },
  };
}

/** Its name contains the number. */
export async function createMqttDevice(
  world: Pick<World, 'workspaceId' | 'organizationId' | 'must'>,
  count: number,
  { script, beside, connector: fields = {} }: MqttDeviceOptions = {},
): Promise<MqttDevice> {
  const name = `mqtt ${count}`;
  const { workspaceId, organizationId } = world;
  const connector =
    beside === undefined
      ? await world.must('POST', '/v3/device-connectors', {
          name,
          workspaceId,
          connectivity: 'MQTT',
          ...fields,
        })
      : { id: beside.connectorId, uplinkSecret: beside.secret };
  const uplinkScript = { code: script };
  const type =
    script === undefined
      ? null
      : await world.must('POST', '/v3/device-types', {
          name,
          organizationId,
          type: 'manual',
          meta: {},
          uplinkScript,
        });
  const flow = await world.must('POST', '/v3/data-flows', {
    name,
    workspaceId,
    deviceConnector: { id: connector.id },
    deviceType: type === null ? null : { id: type.id },
    outputConnectors: [{ id: databaseConnectorId, topic: '*' }],
    passThrough: script === undefined,
  });
  const deviceId = `device-${count}`;
  const draft = { name, deviceId, workspaceId, dataFlowId: flow.id, connectivity: 'MQTT' };
  const { id } = await world.must('POST', '/v3/devices', draft);
  return {
    id,
    deviceId,
    connectorId: connector.id,
    dataFlowId: flow.id,
    secret: connector.uplinkSecret,
  };
}

export function upTopic({ secret, deviceId }: MqttDevice, sub = ''): string {
  return `/up/${secret}/id/${deviceId}${sub}`;
}

export function downTopic({ secret, deviceId }: MqttDevice, sub = '/#'): string {
  return `/down/${secret}/id/${deviceId}${sub}`;
}

/** Resolves when the client's connection has ended. */
export function closed(client: MqttClient): Promise<void> {
  return client.connected
    ? new Promise((resolve) => client.once('close', () => resolve()))
    : Promise.resolve();
}

/** The return code with which the broker refused; 0 when it did not. */
export async function refusalCode(connecting: Promise<MqttClient>): Promise<number | string> {
  try {
    await connecting;
    return 0;
  } catch (error) {
    return (error as { code?: number | string }).code ?? String(error);
  }
}

/** Messages in the order they come: `next()` waits for one. */
export function inbox(client: MqttClient) {
  const messages: { topic: string; text: string; retain: boolean; qos: number }[] = [];
  const waiting: ((message: (typeof messages)[number]) => void)[] = [];
  client.on('message', (topic, payload, { retain, qos }) => {
    const message = { topic, text: payload.toString(), retain, qos };
    const waiter = waiting.shift();
    if (waiter === undefined) messages.push(message);
    else waiter(message);
  });
  return {
    messages,
    next: async () =>
      messages.shift() ??
      new Promise<(typeof messages)[number]>((resolve) => waiting.push(resolve)),
  };
}

export interface DeviceKey {
  readonly algorithm: string;
  readonly pem: string;
  readonly token: (
    claims: Record<string, unknown>,
    header?: { alg: string; key: KeyObject | Uint8Array },
  ) => Promise<string>;
}

/** A key pair of a device. A token has the claims given and nothing else. */
export function deviceKey(kind: 'RS256' | 'ES256'): DeviceKey {
  const { publicKey, privateKey } =
    kind === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2_048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    algorithm: kind === 'RS256' ? 'RSA256_PEM' : 'EC256_PEM',
    pem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    token: (claims, { alg, key } = { alg: kind, key: privateKey }) =>
      new SignJWT(claims).setProtectedHeader({ alg, typ: 'JWT' }).sign(key),
  };
}
