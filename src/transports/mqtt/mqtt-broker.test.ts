// The broker follows MQTT 3.1.1 on real sockets, byte by byte.
import { generate, type IConnectPacket } from 'mqtt-packet';
import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { problem } from '../../model/problem.ts';
import { DuplicateFilter } from '../duplicate-filter.ts';
import { mqttLimits } from './mqtt-limits.ts';
import {
  secret,
  startTestBroker,
  type TestBroker,
  type TestClient,
} from './testing-mqtt-broker.ts';

let broker: TestBroker;
beforeEach(async () => {
  broker = await startTestBroker();
});
afterEach(() => broker.close());

const accepted = '20020000';
const resumed = '20020100';
const pong = 'd000';
const ping = generate({ cmd: 'pingreq' });
const disconnect = generate({ cmd: 'disconnect' });

function login(fields: Partial<IConnectPacket> = {}): Buffer {
  return generate({
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 4,
    clean: true,
    clientId: 'c',
    keepalive: 0,
    username: 'u',
    password: Buffer.from(secret),
    ...fields,
  });
}

function publish(qos: 0 | 1 | 2, messageId: number, payload = 'p', topic = `/up/${secret}/id/d`) {
  return generate({ cmd: 'publish', qos, messageId, topic, payload, dup: false, retain: false });
}

const acknowledge = (cmd: 'puback' | 'pubrec' | 'pubrel' | 'pubcomp', messageId: number) =>
  generate({ cmd, messageId });
const subscribe = (messageId: number, ...filters: [string, 0 | 1 | 2][]) =>
  generate({
    cmd: 'subscribe',
    messageId,
    subscriptions: filters.map(([topic, qos]) => ({ topic, qos })),
  });
const down = (device: string) => `/down/${secret}/id/${device}/#`;
const will = {
  topic: `/up/${secret}/id/d`,
  payload: Buffer.from('gone'),
  qos: 0,
  retain: false,
} as const;

async function open(fields: Partial<IConnectPacket> = {}, answer = accepted): Promise<TestClient> {
  const client = await broker.connect();
  client.send(login(fields));
  expect(await client.read(4)).toBe(answer);
  return client;
}

/** Everything before it has been handled. */
async function handled(client: TestClient): Promise<void> {
  client.send(ping);
  expect(await client.read(2)).toBe(pong);
}

const stored = () =>
  broker.happened.filter(([what]) => what === 'stored').map(([, , , text]) => text);
const broken = () => broker.happened.filter(([what]) => what === 'ended').map(([, why]) => why);

const changed = (at: number, byte: number, fields: Partial<IConnectPacket> = {}) => {
  const bytes = login(fields);
  bytes[at] = byte;
  return bytes;
};

test.each([
  ['a login', login(), '20020000'],
  ['a login of MQTT 3.1', login({ protocolId: 'MQIsdp', protocolVersion: 3 }), '20020000'],
  ['a clean login without a client id', login({ clientId: '' }), '20020000'],
  ['MQTT-3.1.2-2: level 2', changed(8, 2), '20020001'],
  ['MQTT-3.1.2-2: level 6', changed(8, 6), '20020001'],
  [
    'MQTT-3.1.3-8: no client id for a session that is kept',
    changed(9, 0xc0, { clientId: '' }),
    '20020002',
  ],
  [
    'a client id that is too long',
    login({ clientId: 'x'.repeat(mqttLimits.clientIdLengthMax + 1) }),
    '20020002',
  ],
  ['a wrong password', login({ password: Buffer.from('x') }), '20020005'],
  ['a will on a foreign topic', login({ will: { ...will, topic: 'elsewhere' } }), '20020005'],
] as const)(
  'MQTT 3.2.2.3: %s gets its code, and a refused one is closed',
  async (_what, bytes, answer) => {
    const client = await broker.connect();
    client.send(bytes);
    expect(await client.read(4)).toBe(answer);
    if (answer === accepted) return handled(client);
    await client.closed();
    expect(broker.broker.sessions.size).toBe(0);
    expect(broker.happened.filter(([what]) => what === 'refused')).toHaveLength(1);
  },
);

test('MQTT-3.1.4-5: packets that come with the CONNECT are handled after its answer, in order', async () => {
  const client = await broker.connect();
  client.send(
    login(),
    publish(1, 1, 'one'),
    subscribe(2, [down('d'), 1]),
    publish(1, 3, 'two'),
    ping,
  );
  const answers = await client.read(4 + 4 + 5 + 4 + 2);
  expect(answers.slice(0, 8)).toBe(accepted);
  for (const answer of ['40020001', '9003000201', '40020003', pong])
    expect(answers).toContain(answer);
  expect(stored()).toEqual(['one', 'two']);
});

test('MQTT-3.1.2-24: silence of one and a half times the keep-alive ends the connection; each packet begins it again', async () => {
  const client = await open({ keepalive: 10, will });
  for (let i = 0; i < 3; i++) {
    broker.pass(15);
    await handled(client);
  }
  broker.pass(16);
  await client.closed();
  expect([broken(), stored()]).toEqual([['keep alive timeout'], ['gone']]);
});

test('a keep-alive of 0 is the longest, and one below the least is the least', async () => {
  const [never, often] = [
    await open({ clientId: 'a', keepalive: 0 }),
    await open({ keepalive: 1 }),
  ];
  broker.pass(7);
  await handled(often);
  broker.pass(mqttLimits.keepaliveSecondsMin * 1.5 + 2);
  await often.closed();
  broker.pass(90_000);
  await handled(never);
  broker.pass(100_000);
  await never.closed();
});

test('a connection that sends no CONNECT in time is closed and counted', async () => {
  const silent = await broker.connect();
  silent.send(login().subarray(0, 5));
  while (broker.broker.sessions.size === 0) await new Promise(setImmediate);
  broker.pass(10);
  expect(broker.broker.sessions.size).toBe(1);
  broker.pass(1);
  await silent.closed();
  expect(broker.happened).toEqual([['refused', 'malformed']]);
});

test('MQTT-3.1.4-2: a client id is taken over; the will of the old connection is published, its session is resumed', async () => {
  const old = await open({ clean: false, will });
  old.send(subscribe(1, [down('d'), 1], [down('e'), 0]));
  expect(await old.read(6)).toBe('900400010100');
  const next = await open({ clean: false }, resumed);
  await old.closed();
  expect(stored()).toEqual(['gone']);
  expect(
    await broker.broker.deliveries.send('id-e', {
      levels: ['x'],
      payload: Buffer.from('m'),
      qos: 0,
      retain: false,
    }),
  ).toBe('sent');
  expect(await next.read(2)).toBe('3016');
  expect(broker.broker.sessions.size).toBe(1);
});

test('MQTT-3.2.2-1: a session is resumed once, and a clean one removes it', async () => {
  const first = await open({ clean: false });
  first.send(subscribe(1, [down('d'), 1]), disconnect);
  await first.closed();
  expect(broker.keptSessions.size).toBe(1);
  const again = await open({ clean: false }, resumed);
  expect(broker.keptSessions.size).toBe(0);
  again.send(disconnect);
  await again.closed();
  const clean = await open({ clean: true });
  clean.send(disconnect);
  await clean.closed();
  await open({ clean: false }, accepted);
});

test('a session of MQTT 3.1 is resumed too, whose CONNACK has no flag for it', async () => {
  const old = { protocolId: 'MQIsdp', protocolVersion: 3, clean: false } as const;
  const client = await open(old);
  client.send(subscribe(1, [down('d'), 0]), disconnect);
  await client.closed();
  await open(old, accepted);
  const message = { levels: ['x'], payload: Buffer.from('m'), qos: 0, retain: false } as const;
  expect(await broker.broker.deliveries.send('id-d', message)).toBe('sent');
});

test('MQTT-4.3.3: QoS 2 is stored once until its second step, also over a reconnect; then the number is free', async () => {
  const client = await open({ clean: false });
  client.send(publish(2, 7, 'one'), publish(2, 7, 'one'));
  expect(await client.read(4)).toBe('50020007');
  client.send(publish(2, 7, 'one'));
  expect(await client.read(4)).toBe('50020007');
  client.socket.destroy();
  const again = await open({ clean: false }, resumed);
  again.send(publish(2, 7, 'one'));
  expect(await again.read(4)).toBe('50020007');
  again.send(acknowledge('pubrel', 7), acknowledge('pubrel', 7));
  expect(await again.read(8)).toBe('7002000770020007');
  again.send(publish(2, 7, 'two'));
  expect(await again.read(4)).toBe('50020007');
  expect(stored()).toEqual(['one', 'two']);
});

test('more QoS 2 packets between their two steps than allowed end the connection', async () => {
  const client = await open();
  const packets = Array.from({ length: mqttLimits.halfReceivedPerClientMax + 1 }, (_, i) =>
    publish(2, i + 1),
  );
  client.send(...packets);
  await client.closed();
  expect(broken()).toHaveLength(1);
});

test('MQTT-3.9.3-1: a SUBACK has a code for each filter, of at most 1; unsubscribing ends the messages', async () => {
  const client = await open();
  client.send(subscribe(9, [down('d'), 2], ['#', 1], [down('d'), 0], [down('e'), 1]));
  expect(await client.read(8)).toBe('9006000901800001');
  expect(broker.happened.filter(([what]) => what === 'reachable')).toHaveLength(3);
  client.send(generate({ cmd: 'unsubscribe', messageId: 10, unsubscriptions: [down('d'), 'x'] }));
  expect(await client.read(4)).toBe('b002000a');
  const message = { levels: ['x'], payload: Buffer.from('m'), qos: 1, retain: false } as const;
  expect(await broker.broker.deliveries.send('id-d', message)).toBe('offline');
  const sent = broker.broker.deliveries.send('id-e', message);
  const topic = Buffer.from(down('e').replace('#', 'x')).toString('hex');
  expect(await client.read(26)).toBe(`32180013${topic}00016d`);
  client.send(acknowledge('puback', 1));
  expect(await sent).toBe('acknowledged');
});

test('MQTT-3.14.4-3: a DISCONNECT discards the will and is not a broken connection', async () => {
  const polite = await open({ will });
  polite.send(publish(0, 0, 'last'), disconnect);
  await polite.closed();
  const torn = await open({ will });
  torn.socket.end();
  await torn.closed();
  expect([stored(), broken()]).toEqual([['last', 'gone'], ['closed without a DISCONNECT']]);
});

test('answers come when the payload is durable; beyond the limit in flight nothing more is read', async () => {
  const client = await open();
  const held = broker.hold();
  const count = mqttLimits.inFlightPerClientMax + 50;
  client.send(...Array.from({ length: count }, (_, i) => publish(1, i + 1, String(i))), ping);
  while (broker.broker.flowControl.inFlight < mqttLimits.inFlightPerClientMax)
    await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect([broker.broker.flowControl.inFlight, stored()]).toEqual([
    mqttLimits.inFlightPerClientMax,
    [],
  ]);
  held.release();
  const answers = await client.read(4 * count + 2);
  expect(answers.replace(pong, '').match(/40020{0,3}/g)).toHaveLength(count);
  expect(stored()).toEqual(Array.from({ length: count }, (_, i) => String(i)));
});

test('a client that takes nothing gets no further messages, is not read, and is cut off', async () => {
  const client = await open();
  client.send(subscribe(1, [down('d'), 0]));
  expect(await client.read(5)).toBe('9003000100');
  client.socket.pause();
  const payload = Buffer.alloc(1024 * 1024);
  const send = () =>
    broker.broker.deliveries.send('id-d', { levels: ['x'], payload, qos: 0, retain: false });
  const outcomes: (string | undefined)[] = [];
  const sending = Array.from({ length: 30 }, async () => void outcomes.push(await send()));
  await new Promise(setImmediate);
  client.send(publish(0, 0, 'unread'));
  await new Promise(setImmediate);
  expect(outcomes).toContain('offline');
  broker.pass(mqttLimits.drainWithinMs / 1_000 + 1);
  await Promise.all(sending);
  expect([broken(), stored()]).toEqual([['drain timeout'], []]);
});

test('a topic that is too long for the subscriber’s form is not delivered, and nothing else happens', async () => {
  const client = await open();
  const long = `up/${secret}/id/d/`.padEnd(65_535, 'x');
  client.send(subscribe(1, [`/up/${secret}/id/d/#`, 0], [down('d'), 0]), publish(1, 2, 'p', long));
  expect(await client.read(10)).toBe('90040001000040020002');
  await handled(client);
});

test.each([
  ['a publish before the CONNECT', publish(0, 0)],
  ['the head of HTTP', Buffer.from('GET')],
  ['a second CONNECT', Buffer.concat([login(), login()])],
  ['a packet of a server', Buffer.concat([login(), Buffer.from(accepted, 'hex')])],
  ['a packet above the limit', Buffer.concat([login(), Buffer.from([0x82, 0x80, 0x80, 0x80, 1])])],
  [
    'a QoS 0 publish with a foreign secret',
    Buffer.concat([login(), publish(0, 0, 'p', '/up/other/id/d')]),
  ],
])('%s ends the connection, which is counted, without an answer', async (_what, bytes) => {
  const client = await broker.connect();
  client.send(bytes);
  await client.closed();
  expect(broker.happened.length).toBeGreaterThan(0);
  expect([stored(), broker.broker.sessions.size]).toEqual([[], 0]);
});

test('a client that leaves while its login waits is gone, and its login is not used', async () => {
  const waiting = Promise.withResolvers<{ refused: string }>();
  const own = await startTestBroker({ logIn: () => waiting.promise });
  const client = await own.connect();
  client.send(login());
  while (own.broker.sessions.size === 0) await new Promise(setImmediate);
  client.socket.end();
  await client.closed();
  while (own.broker.sessions.size > 0) await new Promise(setImmediate);
  waiting.resolve({ refused: 'late' });
  await own.close();
});

test('an error of the platform ends only the connection whose packet caused it', async () => {
  const failing = await startTestBroker({
    reachable: () => {
      throw new Error('broken');
    },
  });
  const kept = await failing.connect();
  kept.send(login({ clientId: 'kept' }));
  expect(await kept.read(4)).toBe(accepted);
  const [client, again] = [await failing.connect(), await failing.connect()];
  client.send(login({ clean: false }), subscribe(1, [down('d'), 0]));
  await client.closed();
  // The subscription is restored, and fails again.
  again.send(login({ clean: false }));
  await again.closed();
  expect(failing.happened.filter(([what]) => what === 'refused')).toEqual([
    ['refused', 'internal'],
    ['refused', 'internal'],
  ]);
  await handled(kept);
  await failing.close();
});

test('a stop waits for publishes in flight, whose answers reach the client', async () => {
  const client = await open({ will });
  const held = broker.hold();
  client.send(publish(1, 5));
  while (broker.broker.flowControl.inFlight === 0) await new Promise(setImmediate);
  const closing = broker.broker.close();
  held.release();
  await closing;
  expect(await client.read(4)).toBe('40020005');
  await client.closed();
  expect([stored(), broken()]).toEqual([['p'], ['stopping']]);
});

test('an idle connection that has logged in, published and subscribed takes less than 10 KiB of live objects on both sides', async () => {
  const count = 400;
  const clients: TestClient[] = [];
  const openOne = async (i: number): Promise<void> => {
    const client = await open({ clientId: `c${i}`, keepalive: 60 });
    client.send(publish(1, 1), subscribe(2, [down(`d${i}`), 1]));
    await client.read(4 + 5);
    clients.push(client);
  };
  for (let i = 0; i < 50; i++) await openOne(i);
  const before = liveBytes();
  for (let i = 50; i < 50 + count; i++) await openOne(i);
  const each = (liveBytes() - before) / count;
  expect(broker.broker.sessions.size).toBe(50 + count);
  expect(each).toBeLessThan(10 * 1_024);
});

function liveBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

async function loggedIn(
  own: TestBroker,
  username: string,
  clientId: string,
  answer = accepted,
): Promise<TestClient> {
  const client = await own.connect();
  client.send(login({ username, clientId }));
  expect(await client.read(4)).toBe(answer);
  return client;
}

const unavailable = '20020003';

test('security 2: packets in part of one organization end its own connections, and no others', async () => {
  const own = await startTestBroker({ shared: { partialBytesMax: 10_000 } });
  const half = publish(1, 1, 'x'.repeat(6_000)).subarray(0, 3_000);
  const quiet = await loggedIn(own, 'B', 'quiet');
  quiet.send(half);
  const loud: TestClient[] = [];
  for (let i = 0; i < 6; i++) {
    const client = await loggedIn(own, 'A', `loud ${i}`);
    client.send(half);
    loud.push(client);
  }
  // Of seven packets in part three have room.
  await Promise.all(loud.slice(0, 4).map((client) => client.closed()));
  quiet.send(publish(1, 1, 'x'.repeat(6_000)).subarray(3_000));
  expect(await quiet.read(4)).toBe('40020001');
  expect(own.broker.sessions.size).toBe(3);
  await own.close();
});

test('security 2: a packet has thirty seconds to arrive, however it trickles', async () => {
  const client = await open({ keepalive: 60_000 });
  const bytes = publish(1, 1, 'x'.repeat(100));
  client.send(ping);
  expect(await client.read(2)).toBe(pong);
  for (let i = 0; i < 32; i++) {
    client.socket.write(bytes.subarray(i, i + 1));
    await new Promise((resolve) => client.socket.write('', resolve));
    while (broker.broker.sessions.size === 1 && heldBytes() <= i) await new Promise(setImmediate);
    broker.pass(1);
  }
  await client.closed();
  expect(broken()).toEqual(['a packet did not arrive whole in time']);
});

/** Bytes of the packet that has arrived in part. */
function heldBytes(): number {
  const [session] = broker.broker.sessions;
  return session?.framer.arrivedBytes ?? 0;
}

test('security 2: of connections, those of the organization that has most give way, and its own further ones are refused', async () => {
  const own = await startTestBroker({ shared: { connectionsMax: 3 } });
  const [first] = [
    await loggedIn(own, 'A', 'a1'),
    await loggedIn(own, 'A', 'a2'),
    await loggedIn(own, 'A', 'a3'),
  ];
  await (await loggedIn(own, 'A', 'a4', unavailable)).closed();
  const quiet = await loggedIn(own, 'B', 'b1');
  await first.closed();
  // The client that comes again takes its own place.
  const again = await loggedIn(own, 'A', 'a2');
  for (const client of [quiet, again]) await handled(client);
  expect(own.broker.sessions.size).toBe(3);
  await own.close();
});

test('security 2: of connections without a login, those of the network that has most give way', async () => {
  const networks = ['A', 'A', 'A', 'B'];
  const own = await startTestBroker({
    shared: { strangersMax: 2 },
    networkOf: () => networks.shift() ?? 'C',
  });
  const [first, second] = [await own.connect(), await own.connect()];
  while (own.broker.sessions.size < 2) await new Promise(setImmediate);
  const third = await own.connect();
  await third.closed();
  const foreign = await own.connect();
  await first.closed();
  foreign.send(login({ clientId: 'foreign' }));
  expect(await foreign.read(4)).toBe(accepted);
  second.send(login({ clientId: 'second' }));
  expect(await second.read(4)).toBe(accepted);
  await own.close();
});

test('security 2: a login waits for those of its own network, not for all of another one', async () => {
  const begun: string[] = [];
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const own = await startTestBroker({
    networkOf: () => (own.broker.sessions.size < 40 ? 'A' : 'B'),
    async logIn(_address, { clientId }) {
      begun.push(clientId);
      await held;
      return { refused: 'wrong' };
    },
  });
  const client = async (clientId: string) => {
    const connection = await own.connect();
    connection.send(login({ clientId }));
    const isWaiting = () =>
      [...own.broker.sessions].some(
        (session) => session.clientId === clientId && session.state === 'connecting',
      );
    while (!isWaiting()) await new Promise(setImmediate);
  };
  for (let i = 0; i < 40; i++) await client(`of A ${i}`);
  await expect.poll(() => begun.length).toBe(16);
  await client('of B');
  release();
  await expect.poll(() => begun.length).toBe(41);
  expect(begun.indexOf('of B')).toBeLessThan(18);
  await own.close();
});

test('security 2: an organization has no more connections than its quota, and a client that comes again takes its place', async () => {
  let left = 1;
  const connectionCount = {
    take: () => left > 0 && left-- > 0,
    give: () => void left++,
  };
  const own = await startTestBroker({ connectionCount });
  await loggedIn(own, 'A', 'one');
  await (await loggedIn(own, 'A', 'two', unavailable)).closed();
  const again = await loggedIn(own, 'A', 'one');
  again.socket.destroy();
  while (left === 0) await new Promise(setImmediate);
  await loggedIn(own, 'A', 'two');
  await own.close();
});

test('behaviour 8: what is skipped of a large PUBLISH is a sign of life, and has no deadline', async () => {
  const client = await open({ keepalive: 5 });
  const payload = Buffer.alloc(mqttLimits.packetBytesMax + 64 * 1024, 'x');
  const bytes = publish(1, 9, payload.toString());
  const part = Math.ceil(bytes.length / 60);
  for (let at = 0; at < bytes.length; at += part) {
    client.send(bytes.subarray(at, at + part));
    const arrived = Math.min(at + part, bytes.length - 1);
    while (at + part < bytes.length && heldBytes() < arrived) await new Promise(setImmediate);
    broker.pass(1);
  }
  expect(await client.read(4)).toBe('40020009');
  expect(broker.happened.filter(([what]) => what === 'dropped')).toEqual([
    ['dropped', 413, 'd', bytes.length],
  ]);
  await handled(client);
});

test('behaviour 8: what fails and may succeed later gets no acknowledgement before MQTT 5', async () => {
  const own = await startTestBroker({ store: () => Promise.reject(problem('intakeFull')) });
  const client = await loggedIn(own, 'u', 'c');
  client.send(publish(1, 7));
  await client.closed();
  expect(own.happened).toEqual([
    ['refused', 'intakeFull'],
    ['ended', 'intakeFull'],
  ]);
  await own.close();
});

test.each([
  ['intakeFull', problem('intakeFull'), 0x97],
  ['internal', new Error('broken'), 0x83],
])('behaviour 8: MQTT 5 is told %s, and stays', async (reason, error, code) => {
  const own = await startTestBroker({
    findRoute: () => Promise.reject(error),
  });
  const client = await own.connect();
  client.send(login({ protocolVersion: 5 }));
  const [, length = 0] = Buffer.from(await client.read(2), 'hex');
  await client.read(length);
  const sent = { cmd: 'publish', qos: 1, messageId: 7, topic: `/up/${secret}/id/d` } as const;
  client.send(
    generate({ ...sent, payload: 'p', dup: false, retain: false }, { protocolVersion: 5 }),
  );
  expect(await client.read(5)).toBe(`40030007${code.toString(16)}`);
  await handled(client);
  expect(own.happened).toEqual([['refused', reason]]);
  await own.close();
});

test.each([
  ['marked', true, true],
  ['marked, and behind', true, false],
  ['unmarked', false, true],
  ['unmarked, and behind', false, false],
])(
  'reliability 6: what waits for a look-up when its connection breaks is stored once with its repetition: %s',
  async (_what, dup, isFirst) => {
    const filter = new DuplicateFilter(() => 0);
    const outcomes: boolean[] = [];
    const lookUps: (() => void)[] = [];
    const own = await startTestBroker({
      // As with the first publishes after a start: the device must be read.
      findRoute: (_identity, deviceId) =>
        new Promise((resolve) => {
          const device = { id: `id-${deviceId}`, deviceId };
          lookUps.push(() => resolve({ device }));
        }),
      async store(_route, { duplicateKey = '', isRepeated, isLate }) {
        const work = async () => undefined;
        const { repeated } = await filter.once(duplicateKey, work, 'org', !isRepeated, isLate);
        outcomes.push(repeated);
      },
      doubt: filter.doubt,
    });
    const first = await loggedIn(own, 'u', 'c');
    first.send(publish(1, 7));
    while (lookUps.length < 1) await new Promise(setImmediate);
    // The client was not heard for too long, and connects again.
    const second = await loggedIn(own, 'u', 'c');
    await first.closed();
    const sent = { cmd: 'publish', qos: 1, messageId: 7, topic: `/up/${secret}/id/d` } as const;
    second.send(generate({ ...sent, payload: 'p', dup, retain: false }));
    while (lookUps.length < 2) await new Promise(setImmediate);
    const [original, repetition] = lookUps;
    for (const [n, lookUp] of (isFirst
      ? [repetition, original]
      : [original, repetition]
    ).entries()) {
      lookUp?.();
      while (outcomes.length <= n) await new Promise(setImmediate);
    }
    expect(await second.read(4)).toBe('40020007');
    expect(outcomes).toEqual([false, true]);
    await own.close();
  },
);

test('reliability 3: a stop does not wait for a publish whose device has no owner, and does not acknowledge it', async () => {
  const own = await startTestBroker({ store: () => new Promise<never>(() => undefined) });
  const client = await loggedIn(own, 'u', 'c');
  client.send(publish(1, 7));
  while (own.broker.flowControl.inFlight === 0) await new Promise(setImmediate);
  const closing = own.broker.close();
  own.pass(1);
  await closing;
  await client.closed();
  expect(client.socket.bytesRead).toBe(4);
  await own.close();
});

test('a client of a workspace at another node is served there, also with what follows its CONNECT', async () => {
  const place = { organizationId: 'o', workspaceId: 'w' };
  const placeOf = async () => ({ ...place, connection: connect(broker.port, '127.0.0.1') });
  const accepting = await startTestBroker({ placeOf });
  try {
    const client = await accepting.connect();
    client.send(login({ will }), publish(1, 7, 'behind'));
    expect(await client.read(8)).toBe(accepted + acknowledge('puback', 7).toString('hex'));
    expect(stored()).toEqual(['behind']);
    expect([accepting.broker.sessions.size, broker.broker.sessions.size]).toEqual([0, 1]);
    // It is not silent here: the other node watches it.
    accepting.pass(200);
    await handled(client);
    client.send(disconnect);
    await client.closed();
    const second = await accepting.connect();
    second.send(login({ will }));
    expect(await second.read(4)).toBe(accepted);
    second.socket.destroy();
    await expect.poll(stored).toEqual(['behind', 'gone']);
    const third = await accepting.connect();
    third.send(login());
    expect(await third.read(4)).toBe(accepted);
    await broker.broker.close();
    await third.closed();
  } finally {
    await accepting.close();
  }
});

test('without a node for the workspace a login gets return code 3', async () => {
  const accepting = await startTestBroker({ placeOf: () => Promise.reject(new Error('none')) });
  try {
    const client = await accepting.connect();
    client.send(login());
    expect(await client.read(4)).toBe('20020003');
    expect(accepting.happened).toEqual([['refused', 'workspaceWithoutNode']]);
  } finally {
    await accepting.close();
  }
});
