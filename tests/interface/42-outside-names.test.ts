// Contract 42: names from outside are limited before they become a key of anything, on every way in.
import { gzipSync } from 'node:zlib';
import { encode } from 'cborg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MqttDevice, type MqttWorld, startMqttWorld } from '../world/mqtt-world.ts';
import { beside, longestTurn, makeNeighbour, type Neighbour } from '../world/neighbour.ts';
import { leastOf } from '../../src/structures/testing-processor-time.ts';
import type { TestDevice } from '../world/world.ts';

let world: MqttWorld;
let device: TestDevice;
let scripted: TestDevice;
let neighbour: Neighbour;
let mqttDevice: MqttDevice;
let points: { readonly secret: string; readonly id: string };
beforeAll(async () => {
  world = await startMqttWorld();
  neighbour = await makeNeighbour(world);
  device = await world.device();
  scripted = await world.device({
    script:
      'function consume(e) { const d = e.data; emit("sample", { data: d.data, topic: d.topic }); }',
  });
  mqttDevice = await world.mqttDevice();
  points = await pointDevice();
});
afterAll(() => world.close());

async function pointDevice() {
  const { workspaceId } = world;
  const names = { name: 'points', workspaceId };
  const connector = await world.must('POST', '/v3/device-connectors', {
    ...names,
    connectivity: 'HTTP',
    lineProtocol: {},
  });
  const flow = await world.must('POST', '/v3/data-flows', {
    ...names,
    passThrough: true,
    deviceConnector: { id: connector.id },
    outputConnectors: [{ id: '0900000000000000', topic: '*' }],
  });
  const made = await world.must('POST', '/v3/devices', {
    ...names,
    deviceId: 'point-device',
    dataFlowId: flow.id,
    connectivity: 'HTTP',
  });
  return { secret: connector.uplinkSecret as string, id: made.id as string };
}

/** Names of one length that differ only at their ends; those of another attempt are others. */
function longNames(length: number, attempt: number): string[] {
  const count = Math.min(500, Math.floor(6e6 / length));
  const start = 'nop'.charAt(attempt).repeat(length - 8);
  return Array.from({ length: count }, (_, i) => start + String(i).padStart(8, '0'));
}

interface Sent {
  readonly status: number | string;
  readonly text: string;
}

async function post(
  path: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Sent> {
  const sent = typeof body === 'string' ? body : new Uint8Array(body);
  const answer = await fetch(world.base + path, { method: 'POST', headers, body: sent });
  return { status: answer.status, text: await answer.text() };
}

const json = { 'content-type': 'application/json' };
const ndjson = { 'content-type': 'application/x-ndjson' };
const senml = { 'content-type': 'application/senml+json' };
const asOwner = () => ({ 'x-api-key': world.apiKey });
const captureOf = ({ secret, deviceId }: TestDevice) =>
  `/v3/capture?secret=${secret}&deviceId=${deviceId}`;
const cut = (names: readonly string[], bytesMax: number) =>
  names.slice(0, Math.max(1, Math.floor(bytesMax / (names[0]!.length + 40))));
const elements = (names: readonly string[], one: (name: string, i: number) => object) =>
  names.map((name, i) => JSON.stringify(one(name, i)));
const objectOf = (names: readonly string[], value: unknown = 1) =>
  Object.fromEntries(names.map((name) => [name, value]));
const write = (lines: readonly string[], isZipped: boolean) => {
  const text = Buffer.from(lines.join('\n'));
  const authorization = `Token ${points.secret}`;
  const headers = { authorization, ...(isZipped && { 'content-encoding': 'gzip' }) };
  const body = isZipped ? gzipSync(text) : text;
  return () => post('/api/v2/write', body, headers);
};
const bulk = (lines: readonly string[]) => {
  const body = Buffer.from(lines.join('\n'));
  return () => post('/v3/samples/bulk', body, { ...asOwner(), ...ndjson });
};
const minute = (i: number) => 1_767_225_600_000 + i * 60_000;
const statuses = (...wanted: readonly (number | string)[]) => wanted;

/** Each makes its request first, so that the time of making it does not count. */
const intakes: Record<
  string,
  {
    readonly prepare: (names: readonly string[]) => () => Promise<Sent | undefined>;
    readonly wanted: readonly (number | string)[];
  }
> = {
  'line protocol, tag that names the device': {
    prepare: (names) =>
      write(
        names.map((name) => `m,device=${name} v=1`),
        false,
      ),
    wanted: statuses(400),
  },
  'line protocol, tag that names the device, gzip': {
    prepare: (names) =>
      write(
        names.map((name) => `m,device=${name} v=1`),
        true,
      ),
    wanted: statuses(400),
  },
  'line protocol, measurement': {
    prepare: (names) =>
      write(
        names.map((name) => `${name},device=point-device v=1`),
        true,
      ),
    wanted: statuses(400),
  },
  'line protocol, other tag': {
    prepare: (names) =>
      write(
        names.map((name) => `m,device=point-device,t=${name} v=1`),
        true,
      ),
    wanted: statuses(400),
  },
  'line protocol, tag key': {
    prepare: (names) =>
      write(
        names.map((name) => `m,device=point-device,${name}=1 v=1`),
        true,
      ),
    wanted: statuses(400),
  },
  'line protocol, many short tags': {
    prepare: (names) =>
      write(
        names.map((name) => {
          const tags = name.match(/.{1,400}/g)!.map((part, i) => `t${i}=${part}`);
          return `m,device=point-device,${tags.join()} v=1`;
        }),
        true,
      ),
    wanted: statuses(204),
  },
  'line protocol, field key': {
    prepare: (names) =>
      write(
        names.map((name, i) => `m,device=point-device ${name}=1 ${minute(i)}000000`),
        true,
      ),
    wanted: statuses(204),
  },
  'line protocol, text': {
    prepare: (names) =>
      write(
        names.map((name, i) => `m,device=point-device v="${name}" ${minute(i)}000000`),
        true,
      ),
    wanted: statuses(204),
  },
  'bulk, unknown device id': {
    prepare: (names) => {
      const lines = elements(names, (deviceId) => ({ deviceId, data: { v: 1 } }));
      return bulk(lines);
    },
    wanted: statuses(400),
  },
  'bulk, array, unknown device id with times': {
    prepare: (names) => {
      const lines = elements(names, (deviceId, i) => ({
        deviceId,
        timestamp: minute(i),
        data: { v: 1 },
      }));
      const body = Buffer.from(`[${lines.join()}]`);
      return () => post('/v3/samples/bulk', body, { ...asOwner(), ...json });
    },
    wanted: statuses(400),
  },
  'bulk, topic': {
    prepare: (names) => {
      const lines = elements(names, (topic, i) => ({
        deviceId: device.id,
        topic,
        timestamp: minute(i),
        data: { v: 1 },
      }));
      return bulk(lines);
    },
    wanted: statuses(201),
  },
  'bulk, data key': {
    prepare: (names) => {
      const lines = elements(names, (name, i) => ({
        deviceId: device.id,
        timestamp: minute(i),
        data: { [name]: 1 },
      }));
      return bulk(lines);
    },
    wanted: statuses(201),
  },
  'bulk, data key with escapes': {
    prepare: (names) => {
      const lines = names.map(
        (name, i) =>
          `{"deviceId":"${device.id}","timestamp":${minute(i)},"data":{"\\"${name}" : 1}}`,
      );
      return bulk(lines);
    },
    wanted: statuses(201),
  },
  'bulk, path of short keys': {
    prepare: (names) => {
      const lines = elements(names, (name, i) => {
        const parts = name.match(/.{1,400}/g)!.slice(0, 60);
        const data = parts.reduceRight<object>((inner, part) => ({ [part]: inner }), { v: i });
        return { deviceId: device.id, timestamp: minute(i), data };
      });
      return bulk(lines);
    },
    wanted: statuses(201),
  },
  'bulk, text': {
    prepare: (names) => {
      const lines = elements(names, (v, i) => ({
        deviceId: device.id,
        timestamp: minute(i),
        data: { v },
      }));
      return bulk(lines);
    },
    wanted: statuses(201, 400),
  },
  'backfill, data key and topic': {
    prepare: (names) => {
      const lines = elements(names, (name, i) => ({
        topic: name,
        timestamp: minute(i),
        data: { [name]: 1 },
      }));
      const body = Buffer.from(lines.join('\n'));
      return () =>
        post(`/v3/devices/${device.id}/backfill/bulk`, body, { ...asOwner(), ...ndjson });
    },
    wanted: statuses(201),
  },
  'capture, data keys': {
    prepare: (names) => {
      const body = JSON.stringify(objectOf(cut(names, 900_000)));
      return () => post(captureOf(device), body, json);
    },
    wanted: statuses(201),
  },
  'capture, a decoder that emits keys and a topic': {
    prepare: (names) => {
      const sent = cut(names, 400_000);
      const body = JSON.stringify({ data: objectOf(sent), topic: sent[0] });
      return () => post(captureOf(scripted), body, json);
    },
    wanted: statuses(201),
  },
  'SenML, one long base name': {
    prepare: (names) => {
      const [bn] = names;
      const body = JSON.stringify([
        { bn, n: 'v0', v: 0 },
        ...Array.from({ length: 1_000 }, (_, i) => ({ n: `v${i}`, v: i })),
      ]);
      return () => post(captureOf(device), body, senml);
    },
    wanted: statuses(400),
  },
  'SenML, names': {
    prepare: (names) => {
      const body = JSON.stringify(cut(names, 900_000).map((n) => ({ n, v: 1 })));
      return () => post(captureOf(device), body, senml);
    },
    wanted: statuses(400),
  },
  'SenML in CBOR, names': {
    prepare: (names) => {
      const body = Buffer.from(
        encode(
          cut(names, 900_000).map(
            (n) =>
              new Map<number, unknown>([
                [0, n],
                [2, 1],
              ]),
          ),
        ),
      );
      return () => post(captureOf(device), body, { 'content-type': 'application/senml+cbor' });
    },
    wanted: statuses(400),
  },
  'MQTT, topics and data keys': {
    prepare: (names) => {
      const { secret, deviceId } = mqttDevice;
      return async () => {
        const client = await world.client(mqttDevice);
        for (const name of names.slice(0, 20))
          await client.publishAsync(
            `/up/${secret}/id/${deviceId}/${name}`,
            JSON.stringify({ [name]: 1 }),
            { qos: 1 },
          );
        await client.endAsync();
        return { status: 'acknowledged', text: '' };
      };
    },
    wanted: statuses('acknowledged'),
  },
  'run-script, sources': {
    prepare: (names) => {
      const bodies = cut(names, 2e6).map((name) =>
        JSON.stringify({
          script: `function consume(e) { emit("sample", { data: {} }); } // ${name}`,
          event: {},
        }),
      );
      return async () => {
        let last: Sent | undefined;
        for (const body of bodies)
          last = await post('/v3/run-script', body, { ...asOwner(), ...json });
        return last;
      };
    },
    wanted: statuses(200),
  },
  'workspace configuration': {
    prepare: (names) => {
      const tags = names.map((name) => ({ name }));
      const body = JSON.stringify({ version: 1, tags });
      const { workspaceId } = world;
      return () =>
        post(`/v3/workspaces/${workspaceId}/configuration/import`, body, { ...asOwner(), ...json });
    },
    wanted: statuses(400, 404, 413, 422),
  },
};

/** Milliseconds of processor time; the garbage collector takes part of it. */
const turnMsMax = 150;

describe.each([900, 17_000, 60_000])('security 1: names of %i characters', (length) => {
  test.each(Object.entries(intakes))('%s', async (_, { prepare, wanted }) => {
    const ms = await leastOf(turnMsMax, async (attempt) => {
      const send = prepare(longNames(length, attempt));
      let answer: Sent | undefined;
      let others: number[] = [];
      const turnMs = await longestTurn(async () => {
        others = await beside(neighbour, async () => {
          answer = await send();
        });
      });
      expect(others.filter((status) => status !== 201)).toEqual([]);
      expect(wanted).toContain(answer?.status);
      expect(answer!.text.length).toBeLessThan(1_000_000);
      return turnMs;
    });
    expect(ms).toBeLessThan(turnMsMax);
  });
});
