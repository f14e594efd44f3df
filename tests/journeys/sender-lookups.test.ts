// Look-ups of senders: a capture over HTTP, CoAP or MQTT finds its device once (contract 18).
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { UplinkRouteCache } from '../../src/inventory/devices/uplink-route-cache.ts';
import { askCoap, freeUdpPort } from '../world/coap-device.ts';
import { type MqttWorld, startMqttWorld, upTopic } from '../world/mqtt-world.ts';

const { lookups } = vi.hoisted(() => ({ lookups: [] as string[] }));

// The platform under test uses the real directory; this only writes down how senders are looked up.
vi.mock(import('../../src/inventory/devices/uplink-route-cache.ts'), async (importOriginal) => {
  const original = await importOriginal();
  const counted: ReadonlySet<string | symbol> = new Set(['bySecret', 'connector', 'byConnector']);
  return {
    ...original,
    createUplinkRouteCache: (records) =>
      new Proxy<UplinkRouteCache>(original.createUplinkRouteCache(records), {
        get(directory, name, receiver) {
          const member: unknown = Reflect.get(directory, name, receiver);
          if (!counted.has(name) || typeof member !== 'function') return member;
          return (...args: unknown[]) => {
            lookups.push(String(name));
            return Reflect.apply(member, directory, args) as unknown;
          };
        },
      }),
  };
});

let world: MqttWorld;
let coapPort: number;
beforeAll(async () => {
  coapPort = await freeUdpPort();
  world = await startMqttWorld({ environment: { COAP_PORT: String(coapPort) } });
});
afterAll(() => world.close());
beforeEach(() => void lookups.splice(0));

test('over HTTP: the secret once, the device once', async () => {
  const device = await world.device({ name: 'http' });
  const query = new URLSearchParams({ secret: device.secret, deviceId: device.deviceId });
  for (const body of [{ t: 1 }, { t: 2 }]) {
    lookups.splice(0);
    const answer = await world.call('POST', `/v3/capture?${query}`, body);
    expect(answer.status).toBe(201);
    expect(lookups).toEqual(['connector', 'byConnector']);
  }
});

test('over CoAP: connector and device in one look-up each, as over HTTP', async () => {
  const { secret, deviceId } = await world.device({ name: 'coap' });
  const answer = await askCoap(coapPort, { query: { secret, deviceId }, body: '{"t":1}' });
  expect(answer).toMatchObject({ code: '2.01' });
  expect(lookups).toEqual(['connector', 'byConnector']);
});

test('over MQTT: secret and device in one look-up per publish', async () => {
  const device = await world.mqttDevice();
  const client = await world.client(device);
  await client.publishAsync(upTopic(device), '{"t":1}', { qos: 1 });
  await client.publishAsync(upTopic(device), '{"t":2}', { qos: 1 });
  expect(await world.samples(device)).toHaveLength(2);
  expect(lookups).toEqual(['bySecret', 'bySecret']);
});
