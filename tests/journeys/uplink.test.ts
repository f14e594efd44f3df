// The main journey: a raw hex payload becomes a decoded, stored, queryable and live sample.
import { afterAll, beforeAll, expect, test } from 'vitest';
import WebSocket from 'ws';
import { startWorld, type World } from '../world/world.ts';

const decoder = `
// Two bytes of temperature in tenths, one byte of humidity in halves, one byte of battery.
function consume(event) {
  const bits = Bits.hexToBits(event.data.payloadHex);
  const temperature = Bits.bitsToSigned(bits.substr(0, 16)) / 10;
  const humidity = Bits.bitsToUnsigned(bits.substr(16, 8)) / 2;
  const count = (event.state.count || 0) + 1;
  emit('state', { count });
  emit('sample', { data: { temperature, humidity, count, 'bad key!': 1 }, topic: 'climate' });
  emit('sample', { data: { batteryLevel: Bits.bitsToUnsigned(bits.substr(24, 8)) }, topic: 'life cycle' });
}`;

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

function openSocket(path: string): {
  socket: WebSocket;
  next(type: string): Promise<Record<string, never>>;
} {
  const socket = new WebSocket(world.base.replace('http', 'ws') + path);
  const seen: Record<string, never>[] = [];
  const waiting: (() => void)[] = [];
  socket.on('message', (text) => {
    seen.push(JSON.parse(String(text)));
    for (const wake of waiting.splice(0)) wake();
  });
  return {
    socket,
    async next(type) {
      for (;;) {
        const at = seen.findIndex((message) => message['type'] === type);
        if (at !== -1) return seen.splice(at, 1)[0]!;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}

test('from raw hex payload to query, processing log, device metrics and socket', async () => {
  const device = await world.device({ script: decoder });
  const live = openSocket(`/v3/data-streams?xApiKey=${world.apiKey}`);
  await live.next('connected');
  live.socket.send(
    JSON.stringify({
      type: 'subscribe',
      id: 1,
      subscriptions: [{ assetId: device.id, topic: '*' }],
    }),
  );
  expect(await live.next('subscribed')).toMatchObject({
    replyTo: 1,
    subscriptions: [{ assetId: device.id, valid: true }],
  });

  const answer = await world.capture(device, { port: 1, payloadHex: 'ff9c8a5b' });
  expect(answer.status).toBe(201);
  expect(answer.body).toEqual({
    id: expect.any(String),
    timestamp: expect.any(String),
    message: 'uplink received',
    stored: 2,
  });

  const stored = await world.must('POST', `/v3/devices/${device.id}/query`, { topic: '*' });
  expect(stored).toMatchObject([
    { deviceId: device.id, svcDeviceId: device.id, topic: 'default', data: { batteryLevel: 91 } },
    { deviceId: device.id, topic: 'climate', data: { temperature: -10, humidity: 69, count: 1 } },
  ]);
  expect(stored[1].meta.svcDataKeyValidation['bad key!']).toEqual({
    message: expect.any(String),
    value: 1,
  });
  expect(stored[0].meta.svcTopicValidation.message).toContain('life cycle');
  expect(await world.must('GET', `/v3/devices/${device.id}/query/topics`)).toEqual(
    expect.arrayContaining(['climate', 'default']),
  );

  const inserted = [
    await live.next('sample_insert'),
    await live.next('sample_insert'),
  ] as unknown as {
    sample: { topic: string };
  }[];
  expect(inserted.map(({ sample }) => sample.topic).sort()).toEqual(['climate', 'default']);
  expect(inserted[0]!.sample).toMatchObject({
    deviceId: device.id,
    data: expect.any(Object),
    timestamp: expect.any(String),
  });

  const log = await world.must('GET', `/v3/devices/${device.id}/processing-logs`);
  expect(
    log.content.map((entry: { level: string; source: string }) => `${entry.level} ${entry.source}`),
  ).toEqual(['WARN UPLINK', 'WARN UPLINK']);
  const { uplinkMetrics, onlineState } = await world.must('GET', `/v3/devices/${device.id}`);
  expect(uplinkMetrics).toMatchObject({
    uplinkId: answer.body.id,
    batteryLevel: 91,
    port: 1,
    deviceId: device.id,
  });
  expect(onlineState).toBe('ONLINE');

  await world.capture(device, { port: 1, payloadHex: '00c88a5b' });
  const latest = await world.must('POST', `/v3/devices/${device.id}/query`, {
    topic: 'climate',
    limit: 1,
  });
  expect(latest[0].data).toMatchObject({ temperature: 20, count: 2 });
  live.socket.close();
});

test('everything acknowledged is there after a stop and a start, state included', async () => {
  const device = await world.device({ script: decoder });
  for (const payloadHex of ['00c88a5b', '00c98a5b', '00ca8a5b'])
    await world.capture(device, { port: 1, payloadHex });
  await world.platform.close('restart');
  const again = await startWorld({ directory: world.directory });
  try {
    await again.capture(device, { port: 1, payloadHex: '00cb8a5b' });
    const samples = await again.must('POST', `/v3/devices/${device.id}/query`, {
      topic: 'climate',
    });
    expect(samples.map((sample: { data: { count: number } }) => sample.data.count)).toEqual([
      4, 3, 2, 1,
    ]);
  } finally {
    await again.platform.close('done');
    world = await startWorld();
  }
});
