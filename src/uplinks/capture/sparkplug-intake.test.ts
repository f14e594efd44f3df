// Sparkplug intake: what could not be stored is asked for again, and the connection stays.
import proto from 'sparkplug-payload/lib/sparkplugPayloadProto.js';
import { expect, test } from 'vitest';
import {
  type SparkplugClient,
  sparkplugFilterOf,
  sparkplugTopicOf,
} from '../../transports/sparkplug/sparkplug-topic.ts';
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import { type DeviceConnector, sparkplugDefaults } from '../../model/connector.ts';
import { problem } from '../../model/problem.ts';
import type { Uplink } from '../../model/uplink.ts';
import { SparkplugNodes, SparkplugUplinks } from './sparkplug-intake.ts';

const { Payload } = proto.org.eclipse.tahu.protobuf;
const connector = { id: 'c1', sparkplug: sparkplugDefaults } as DeviceConnector;

/** An edge node on a platform whose store can be full. */
function bench() {
  const stored: Uplink[] = [];
  const notes: string[] = [];
  const sent: string[] = [];
  const ended: string[] = [];
  const state = { isFull: false, now: 0 };
  const now = () => state.now;
  const route = {
    device: { id: 'd1', deviceId: 'g/e' },
    connector,
    flow: { id: 'f1', passThrough: true },
    outputs: [],
    tags: [],
    customFields: {},
    type: null,
  } as unknown as UplinkRoute;
  const intake = new SparkplugUplinks(
    new SparkplugNodes(now),
    {
      connectorOf: () => connector,
      routeOf: () => route,
      routeOfDevice: () => route,
      createDevices: async () => new Map(),
    },
    async (uplink) => {
      if (state.isFull) throw problem('intakeFull');
      stored.push(uplink);
    },
    async (_, all) => void notes.push(...all.map(({ message }) => message)),
    {
      refused: (reason) => void notes.push(reason),
      dropped: () => undefined,
      reachable: () => undefined,
      failed: (error) => expect.fail(String(error)),
    },
    () => 'id',
    now,
  );
  const client: SparkplugClient = {
    connectorId: 'c1',
    name: { group: 'g', edge: 'e' },
    filters: new Map([['n', sparkplugFilterOf('spBv1.0/g/NCMD/e/#')!]]),
    about: () => ({}),
    send: async (topic) => sent.push(topic) > 0,
    end: (because) => void ended.push(because),
  };
  let seq = 0;
  const take = (type: 'NBIRTH' | 'NDATA', value: number) => {
    const metrics = [{ name: 'n', datatype: 10, doubleValue: value }];
    const bytes = Buffer.from(Payload.encode({ seq: seq++, metrics }).finish());
    return intake.take(client, sparkplugTopicOf(`spBv1.0/g/${type}/e`)!, bytes);
  };
  const values = () => stored.map(({ samples }) => samples?.[0]?.data['n']);
  /** A message that is lost on its way. */
  const skip = () => void seq++;
  return { take, skip, values, notes, sent, ended, state };
}

test('a message that cannot be stored is counted, and births are asked for with the next one', async () => {
  const { take, values, notes, sent, ended, state } = bench();
  await take('NBIRTH', 1);
  state.isFull = true;
  await take('NDATA', 2);
  expect(notes).toEqual(['intakeFull']);
  expect(sent).toEqual([]);
  state.isFull = false;
  await take('NDATA', 3);
  expect(values()).toEqual([1, 3]);
  expect(sent).toEqual(['spBv1.0/g/NCMD/e']);
  expect(ended).toEqual([]);
});

test('notes that differ only in numbers are written once a minute', async () => {
  const { take, skip, notes, state } = bench();
  await take('NBIRTH', 1);
  for (const at of [1, 2_000, 61_000]) {
    state.now = at;
    skip();
    await take('NDATA', at);
  }
  expect(notes).toEqual([
    expect.stringMatching(/sequence number 2, expected 1/),
    expect.stringMatching(/sequence number 6, expected 5/),
  ]);
});
