// Contract 39.5: the newest samples and the open alarms of a past moment.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AccessWorld, startAccessWorld } from '../access/access-world.ts';

const hour = (n: number) => new Date(Date.UTC(2026, 0, 5, n)).toISOString();
let at: AccessWorld;
let deviceId: string;
beforeAll(async () => {
  at = await startAccessWorld();
  deviceId = (await at.world.device({ name: 'past' })).id;
  await at.world.must('POST', '/v3/samples/bulk', [
    { deviceId, timestamp: hour(0), data: { t: 1, humidity: 40 } },
    { deviceId, timestamp: hour(2), data: { t: 2 } },
    { deviceId, timestamp: hour(4), data: { t: 3, humidity: null } },
    { deviceId, timestamp: hour(9), data: { t: 4, humidity: 50 } },
    { deviceId, timestamp: hour(3), topic: 'side', data: { t: 5 } },
  ]);
});
afterAll(() => at.close());

const path = '/v3/devices/query/latest';
const latest = async (more: object) => {
  const { content } = await at.world.must('POST', path, { deviceIds: [deviceId], ...more });
  return content[0] as {
    samples: { topic: string; timestamp: string; data: object }[];
    values: object;
  };
};
const found = async (more: object) =>
  (await latest(more)).samples.map(({ topic, data }) => [topic, data]);

test('the newest at or before the moment, not older than `within`', async () => {
  expect(await found({ at: hour(4) })).toEqual([
    ['default', { t: 3, humidity: null }],
    ['side', { t: 5 }],
  ]);
  expect(await found({ at: '2026-01-05T03:59:59.999Z' })).toEqual([
    ['side', { t: 5 }],
    ['default', { t: 2 }],
  ]);
  expect(await found({ at: hour(8), within: 'PT4H' })).toEqual([
    ['default', { t: 3, humidity: null }],
  ]);
  expect(await found({ at: hour(8), within: 'PT1H' })).toEqual([]);
  expect(await found({ at: hour(-1) })).toEqual([]);
  expect(await found({ at: '2026-01-05T03:00:00+01:00', topics: ['default'] })).toEqual([
    ['default', { t: 2 }],
  ]);
  expect(await found({ at: hour(24 * 7 + 4) })).toEqual([['default', { t: 4, humidity: 50 }]]);
  expect(await found({ at: hour(24 * 7 + 10) })).toEqual([]);
  expect(await found({ at: hour(24 * 7 + 10), within: 'P8D' })).toHaveLength(2);
});

test('with keys, the last value of each at that moment that is not null', async () => {
  expect((await latest({ at: hour(8), keys: ['t', 'humidity'] })).values).toEqual({
    t: { value: 3, timestamp: hour(4), topic: 'default' },
    humidity: { value: 40, timestamp: hour(0), topic: 'default' },
  });
  expect(
    (await latest({ at: hour(8), within: 'PT7H30M', keys: ['t', 'humidity'] })).values,
  ).toEqual({ t: { value: 3, timestamp: hour(4), topic: 'default' } });
});

test('errors name the member', async () => {
  for (const [body, message] of [
    [{ at: 'yesterday' }, 'at'],
    [{ within: 'P1D' }, 'body within: requires at'],
    [{ at: hour(1), within: 'P1M' }, 'body within: months and years'],
    [{ at: hour(1), within: 'P367D' }, 'body within: must be from PT1S to P366D'],
    [{ at: hour(1), within: 'soon' }, 'body within:'],
  ] as const) {
    const answer = await at.world.call('POST', path, { deviceIds: [deviceId], ...body });
    expect(answer, JSON.stringify(body)).toMatchObject({ status: 400 });
    expect(answer.body.message).toContain(message);
  }
});
