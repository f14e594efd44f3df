// SenML over HTTP and CoAP: packs in JSON and CBOR, names that are devices, decoders, repetitions.
import { encode } from 'cborg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askCoap, freeUdpPort } from '../world/coap-device.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let port: number;
beforeAll(async () => {
  port = await freeUdpPort();
  world = await startWorld({ environment: { COAP_PORT: String(port) } });
});
afterAll(() => world.close());

const stored = async (id: string) => {
  const body = { topic: '*', limit: 100 };
  const samples = await world.must('POST', `/v3/devices/${id}/query`, body);
  return samples.map(({ topic, timestamp, data, meta }: Record<string, string>) => ({
    topic,
    at: Date.parse(timestamp ?? '') / 1_000,
    data,
    units: Object(meta).units,
  }));
};

async function send(device: TestDevice, type: string, body: string | Buffer, more = '') {
  const query = `secret=${device.secret}&deviceId=${device.deviceId}${more}`;
  const answer = await fetch(`${world.base}/v3/capture?${query}`, {
    method: 'POST',
    headers: { 'content-type': type },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });
  return { status: answer.status, body: await answer.json() };
}

const at = 1_767_571_200;
const pack = (base: string) => [
  { bn: base, bt: at, n: 'temp', u: 'Cel', v: 21.5 },
  { n: 'door', vb: true },
  { n: 'temp', u: 'Cel', t: 1, v: 22 },
];
/** The pack with the labels of CBOR. */
const numbered = (base: string) =>
  encode([
    new Map<number, unknown>([
      [-2, base],
      [-3, at],
      [0, 'temp'],
      [1, 'Cel'],
      [2, 21.5],
    ]),
    new Map<number, unknown>([
      [0, 'door'],
      [4, true],
    ]),
    new Map<number, unknown>([
      [0, 'temp'],
      [1, 'Cel'],
      [6, 1],
      [2, 22],
    ]),
  ]);
const samples = [
  { topic: 'default', at: at + 1, data: { temp: 22 }, units: { temp: 'Cel' } },
  { topic: 'default', at, data: { temp: 21.5, door: true }, units: { temp: 'Cel' } },
];

test.each([
  ['application/senml+json', (base: string) => JSON.stringify(pack(base))],
  ['application/sensml+json', (base: string) => JSON.stringify(pack(base))],
  ['application/senml+cbor', (base: string) => Buffer.from(numbered(base))],
])('%s over HTTP', async (type, body) => {
  const device = await world.device();
  expect(await send(device, type, body(`${device.deviceId}:`))).toMatchObject({
    status: 201,
    body: { message: 'uplink received' },
  });
  expect(await stored(device.id)).toEqual(samples);
  const { content } = await world.must('GET', `/v3/devices/${device.id}/uplinks`);
  expect(content).toHaveLength(1);
});

test.each([
  [110, (base: string) => Buffer.from(JSON.stringify(pack(base)))],
  [112, (base: string) => Buffer.from(numbered(base))],
  [111, (base: string) => Buffer.from(JSON.stringify(pack(base)))],
  [113, (base: string) => Buffer.from(numbered(base))],
])('Content-Format %i over CoAP', async (format, body) => {
  const { secret, deviceId, id } = await world.device();
  const options = { 'Content-Format': Buffer.from([format]) };
  const asked = { query: { secret, deviceId }, body: body(`${deviceId}:`), options };
  expect(await askCoap(port, asked)).toMatchObject({ code: '2.01' });
  expect(await stored(id)).toEqual(samples);
});

test('names that begin with another device of the connector are its samples', async () => {
  const gateway = await world.device();
  const { workspaceId } = world;
  const names = { name: 'Sensor', deviceId: 'urn:dev:ow:10e2', connectivity: 'HTTP' };
  const sensor = await world.must('POST', '/v3/devices', {
    ...names,
    workspaceId,
    dataFlowId: gateway.dataFlowId,
  });
  const stranger = await world.device();
  const body = JSON.stringify([
    { bt: at, n: 'urn:dev:ow:10e2:temp', v: 1 },
    { n: 'uptime', v: 2 },
    { n: `${stranger.deviceId.replaceAll(' ', '-')}:temp`, v: 3 },
  ]);
  expect(await send(gateway, 'application/senml+json', body, '&topic=climate')).toMatchObject({
    status: 201,
  });
  expect(await stored(sensor.id)).toMatchObject([{ topic: 'climate', at, data: { temp: 1 } }]);
  expect(await stored(gateway.id)).toMatchObject([{ topic: 'climate', at, data: { uptime: 2 } }]);
  expect(await stored(stranger.id)).toEqual([]);
});

test('a decoder gets the pack as JSON, and decides itself', async () => {
  const script = 'function consume(e) { emit("sample", { data: { n: e.data.values.length } }); }';
  const device = await world.device({ script });
  expect(await send(device, 'application/senml+cbor', Buffer.from(numbered('x:')))).toMatchObject({
    status: 201,
  });
  expect(await stored(device.id)).toMatchObject([{ data: { n: 3 } }]);
});

test('a pack that is not valid is refused, and nothing of it is stored', async () => {
  const device = await world.device();
  const bad = [...pack('a:'), { n: 'b', v: 1, must_: 1 }];
  expect(await send(device, 'application/senml+json', JSON.stringify(bad))).toMatchObject({
    status: 400,
    body: { errorCode: '40079_SENML_INVALID' },
  });
  expect(await send(device, 'application/senml+cbor', Buffer.from([0xff]))).toMatchObject({
    status: 400,
  });
  expect(await stored(device.id)).toEqual([]);
});

test('an Idempotency-Key stores a pack with times of receipt once', async () => {
  const device = await world.device();
  const query = `secret=${device.secret}&deviceId=${device.deviceId}`;
  const sent = async () => {
    const answer = await fetch(`${world.base}/v3/capture?${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/senml+json', 'idempotency-key': 'k1' },
      body: JSON.stringify([{ n: 'temp', v: 1 }]),
    });
    return [answer.status, ((await answer.json()) as { id: string }).id];
  };
  expect(await sent()).toEqual(await sent());
  expect(await stored(device.id)).toHaveLength(1);
});
