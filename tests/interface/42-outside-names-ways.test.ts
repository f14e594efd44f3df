// Contract 42: names from outside are limited on the ways in that are neither HTTP bodies of samples nor MQTT topics.
import { gzipSync } from 'node:zlib';
import sparkplugPayload from 'sparkplug-payload';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { alarmRules, temperatureOf } from '../world/alarm-rules.ts';
import { askCoap, freeUdpPort } from '../world/coap-device.ts';
import { openLive } from '../world/live-socket.ts';
import { type LoraDevice, loraDevice } from '../world/lora-world.ts';
import { closed, type MqttDevice, type MqttWorld, startMqttWorld } from '../world/mqtt-world.ts';
import { beside, longestTurn, makeNeighbour, type Neighbour } from '../world/neighbour.ts';
import { leastOf } from '../../src/structures/testing-processor-time.ts';
import type { TestDevice } from '../world/world.ts';

const codec = sparkplugPayload.get('spBv1.0')!;

let world: MqttWorld;
let neighbour: Neighbour;
let coapPort: number;
let device: TestDevice;
let mqttDevice: MqttDevice;
let lora: LoraDevice;
let node: { readonly username: string; readonly password: string };
beforeAll(async () => {
  coapPort = await freeUdpPort();
  world = await startMqttWorld({ environment: { COAP_PORT: String(coapPort) } });
  neighbour = await makeNeighbour(world);
  device = await world.device();
  mqttDevice = await world.mqttDevice();
  lora = await loraDevice(world, {
    uplinkScript: 'function consume(e) { emit("sample", { data: e.data.decoded }); }',
  });
  node = await sparkplugNode();
  await keyedAlarms();
  // The first request of an assistant loads the server for them, once in a process.
  await ways['assistants, arguments of tools']!(['any'])();
});
afterAll(() => world.close());

async function sparkplugNode() {
  const names = { name: 'plant', workspaceId: world.workspaceId };
  const connector = await world.must('POST', '/v3/device-connectors', {
    ...names,
    connectivity: 'MQTT',
    sparkplug: { createDevices: { devicesMax: 10 } },
  });
  await world.must('POST', '/v3/data-flows', {
    ...names,
    passThrough: true,
    deviceConnector: { id: connector.id },
    outputConnectors: [{ id: '0900000000000000', topic: '*' }],
  });
  return { username: connector.id, password: connector.uplinkSecret };
}

/** Each hot sample opens the alarm of the key that it names. */
async function keyedAlarms() {
  const output = await alarmRules(world).output({ key: '{{data.label}}' });
  const above = {
    operandFirst: { type: 'DATA_SOURCE', dataSourceId: 's1' },
    operator: 'GT',
    operandSecond: { type: 'CONSTANT', value: 0 },
    order: 0,
  };
  await world.must('POST', '/v3/rules', {
    name: 'Keyed',
    workspaceId: world.workspaceId,
    inputs: [{ id: device.id, type: 'DEVICE' }],
    logic: {
      type: 'COMPARISON',
      dataSources: [temperatureOf(device.id)],
      logicBlocks: [{ conditions: [above], actionIds: [output] }],
    },
    actions: [{ id: output }],
  });
}

/** Names of one length that differ only at their ends; those of another attempt are others. */
function longNames(length: number, attempt: number): string[] {
  const count = Math.min(300, Math.floor(900_000 / (length + 60)));
  const start = 'nop'.charAt(attempt).repeat(length - 8);
  return Array.from({ length: count }, (_, i) => start + String(i).padStart(8, '0'));
}

const objectOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 1]));
const few = (names: readonly string[]) => names.slice(0, 15);

async function post(path: string, body: string | Buffer, headers: object): Promise<number> {
  const answer = await fetch(world.base + path, {
    method: 'POST',
    headers: { 'x-api-key': world.apiKey, ...headers },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });
  await answer.text();
  return answer.status;
}

const postJson = (path: string, body: object) => {
  const text = JSON.stringify(body);
  return () => post(path, text, { 'content-type': 'application/json' });
};

async function all(sends: readonly (() => Promise<number>)[]): Promise<number> {
  let worst = 0;
  for (const send of sends) worst = Math.max(worst, await send());
  return worst;
}

/** Each makes its requests first, and resolves with the largest status; 0 where there is none. */
const ways: Record<string, (names: readonly string[]) => () => Promise<number>> = {
  'CoAP, device ids, topics and data keys': (names) => () =>
    all(
      few(names).map((name) => async () => {
        const { secret, deviceId } = device;
        const body = JSON.stringify({ [name.slice(0, 900)]: 1 });
        await askCoap(coapPort, { query: { secret, deviceId, topic: name.slice(0, 200) }, body });
        await askCoap(coapPort, { query: { secret, deviceId: name.slice(0, 200) }, body });
        return 0;
      }),
    ),
  'CoAP in blocks, data keys': (names) => {
    const body = JSON.stringify(objectOf(names.slice(0, 3)));
    const { secret, deviceId } = device;
    return async () => {
      const options = { 'Content-Format': 'application/json', Block1: Buffer.from([6]) };
      await askCoap(coapPort, { query: { secret, deviceId }, body, options });
      return 0;
    };
  },
  'capture in gzip, data keys': (names) => {
    const body = gzipSync(JSON.stringify(objectOf(names)));
    const path = `/v3/capture?secret=${device.secret}&deviceId=${device.deviceId}`;
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    return async () => {
      const answer = await fetch(world.base + path, {
        method: 'POST',
        headers,
        body: new Uint8Array(body),
      });
      await answer.text();
      return answer.status;
    };
  },
  'bulk in gzip, device ids, topics and data keys': (names) => {
    const lines = names.map((name) =>
      JSON.stringify({ deviceId: name, topic: name, data: { [name]: 1 } }),
    );
    const body = gzipSync(lines.join('\n'));
    const headers = { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' };
    return () => post('/v3/samples/bulk', body, headers);
  },
  'SenML in gzip, base names and names': (names) => {
    const pack = names.map((n, i) => (i % 2 === 0 ? { n, v: 1 } : { bn: n, n: 'x', v: 1 }));
    const body = gzipSync(JSON.stringify(pack));
    const path = `/v3/capture?secret=${device.secret}&deviceId=${device.deviceId}`;
    const headers = { 'content-type': 'application/senml+json', 'content-encoding': 'gzip' };
    return async () => {
      const answer = await fetch(world.base + path, {
        method: 'POST',
        headers,
        body: new Uint8Array(body),
      });
      await answer.text();
      return answer.status;
    };
  },
  'Sparkplug, names of metrics in a birth': (names) => {
    const metrics = names.map((name, i) => ({ name, alias: i, type: 'Double', value: i }));
    const birth = Buffer.from(
      codec.encodePayload({ timestamp: Date.now(), seq: 0, metrics } as never),
    );
    return async () => {
      const client = await world.clientWith({ ...node, clientId: `node-${names[0]!.length}` });
      const topic = `spBv1.0/plant-${names[0]!.length}/NBIRTH/edge`;
      await client.publishAsync(topic, birth, { qos: 1 });
      await client.endAsync();
      return 0;
    };
  },
  'Sparkplug, groups, nodes and devices': (names) => {
    const birth = Buffer.from(codec.encodePayload({ timestamp: Date.now(), seq: 0, metrics: [] }));
    return () =>
      all(
        few(names).map((name) => async () => {
          const client = await world.clientWith({ ...node, clientId: 'node' });
          const ended = closed(client);
          const topic = `spBv1.0/${name}/DBIRTH/${name.slice(-9)}/${name.slice(-20)}`;
          await Promise.race([client.publishAsync(topic, birth, { qos: 1 }), ended]);
          await client.endAsync(true);
          return 0;
        }),
      );
  },
  'MQTT, client ids and subscriptions': (names) => () =>
    all(
      few(names).map((clientId) => async () => {
        const client = await world.client(mqttDevice, { clientId }).catch(() => undefined);
        if (client === undefined) return 0;
        const ended = closed(client);
        const { secret, deviceId } = mqttDevice;
        const topic = `/down/${secret}/id/${deviceId}/${clientId}`;
        await Promise.race([client.subscribeAsync(topic).catch(() => undefined), ended]);
        await client.endAsync(true);
        return 0;
      }),
    ),
  'MQTT over WebSocket, topics and data keys': (names) => () =>
    all(
      few(names).map((name) => async () => {
        const url = `${world.base.replace('http', 'ws')}/mqtt`;
        const client = await world.client(mqttDevice, {}, url);
        const { secret, deviceId } = mqttDevice;
        const body = JSON.stringify({ [name]: 1 });
        await client.publishAsync(`/up/${secret}/id/${deviceId}/${name}`, body, { qos: 1 });
        await client.endAsync();
        return 0;
      }),
    ),
  'live stream, subscriptions': (names) => {
    const some = names.slice(0, 100);
    const subscriptions = some.map((topic) => ({ assetId: device.id, topic }));
    const unknown = some.map((assetId) => ({ assetId }));
    const messages = [subscriptions, unknown].map((of, id) =>
      JSON.stringify({ type: 'subscribe', id, subscriptions: of }),
    );
    return async () => {
      const url = `${world.base.replace('http', 'ws')}/v3/data-streams?xApiKey=${world.apiKey}`;
      for (const message of messages) {
        const stream = await openLive(url);
        await stream.ask(message).catch(() => undefined);
        stream.close();
      }
      return 0;
    };
  },
  'assistants, arguments of tools': (names) => {
    const some = few(names);
    const calls = some.map((name, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'find_devices', arguments: { search: name, [name]: name } },
    }));
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const bodies = calls.map((call) => JSON.stringify(call));
    return () => all(bodies.map((body) => () => post('/mcp', body, headers)));
  },
  'alarms, keys by a template': (names) => {
    const bodies = few(names).map((label) => JSON.stringify({ temperature: 1, label }));
    const path = `/v3/capture?secret=${device.secret}&deviceId=${device.deviceId}`;
    return () =>
      all(
        bodies.map((body) => async () => {
          const headers = { 'content-type': 'application/json' };
          return (await fetch(world.base + path, { method: 'POST', headers, body })).status;
        }),
      );
  },
  'LoRaWAN, device ids and decoded keys': (names) => {
    const uplink = (device_id: string, decoded: object) => ({
      end_device_ids: { device_id, dev_eui: device_id },
      uplink_message: { f_port: 1, f_cnt: 1, frm_payload: 'AQ==', decoded_payload: decoded },
    });
    const bodies = [
      ...few(names).map((name) => uplink(name, {})),
      uplink(lora.deviceEui, objectOf(names)),
    ];
    return () => all(bodies.map((body) => async () => (await lora.webhook(body)).status));
  },
  'import of devices, ids, names, tags and columns': (names) => {
    const rows = names.map((name) => `${name},${name},HTTP,${name}`);
    const path = `/v3/devices/import?workspaceId=${world.workspaceId}`;
    const bodies = [
      ['deviceId,name,connectivity,tags', ...rows].join('\n'),
      [`deviceId,name,connectivity,${names.join()}`, 'a,b,HTTP'].join('\n'),
    ];
    return () => all(bodies.map((body) => () => post(path, body, { 'content-type': 'text/csv' })));
  },
  'custom fields': (names) => {
    const { workspaceId } = world;
    return () =>
      all([
        ...few(names).map((name) =>
          postJson('/v3/custom-fields/meta', { workspaceId, name, type: 'TEXT' }),
        ),
        postJson('/v3/devices', {
          workspaceId,
          name: 'one',
          deviceId: 'one',
          connectivity: 'HTTP',
          customFields: names.map((id) => ({ id, value: 'x' })),
        }),
      ]);
  },
  tags: (names) => {
    const { workspaceId } = world;
    return () =>
      all([
        ...few(names).map((name) => postJson('/v3/tags', { workspaceId, name, color: '#123456' })),
        postJson('/v3/devices', {
          workspaceId,
          name: 'one',
          deviceId: 'one',
          connectivity: 'HTTP',
          tags: names.map((id) => ({ id })),
        }),
      ]);
  },
  'run-script, keys of events and of what scripts emit': (names) => {
    const script = 'function consume(e) { emit("sample", { data: e.data, topic: e.topic }); }';
    const data = objectOf(names.slice(0, Math.max(1, Math.floor(200_000 / names[0]!.length))));
    return postJson('/v3/run-script', { script, event: { data, topic: names[0] } });
  },
  'queries of newest samples, keys': (names) =>
    postJson('/v3/devices/query/latest', { deviceIds: [device.id], keys: names, topics: names }),
};

/** Milliseconds of processor time, with that of the senders in the same thread and of the garbage collector. */
const turnMsMax = 150;

describe.each([900, 17_000, 60_000])('review security 1: names of %i characters', (length) => {
  test.each(Object.entries(ways))('%s', async (_way, prepare) => {
    const ms = await leastOf(turnMsMax, async (attempt) => {
      const send = prepare(longNames(length, attempt));
      let status = 0;
      let others: number[] = [];
      const turnMs = await longestTurn(async () => {
        others = await beside(neighbour, async () => {
          status = await send();
        });
      });
      expect(others.filter((one) => one !== 201)).toEqual([]);
      expect(status).toBeLessThan(500);
      return turnMs;
    });
    expect(ms).toBeLessThan(turnMsMax);
  });
});
