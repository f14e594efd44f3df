// Bounds of topics and data keys per device: further ones are omitted and noted (contract 36, interface 2.3).
import { rmSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { startWorld } from '../world/world.ts';

const environment = { QUOTA_TOPICS: '3', QUOTA_DATA_KEYS: '8' };
let world = await startWorld({ environment });
const { directory } = world;
afterAll(async () => {
  await world.close();
  rmSync(directory, { recursive: true, force: true });
});

const keys = (prefix: string, count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, i]));

test('review security 14: data keys and topics of a device are limited, before and after a restart', async () => {
  const device = await world.device();
  let sent = 0;
  /** Captures a sample; as it is stored. */
  const stored = async (topic: string, data: object) => {
    const timestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, ++sent)).toISOString();
    expect((await world.capture(device, data, { topic, timestamp })).status).toBe(201);
    const sample = await world.must('GET', `/v3/devices/${device.id}/query/latest-sample`);
    expect(sample.timestamp).toBe(timestamp);
    return sample;
  };
  const nothing = (sample: { meta?: object }) => expect(sample.meta ?? {}).toEqual({});
  nothing(await stored('aa', keys('a', 5)));
  nothing(await stored('bb', { n: keys('b', 3) }));
  nothing(await stored('aa', keys('a', 5)));
  const message = 'beyond the 8 data keys that a device may have (limit dataKeys)';
  const cut = await stored('bb', { n: { ...keys('b', 3), more: 7 }, other: { x: [1] } });
  expect(cut.data).toEqual({ n: keys('b', 3) });
  expect(cut.meta).toEqual({
    svcDataKeyValidation: { 'n.more': { message, value: 7 }, 'other.x': { message, value: [1] } },
  });

  await world.platform.close('test');
  world = await startWorld({ directory, environment });
  const after = await stored('aa', { a0: 1, fresh: 2 });
  expect(after).toMatchObject({
    data: { a0: 1 },
    meta: { svcDataKeyValidation: { fresh: { message, value: 2 } } },
  });
  nothing(await stored('cc', {}));
  const moved = await stored('dd', { a0: 1 });
  const topicMessage = "topic dd exceeds the device's quota of 3 topics (limit topics)";
  expect(moved).toMatchObject({
    topic: 'default',
    data: {},
    meta: { svcTopicValidation: { message: topicMessage } },
  });
  const messages = async () =>
    (await world.must('GET', `/v3/devices/${device.id}/processing-logs?size=50`)).content.map(
      (entry: { message: string }) => entry.message,
    );
  await expect.poll(messages).toContain(`${topicMessage}; stored with topic default`);
  expect(await messages()).toContain(`${message} at fresh; removed from the sample`);

  const path = `/v3/devices/${device.id}/backfill/bulk`;
  const backfilled = await world.call('POST', path, [
    { topic: 'aa', timestamp: '2026-02-01T00:00:00.000Z', data: { a1: 5, late: 6 } },
  ]);
  expect(backfilled.status, JSON.stringify(backfilled.body)).toBeLessThan(300);
  const latest = await world.must('GET', `/v3/devices/${device.id}/query/latest-sample`);
  expect(latest.data).toEqual({ a1: 5 });
});
