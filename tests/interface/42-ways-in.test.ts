// Contract 42: exact integers and plausible times over every way in other than plain HTTP, whose rules 42-data-in tests.
import { encode } from 'cborg';
import sparkplugPayload from 'sparkplug-payload';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { databaseConnectorId } from '../../src/model/ids.ts';
import { askCoap, freeUdpPort } from '../world/coap-device.ts';
import { type MqttDevice, type MqttWorld, startMqttWorld } from '../world/mqtt-world.ts';

const codec = sparkplugPayload.get('spBv1.0')!;
let world: MqttWorld;
let coapPort: number;
beforeAll(async () => {
  coapPort = await freeUdpPort();
  world = await startMqttWorld({ environment: { COAP_PORT: String(coapPort) } });
});
afterAll(() => world.close());

interface Found {
  readonly timestamp: string;
  readonly data: Record<string, unknown>;
}

const samplesOf = (id: string): Promise<Found[]> =>
  world.must('POST', `/v3/devices/${id}/query`, { topic: '*', limit: 100 });
const notesOf = async (id: string): Promise<string[]> =>
  (await world.must('GET', `/v3/devices/${id}/processing-logs`)).content.map(
    ({ message }: { message: string }) => message,
  );

const big = 9_007_199_254_740_993n;
const least = -(2n ** 63n);
const exact = { a: String(big), b: String(least), c: 9_007_199_254_740_991, d: 1.5 };
/** Of the data above; JSON of a sender that has 64 bits. */
const json = `{"a":${big},"b":${least},"c":9007199254740991,"d":1.5}`;
const note = /safe range and was stored as a string|Integers outside the safe range/;

const senml = (base: string) =>
  `[{"bn":"${base}:","n":"a","v":${big}},{"n":"b","v":${least}},{"n":"c","v":9007199254740991},{"n":"d","v":1.5}]`;
const senmlCbor = (base: string) =>
  Buffer.from(
    encode([
      new Map<number, unknown>([
        [-2, `${base}:`],
        [0, 'a'],
        [2, big],
      ]),
      ...[
        ['b', least],
        ['c', 9_007_199_254_740_991],
        ['d', 1.5],
      ].map(
        ([name, value]) =>
          new Map<number, unknown>([
            [0, name],
            [2, value],
          ]),
      ),
    ]),
  );

/** A device over HTTP or CoAP and the query that it sends with. */
async function sender() {
  const { id, secret, deviceId } = await world.device();
  return { id, deviceId, query: { secret, deviceId } };
}

async function captured(type: string, body: (deviceId: string) => string | Buffer) {
  const { id, deviceId, query } = await sender();
  const sent = body(deviceId);
  const answer = await fetch(`${world.base}/v3/capture?${new URLSearchParams(query)}`, {
    method: 'POST',
    headers: { 'content-type': type },
    body: typeof sent === 'string' ? sent : new Uint8Array(sent),
  });
  expect(answer.status).toBe(201);
  return id;
}

async function overCoap(format: number, body: (deviceId: string) => string | Buffer) {
  const { id, deviceId, query } = await sender();
  const options = { 'Content-Format': Buffer.from([format]) };
  const answer = await askCoap(coapPort, { query, body: body(deviceId), options });
  expect(answer.code).toBe('2.01');
  return id;
}

async function overMqtt(protocolVersion: 4 | 5) {
  const device = await world.mqttDevice();
  const client = await world.client(device, { protocolVersion });
  await client.publishAsync(`/up/${device.secret}/id/${device.deviceId}`, json, { qos: 1 });
  return device.id;
}

async function written(lines: string, precision: string): Promise<string> {
  const { id, secret, deviceId, connectorId } = await world.device();
  await world.must('PUT', `/v3/device-connectors/${connectorId}`, { lineProtocol: {} });
  const url = `${world.base}/api/v2/write?precision=${precision}`;
  const headers = { authorization: `Token ${secret}` };
  const body = lines.replaceAll('HOST', deviceId.replaceAll(' ', '\\ '));
  const answer = await fetch(url, { method: 'POST', headers, body });
  expect([answer.status, await answer.text()]).toEqual([204, '']);
  return id;
}

/** As the encoder takes 64 bits. */
const words = (whole: bigint) => ({
  low: Number(BigInt.asIntN(32, whole)),
  high: Number(BigInt.asIntN(32, whole >> 32n)),
  unsigned: whole >= 0n,
});

/** A node with one birth, whose metrics may have times. */
async function born(metrics: readonly object[], timestamp: unknown): Promise<string> {
  const sparkplug = { createDevices: { devicesMax: 2 } };
  const { connectorId, secret }: MqttDevice = await world.mqttDevice({ connector: { sparkplug } });
  const group = `ways-${connectorId}`;
  const client = await world.client({ connectorId, secret } as MqttDevice);
  const seq = { name: 'bdSeq', type: 'Int64', value: 0 };
  const birth = { timestamp, seq: 0, metrics: [seq, ...metrics] };
  const payload = Buffer.from(codec.encodePayload(birth as never));
  await client.publishAsync(`spBv1.0/${group}/NBIRTH/node`, payload, { qos: 0 });
  const found = () =>
    world.must('POST', '/v3/assets/list', {
      workspaceIds: [world.workspaceId],
      expression: { field: 'deviceId', predicate: 'EQUALS', values: [`${group}/node`] },
    });
  // Another node may answer the next request.
  return vi.waitFor(async () => {
    const { content } = await found();
    expect(content).toHaveLength(1);
    return content[0].id as string;
  }, 240_000);
}

describe('review behaviour 14: integers beyond 2^53 arrive as their exact text with a note', () => {
  test.each<[string, () => Promise<string>]>([
    ['MQTT 3.1.1', () => overMqtt(4)],
    ['MQTT 5', () => overMqtt(5)],
    ['JSON over CoAP', () => overCoap(50, () => json)],
    [
      'CBOR over CoAP',
      () => overCoap(60, () => Buffer.from(encode({ a: big, b: least, c: exact.c, d: exact.d }))),
    ],
    ['SenML in JSON over HTTP', () => captured('application/senml+json', senml)],
    ['SenML in CBOR over HTTP', () => captured('application/senml+cbor', senmlCbor)],
    ['SenML in JSON over CoAP', () => overCoap(110, senml)],
    ['SenML in CBOR over CoAP', () => overCoap(112, senmlCbor)],
    ['line protocol', () => written(`m,host=HOST a=${big}i,b=${least}i,c=${exact.c}i,d=1.5`, 'ns')],
    [
      'Sparkplug',
      () =>
        born(
          [
            { name: 'a', type: 'UInt64', value: words(big) },
            { name: 'b', type: 'Int64', value: words(least) },
            { name: 'c', type: 'Int64', value: exact.c },
            { name: 'd', type: 'Double', value: 1.5 },
          ],
          Date.now(),
        ),
    ],
  ])('%s', async (_, send) => {
    const id = await send();
    await expect.poll(() => samplesOf(id)).toMatchObject([{ data: exact }]);
    await expect
      .poll(() => notesOf(id))
      .toEqual(expect.arrayContaining([expect.stringMatching(note)]));
  });

  test('the event of a network server, whose members decoders get', async () => {
    const { workspaceId } = world;
    const name = 'events';
    const connector = await world.must('POST', '/v3/device-connectors', {
      name,
      workspaceId,
      connectivity: 'HTTP',
      decodingType: 'DISRUPTIVE_TECHNOLOGIES',
    });
    const flow = await world.must('POST', '/v3/data-flows', {
      name,
      workspaceId,
      passThrough: true,
      deviceConnector: { id: connector.id },
      outputConnectors: [{ id: databaseConnectorId, topic: '*' }],
    });
    const draft = { name, workspaceId, dataFlowId: flow.id, deviceId: 'EMUC4AH9R13UM94O4PP3' };
    const { id } = await world.must('POST', '/v3/devices', draft);
    const event = `{"targetName":"projects/a/devices/emuc4ah9r13um94o4pp3","eventType":"x","data":${json}}`;
    const path = `/v3/capture?secret=${connector.uplinkSecret}`;
    const answer = await world.call('POST', path, `{"event":${event}}`);
    expect([answer.status, answer.body.message]).toEqual([201, 'uplink received']);
    expect(await samplesOf(id)).toMatchObject([{ data: exact }]);
    await expect.poll(() => notesOf(id)).toEqual([expect.stringMatching(note)]);
  });
});

const seconds = Math.floor(Date.now() / 1_000);
const since2000 = (found: readonly Found[]) =>
  found.every(({ timestamp }) => timestamp > '2000-01-01');

describe('review behaviour 13: times', () => {
  test('seconds of Sparkplug are no milliseconds: the metric has the time of the message, and is noted', async () => {
    const metrics = [
      { name: 'a', type: 'Int32', value: 1, timestamp: seconds },
      { name: 'b', type: 'Int32', value: 2 },
    ];
    const id = await born(metrics, Date.now());
    await expect.poll(() => samplesOf(id)).toMatchObject([{ data: { a: 1, b: 2 } }]);
    expect(since2000(await samplesOf(id))).toBe(true);
    await expect
      .poll(() => notesOf(id))
      .toEqual(
        expect.arrayContaining([
          expect.stringMatching(/: a has the time of the message: .*seconds\? send milliseconds/),
        ]),
      );
  });

  test('a message of Sparkplug in seconds has the time of receipt, and is noted', async () => {
    const id = await born([{ name: 'a', type: 'Int32', value: 1 }], seconds);
    await expect.poll(() => samplesOf(id)).toMatchObject([{ data: { a: 1 } }]);
    expect(since2000(await samplesOf(id))).toBe(true);
    await expect
      .poll(() => notesOf(id))
      .toEqual(expect.arrayContaining([expect.stringMatching(/seconds\? send milliseconds/)]));
  });

  test.each<[string, () => Promise<string>]>([
    [
      'SenML over HTTP',
      () => captured('application/senml+json', () => `[{"n":"a","bt":300000000,"v":1}]`),
    ],
    ['SenML over CoAP', () => overCoap(110, () => `[{"n":"a","bt":300000000,"v":1}]`)],
    ['line protocol', () => written('m,host=HOST a=1 300000000', 's')],
    [
      'bulk lines',
      async () => {
        const { id } = await sender();
        const body = `{"timestamp":"1999-12-31T23:00:00Z","data":{"a":1}}\n`;
        const type = { 'content-type': 'application/x-ndjson' };
        await world.call('POST', `/v3/devices/${id}/backfill/bulk`, body, type);
        return id;
      },
    ],
  ])('before 2000 by %s is stored and noted', async (_, send) => {
    const id = await send();
    expect(await samplesOf(id)).toMatchObject([{ data: { a: 1 } }]);
    await expect.poll(() => notesOf(id)).toEqual([expect.stringContaining('before 2000')]);
  });

  test('lines and parameters of CoAP refuse numbers that are no milliseconds', async () => {
    const { id, query } = await sender();
    const lines = `{"timestamp":${seconds},"data":{"a":1}}\n{"data":{"a":2}}`;
    const type = { 'content-type': 'application/x-ndjson' };
    const { body } = await world.call('POST', `/v3/devices/${id}/backfill/bulk`, lines, type);
    expect(body).toMatchObject({
      accepted: 1,
      rejected: [{ index: 0, message: expect.stringContaining('seconds? send milliseconds') }],
    });
    const answer = await askCoap(coapPort, {
      query: { ...query, timestamp: String(seconds) },
      body: '{"a":3}',
    });
    expect([answer.code, answer.text]).toEqual([
      '4.00',
      expect.stringContaining('seconds? send milliseconds'),
    ]);
    expect(await samplesOf(id)).toHaveLength(1);
  });
});
