// Senders of captures: one look-up while the records stay as they are, another after a change.
import { beforeEach, describe, expect, test } from 'vitest';
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import type { DeviceConnector } from '../../model/connector.ts';
import { Problem, problem } from '../../model/problem.ts';
import { CaptureSenders, UplinkLimit } from './capture-senders.ts';

const plain = { id: 'c1', decodingType: 'NONE', integrationId: null } as DeviceConnector;
const integrated = { ...plain, id: 'c2', integrationId: 'i1' };
const decoding = { ...plain, id: 'c3', decodingType: 'HELIUM' } as DeviceConnector;
const route = { device: { deviceId: 'd1' }, connector: plain } as UplinkRoute;
let connectors: Map<string, DeviceConnector>;
let revision: number;
let lookups: string[];

beforeEach(() => {
  connectors = new Map([
    ['plain', plain],
    ['integrated', integrated],
    ['decoding', decoding],
  ]);
  revision = 0;
  lookups = [];
});

const senders = new CaptureSenders({
  get revision() {
    return revision;
  },
  connector(secret) {
    lookups.push(`connector ${secret}`);
    const connector = connectors.get(secret);
    if (connector === undefined) throw problem('uplinkSecretUnknown');
    return connector;
  },
  byConnector({ id }, deviceId) {
    lookups.push(`device ${id} ${deviceId}`);
    if (deviceId !== 'd1') throw problem('notFound', { what: 'device', id: deviceId });
    return route;
  },
});

const problemOf = async (work: () => Promise<unknown>): Promise<string> =>
  work().then(
    () => 'none',
    (error: unknown) => (error instanceof Problem ? error.problem : String(error)),
  );

describe('the kind of a sender', () => {
  const device = { kind: 'device', route, topic: 't', timestamp: null };
  test.each([
    [{ secret: 'plain', deviceId: 'd1', topic: 't' }, device],
    [{ secret: 'integrated', deviceId: 'd1', topic: 't' }, device],
    [
      { secret: 'integrated', topic: 't' },
      { kind: 'networkServer', connector: integrated },
    ],
    [
      { secret: 'decoding', deviceId: 'd1' },
      { kind: 'networkServer', connector: decoding },
    ],
  ])('of %j', async (query, expected) => {
    const found = await senders.ofCapture(query, {});
    expect(await found.current()).toEqual(expected);
  });
  test('of a webhook is the connector', async () => {
    const found = await senders.ofWebhook({}, { 'x-uplink-secret': 'integrated' });
    expect(await found.current()).toBe(integrated);
    expect(lookups).toEqual(['connector integrated']);
  });
});

test.each([
  [{}, 'uplinkSecretMissing'],
  [{ secret: 'wrong' }, 'uplinkSecretUnknown'],
  [{ secret: 'plain' }, 'deviceIdMissing'],
  [{ secret: 'plain', deviceId: 'd1', timestamp: 'noon' }, 'timestampInvalid'],
  [{ secret: 'plain', deviceId: 'd2' }, 'notFound'],
])('%j is rejected with %s', async (query, expected) => {
  expect(await problemOf(async () => senders.ofCapture(query, {}))).toBe(expected);
});

test('a sender is looked up once, and again only after a change of the records', async () => {
  const found = await senders.ofCapture({ secret: 'plain', deviceId: 'd1' }, {});
  await found.current();
  await found.current();
  expect(lookups).toEqual(['connector plain', 'device c1 d1']);
  revision += 1;
  connectors.delete('plain');
  expect(await problemOf(async () => found.current())).toBe('uplinkSecretUnknown');
});

test('security 4: with one uplink secret only so many requests a second are taken', async () => {
  let now = 0;
  const directory = { revision: 0, connector: () => plain, byConnector: () => route };
  const limited = new CaptureSenders(directory, new UplinkLimit(2, () => now));
  const find = () => problemOf(async () => limited.ofSecret('plain'));
  const burst = await Promise.all(Array.from({ length: 22 }, find));
  expect(burst.filter((one) => one === 'none')).toHaveLength(20);
  expect(burst.at(-1)).toBe('rateLimited');
  now += 500;
  expect([await find(), await find()]).toEqual(['none', 'rateLimited']);
  const unlimited = new UplinkLimit(0, () => now);
  for (let i = 0; i < 1_000; i++) unlimited.take('plain');
  expect(unlimited.hasRoomFor('plain')).toBe(true);
});

test('review security 9: requests for devices that a secret does not have count too', async () => {
  const directory = {
    revision: 0,
    connector: () => plain,
    byConnector: () => {
      throw problem('deviceNotOnConnector', { deviceId: 'd2' });
    },
  };
  const limited = new CaptureSenders(directory, new UplinkLimit(2, () => 0));
  const find = () =>
    problemOf(async () => limited.ofCapture({ secret: 'plain', deviceId: 'd2' }, {}));
  const burst = await Promise.all(Array.from({ length: 22 }, find));
  expect(burst.filter((one) => one === 'deviceNotOnConnector')).toHaveLength(20);
  expect(burst.at(-1)).toBe('rateLimited');
});
