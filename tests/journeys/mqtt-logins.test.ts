// MQTT logins: device tokens, revocation, TLS and WebSocket (contract 11, 18, 35).
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate } from '../servers/certificate.ts';
import {
  closed,
  type DeviceKey,
  deviceKey,
  inbox,
  type MqttDevice,
  type MqttWorld,
  refusalCode,
  startMqttWorld,
  upTopic,
} from '../world/mqtt-world.ts';

let world: MqttWorld;
let folder: string;
let authority: string;
const rsa = deviceKey('RS256');
const ec = deviceKey('ES256');
const audience = 'https://iot.example';
const second = () => Math.floor(Date.now() / 1_000);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'heliograph-mqtt-tls-'));
  const { certPath, keyPath, cert } = await makeCertificate(folder);
  authority = cert;
  world = await startMqttWorld({
    environment: { DEVICE_AUDIENCE: audience, MQTT_TLS_CERT: certPath, MQTT_TLS_KEY: keyPath },
  });
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

async function keyedDevice(...keys: readonly DeviceKey[]): Promise<MqttDevice> {
  const device = await world.mqttDevice({ connector: { authType: 'DEVICE_CREDENTIALS' } });
  for (const key of keys) await addKey(device, key);
  return { ...device, secret: 'device' };
}

async function addKey(
  device: MqttDevice,
  { algorithm, pem }: DeviceKey,
  fields: object = {},
): Promise<string> {
  const path = `/v3/device-authorization/devices/${device.id}/credentials`;
  const body = { akenzaDeviceId: device.id, algorithm, publicKey: pem, ...fields };
  return (await world.must('POST', path, body)).id;
}

const claimsOf = ({ deviceId }: MqttDevice, changed: object = {}) => ({
  sub: deviceId,
  aud: `${audience}/devices/${deviceId}`,
  iat: second(),
  exp: second() + 600,
  ...changed,
});

const login = (device: MqttDevice, password: string, clientId = device.deviceId) =>
  world.clientWith({ username: 'unused', password, clientId });

for (const [name, key] of [
  ['RS256', rsa],
  ['ES256', ec],
] as const) {
  test(`contract 18: a token signed with ${name} lets the device publish and subscribe on its own topics`, async () => {
    const device = await keyedDevice(rsa, ec);
    const client = await login(device, await key.token(claimsOf(device)));
    await client.publishAsync(upTopic(device, '/climate'), '{"value":1}', { qos: 1, retain: true });
    expect(await world.samples(device)).toMatchObject([{ topic: 'climate', data: { value: 1 } }]);
    const box = inbox(client);
    await client.subscribeAsync(`/down/device/id/${device.deviceId}/#`, { qos: 1 });
    await world.must('POST', `/v3/devices/${device.id}/configuration`, {
      configuration: { on: true },
    });
    await world.must('POST', `/v3/devices/${device.id}/configuration/push`, {});
    expect(await box.next()).toMatchObject({
      topic: `/down/device/id/${device.deviceId}/configuration`,
    });
  });
}

test('contract 35: the vendor’s audience is taken as well, and an audience in a list', async () => {
  const device = await keyedDevice(ec);
  const aud = `https://akenza.io/devices/${device.deviceId}`;
  for (const audiences of [aud, ['https://elsewhere', aud]])
    expect(
      await refusalCode(login(device, await ec.token(claimsOf(device, { aud: audiences })))),
    ).toBe(0);
});

const refusals: readonly [string, (device: MqttDevice) => Promise<string>][] = [
  ['expired', (device) => ec.token(claimsOf(device, { iat: second() - 900, exp: second() - 300 }))],
  [
    'without an expiry',
    ({ deviceId }) => ec.token({ sub: deviceId, aud: `${audience}/devices/${deviceId}` }),
  ],
  ['from the future', (device) => ec.token(claimsOf(device, { iat: second() + 600 }))],
  ['not valid yet', (device) => ec.token(claimsOf(device, { nbf: second() + 600 }))],
  [
    'for another audience',
    (device) => ec.token(claimsOf(device, { aud: `https://elsewhere/devices/${device.deviceId}` })),
  ],
  [
    'for another device’s audience',
    (device) => ec.token(claimsOf(device, { aud: `${audience}/devices/other` })),
  ],
  ['without an audience', ({ deviceId }) => ec.token({ sub: deviceId, exp: second() + 600 })],
  ['of another subject', (device) => ec.token(claimsOf(device, { sub: 'other' }))],
  ['signed by somebody else', (device) => deviceKey('ES256').token(claimsOf(device))],
  ['signed by the other kind of key', (device) => rsa.token(claimsOf(device))],
  [
    'signed with the public key as a secret',
    (device) => ec.token(claimsOf(device), { alg: 'HS256', key: Buffer.from(ec.pem) }),
  ],
  [
    'not signed',
    (device) => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      return Promise.resolve(`${part({ alg: 'none' })}.${part(claimsOf(device))}.`);
    },
  ],
  [
    'changed',
    async (device) => {
      const [head, , signature] = (await ec.token(claimsOf(device))).split('.');
      const claims = Buffer.from(
        JSON.stringify(claimsOf(device, { exp: second() + 9_000 })),
      ).toString('base64url');
      return `${head}.${claims}.${signature}`;
    },
  ],
];

test('contract 35: tokens that are not right are refused', async () => {
  const device = await keyedDevice(ec);
  expect(await refusalCode(login(device, await ec.token(claimsOf(device))))).toBe(0);
  for (const [what, token] of refusals) {
    expect([what, await refusalCode(login(device, await token(device)))]).toEqual([what, 5]);
  }
});

test('alg confusion: an RSA public key is not an HMAC secret', async () => {
  const device = await keyedDevice(rsa);
  for (const secret of [rsa.pem, `${rsa.pem}\n`, rsa.pem.trim()]) {
    const token = await rsa.token(claimsOf(device), { alg: 'HS256', key: Buffer.from(secret) });
    expect(await refusalCode(login(device, token))).toBe(5);
  }
});

test('contract 18: the client id must be the device, and a token opens no other device', async () => {
  const [device, other] = [await keyedDevice(ec), await keyedDevice(rsa)];
  const token = await ec.token(claimsOf(device));
  for (const clientId of ['anything', other.deviceId, device.id])
    expect(await refusalCode(login(device, token, clientId))).toBe(5);
  const client = await login(device, token);
  client.publish(upTopic(other), '{"value":1}', { qos: 1 }, () => undefined);
  await closed(client);
  expect(await world.samples(other)).toEqual([]);
});

test('an expired credential is rejected', async () => {
  const device = await keyedDevice();
  await addKey(device, ec, { expiration: new Date(Date.now() - 1_000).toISOString() });
  expect(await refusalCode(login(device, await ec.token(claimsOf(device))))).toBe(5);
});

test('a deleted credential ends the connection immediately', async () => {
  const device = await keyedDevice(rsa);
  const credential = await addKey(device, ec);
  const [kept, ended] = [
    await keyedDevice(ec),
    await login(device, await ec.token(claimsOf(device))),
  ];
  const other = await login(kept, await ec.token(claimsOf(kept)));
  await world.must(
    'DELETE',
    `/v3/device-authorization/devices/${device.id}/credentials/${credential}`,
  );
  await closed(ended);
  await other.publishAsync(upTopic(kept), '{"value":1}', { qos: 1 });
  expect(await refusalCode(login(device, await ec.token(claimsOf(device))))).toBe(5);
});

test('a deleted device ends its connections, also those that only listen to it; its will is not stored', async () => {
  const device = await world.mqttDevice();
  const beside = await world.mqttDevice({ beside: device });
  const listening = await world.client(device, {
    will: { topic: upTopic(beside), payload: Buffer.from('{"gone":1}'), qos: 1 },
  });
  await listening.subscribeAsync(`/down/${device.secret}/id/${device.deviceId}/#`);
  await world.must('DELETE', `/v3/devices/${device.id}`);
  await closed(listening);
  expect(await world.samples(beside)).toEqual([]);
});

test('a device that moves to another connector is no longer reached over the old one', async () => {
  const [device, other] = [await world.mqttDevice(), await world.mqttDevice()];
  const client = await world.client(device);
  await client.subscribeAsync(`/down/${device.secret}/id/${device.deviceId}/#`);
  const { id, deviceId } = device;
  await world.must('PUT', `/v3/devices/${id}`, {
    id,
    name: 'moved',
    deviceId,
    dataFlowId: other.dataFlowId,
    connectivity: 'MQTT',
  });
  await closed(client);
  const again = await world.client(device);
  // Acknowledged and dropped, as what can never succeed is.
  await again.publishAsync(upTopic(device), '{"value":1}', { qos: 1 });
  expect(await world.samples(device)).toEqual([]);
});

test('contract 18: the same over TLS, and over WebSocket next to the live stream', async () => {
  const device = await world.mqttDevice();
  const urls = [
    `mqtts://127.0.0.1:${world.mqttTlsPort}`,
    `${world.base.replace('http', 'ws')}/mqtt`,
  ];
  for (const [i, url] of urls.entries()) {
    const client = await world.client(device, { ca: authority }, url);
    await client.publishAsync(upTopic(device), JSON.stringify({ i }), { qos: 1 });
    const box = inbox(client);
    await client.subscribeAsync(`/down/${device.secret}/id/${device.deviceId}/#`, { qos: 1 });
    await world.must('POST', `/v3/devices/${device.id}/configuration`, { configuration: { i } });
    await world.must('POST', `/v3/devices/${device.id}/configuration/push`, {});
    expect((await box.next()).text).toBe(JSON.stringify({ i }));
    await client.endAsync();
  }
  expect((await world.samples(device)).map(({ data }) => data['i'])).toEqual([0, 1]);
  const socket = new WebSocket(
    `${world.base.replace('http', 'ws')}/v3/data-streams?xApiKey=${world.apiKey}`,
  );
  const greeting = await new Promise<string>((resolve) =>
    socket.addEventListener('message', ({ data }) => resolve(String(data)), { once: true }),
  );
  expect(JSON.parse(greeting)).toMatchObject({ type: 'connected' });
  socket.close();
});

test('a WebSocket for another subprotocol, or a wrong secret over it, is refused', async () => {
  const device = await world.mqttDevice();
  const url = `${world.base.replace('http', 'ws')}/mqtt`;
  const refused = new WebSocket(url, 'chat');
  await new Promise((resolve) => refused.addEventListener('error', resolve, { once: true }));
  expect(await refusalCode(world.client({ ...device, secret: 'wrong' }, {}, url))).toBe(5);
});

test('review behaviour 32: over TLS a DISCONNECT is answered by the end of the session, not by a bare end of the connection', async () => {
  const device = await world.mqttDevice();
  const answered: Buffer[] = [];
  // The bytes of the platform on the wire: with TLS 1.2 the kind of a record can be read.
  const between = createServer((near) => {
    const far = connect(world.mqttTlsPort, '127.0.0.1');
    far.on('data', (bytes: Buffer) => void answered.push(bytes));
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => undefined);
  });
  between.listen(0, '127.0.0.1');
  await once(between, 'listening');
  const { port } = between.address() as AddressInfo;
  const socket = connectTls({
    port,
    host: '127.0.0.1',
    ca: authority,
    servername: 'localhost',
    maxVersion: 'TLSv1.2',
  });
  const errors: unknown[] = [];
  socket.on('error', (error) => errors.push(error));
  const text = (value: string) =>
    Buffer.concat([Buffer.from([value.length >> 8, value.length & 255]), Buffer.from(value)]);
  const variable = Buffer.from([...text('MQTT'), 4, 0xc2, 0, 60]);
  const body = Buffer.concat([
    variable,
    text('tls-end'),
    text(device.connectorId),
    text(device.secret),
  ]);
  socket.write(Buffer.concat([Buffer.from([0x10, body.length]), body]));
  const [acknowledged] = (await once(socket, 'data')) as [Buffer];
  expect([...acknowledged]).toEqual([0x20, 2, 0, 0]);
  answered.length = 0;
  socket.write(Buffer.from([0xe0, 0]));
  await once(socket, 'close');
  between.close();
  const alert = 0x15;
  expect([errors, Buffer.concat(answered)[0]]).toEqual([[], alert]);
});
