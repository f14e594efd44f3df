// Contract 42: one uplink secret sends so many uplinks a second, over HTTP, MQTT and CoAP together.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askCoap, freeUdpPort } from '../world/coap-device.ts';
import { closed, type MqttWorld, startMqttWorld, upTopic } from '../world/mqtt-world.ts';

const perSecond = 50;
const burst = 10 * perSecond;

let world: MqttWorld;
let coapPort: number;
beforeAll(async () => {
  coapPort = await freeUdpPort();
  world = await startMqttWorld({
    environment: { UPLINK_RATE_LIMIT_PER_SECOND: String(perSecond), COAP_PORT: String(coapPort) },
  });
});
afterAll(() => world.close());

test.each([4, 5] as const)(
  'review security 4: clients of MQTT %i that publish too much are acknowledged later, and stay',
  async (protocolVersion) => {
    const device = await world.mqttDevice();
    const other = await world.mqttDevice();
    const client = await world.client(device, { protocolVersion, keepalive: 5 });
    let hasEnded = false;
    void closed(client).then(() => {
      hasEnded = true;
    });
    const startedAt = performance.now();
    const count = burst + 2 * perSecond;
    const publishes = Array.from({ length: count }, (_, i) =>
      client.publishAsync(upTopic(device), JSON.stringify({ i }), { qos: 1 }),
    );
    await publishes[burst - 1];
    // The same secret over HTTP, and another one.
    const query = new URLSearchParams({ secret: device.secret, deviceId: device.deviceId });
    const capture = () =>
      fetch(`${world.base}/v3/capture?${query.toString()}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"http":0}',
      });
    const answers = await Promise.all(Array.from({ length: perSecond }, capture));
    expect(answers.map(({ status }) => status)).toContain(429);
    const beside = await world.client(other);
    await beside.publishAsync(upTopic(other), '{"i":0}', { qos: 1 });
    await Promise.all(publishes);
    expect(performance.now() - startedAt).toBeGreaterThan(1_500);
    expect(hasEnded).toBe(false);
    const stored = await world.samples(device);
    expect(stored.flatMap(({ data }) => data['i'] ?? [])).toEqual(
      Array.from({ length: count }, (_, i) => i),
    );
  },
);

test('review security 4: over CoAP, beyond the limit of the secret, 4.29 with Max-Age', async () => {
  const { secret, deviceId } = await world.device();
  const ask = () => askCoap(coapPort, { query: { secret, deviceId }, body: '{"v":1}' });
  const answers = await Promise.all(Array.from({ length: 3 * burst }, ask));
  const refused = answers.filter(({ code }) => code === '4.29');
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.options['Max-Age']).toBe(1);
  const { secret: another, deviceId: neighbour } = await world.device();
  const taken = await askCoap(coapPort, {
    query: { secret: another, deviceId: neighbour },
    body: '{"v":1}',
  });
  expect(taken.code).toBe('2.01');
});

test('review security 9: over CoAP, requests for devices that the secret does not have count too', async () => {
  const { secret } = await world.device();
  const ask = () => askCoap(coapPort, { query: { secret, deviceId: 'nobody' }, body: '{"v":1}' });
  const answers = await Promise.all(Array.from({ length: 3 * burst }, ask));
  expect(new Set(answers.map(({ code }) => code))).toEqual(new Set(['4.04', '4.29']));
});
