// Packets of clients are read as the standard says; random bytes are refused without another error.
import fc from 'fast-check';
import { generate } from 'mqtt-packet';
import { expect, test } from 'vitest';
import {
  LargePublish,
  MalformedPacket,
  PacketFramer,
  readConnect,
  readPacket,
  readPublishStart,
  UnsupportedLevel,
} from './mqtt-packet-reader.ts';

const connect = { cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clean: true } as const;
const login = generate({ ...connect, clientId: 'c', keepalive: 60 });
const number = [0, 7];
const text = (value: string | Buffer): number[] => {
  const bytes = Buffer.from(value);
  return [bytes.length >> 8, bytes.length & 0xff, ...bytes];
};
const packet = (header: number, ...body: number[]) => Buffer.from([header, body.length, ...body]);
const changed = (bytes: Buffer, at: number, byte: number) =>
  Buffer.from(bytes.map((old, i) => (i === at ? byte : old)));

test.each([
  [
    'publish',
    packet(0x3d, ...text('a/b'), ...number, 1, 2),
    { qos: 2, dup: true, retain: true, topic: 'a/b', messageId: 7, payload: Buffer.from([1, 2]) },
  ],
  ['publish', packet(0x30, ...text('a')), { qos: 0, payload: Buffer.alloc(0) }],
  [
    'subscribe',
    packet(0x82, ...number, ...text('a/#'), 1, ...text('+/b'), 0),
    {
      messageId: 7,
      subscriptions: [
        { topic: 'a/#', qos: 1 },
        { topic: '+/b', qos: 0 },
      ],
    },
  ],
  ['unsubscribe', packet(0xa2, ...number, ...text('a')), { messageId: 7, unsubscriptions: ['a'] }],
  ['puback', packet(0x40, ...number), { messageId: 7 }],
  ['pubrec', packet(0x50, ...number), { messageId: 7 }],
  ['pubrel', packet(0x62, ...number), { messageId: 7 }],
  ['pubcomp', packet(0x70, ...number), { messageId: 7 }],
  ['pingreq', packet(0xc0), {}],
  ['disconnect', packet(0xe0), {}],
] as const)('%s is read', (cmd, bytes, fields) => {
  for (const level of [3, 4] as const)
    expect(readPacket(bytes, level)).toMatchObject({ cmd, ...fields });
});

const longer = Buffer.concat([Buffer.from([0xc0, 1]), Buffer.from([0])]);
test.each([
  ['MQTT-2.2.2-2: reserved flags', packet(0x83, ...number, ...text('a'), 0)],
  ['MQTT-2.3.1-1: message number 0 of a publish', packet(0x32, ...text('a'), 0, 0)],
  ['MQTT-2.3.1-1: message number 0 of a subscription', packet(0x82, 0, 0, ...text('a'), 0)],
  ['a publish without its message number', packet(0x32, ...text('a'))],
  ['MQTT-3.3.1-4: QoS 3', packet(0x36, ...text('a'), ...number)],
  ['MQTT-3.3.2-2: a wildcard in the topic of a publish', packet(0x30, ...text('a/+'))],
  ['MQTT-4.7.3-1: an empty topic', packet(0x30, ...text(''))],
  ['MQTT-1.5.3-1: a topic that is not UTF-8', packet(0x30, ...text(Buffer.from([0x61, 0xff])))],
  ['MQTT-1.5.3-2: U+0000', packet(0x30, ...text('a\0'))],
  ['a topic longer than the packet', packet(0x30, 0, 9, 0x61)],
  ['MQTT-3.8.3-3: a subscription to nothing', packet(0x82, ...number)],
  ['MQTT-3-8.3-4: a subscription with QoS 3', packet(0x82, ...number, ...text('a'), 3)],
  ['a subscription to an empty filter', packet(0x82, ...number, ...text(''), 0)],
  ['MQTT-4.7.1-2: # before the end', packet(0x82, ...number, ...text('a/#/b'), 0)],
  ['MQTT-4.7.1-2: # after other characters', packet(0x82, ...number, ...text('a#'), 0)],
  ['MQTT-4.7.1-3: + with other characters', packet(0x82, ...number, ...text('a/b+'), 0)],
  ['MQTT-3.10.3-2: unsubscribing nothing', packet(0xa2, ...number)],
  ['an acknowledgement without a number', packet(0x40)],
  ['an acknowledgement that is too long', packet(0x40, ...number, 0)],
  ['a PINGREQ with a body', longer],
  ['a packet of a server', packet(0x20, 0, 0)],
  ['a packet of MQTT 5', packet(0xf0, 0)],
  ['packet kind 0', packet(0x00)],
])('%s is malformed', (_what, bytes) => {
  for (const level of [3, 4] as const)
    expect(() => readPacket(bytes, level)).toThrow(MalformedPacket);
});

test.each([
  ['pubrel', packet(0x6a, ...number)],
  ['subscribe', packet(0x8a, ...number, ...text('a'), 0)],
  ['unsubscribe', packet(0xaa, ...number, ...text('a'))],
])('MQTT 3.1: a %s may be repeated with DUP; in 3.1.1 the flag is reserved', (cmd, bytes) => {
  expect(() => readPacket(Buffer.from(bytes), 4)).toThrow(MalformedPacket);
  expect(readPacket(bytes, 3)).toMatchObject({ cmd, messageId: 7 });
});

test('U+FFFD may be part of a topic', () => {
  expect(readPacket(packet(0x30, ...text('a\ufffd')), 4)).toMatchObject({ topic: 'a\ufffd' });
});

test('a broken packet leaves nothing behind for the next one', () => {
  const publish = packet(0x30, ...text('a'), 1);
  for (const broken of [packet(0x30, 0, 9, 0x61), Buffer.from([0x30]), packet(0x36, 0)]) {
    expect(() => readPacket(broken, 4)).toThrow(MalformedPacket);
    expect(readPacket(publish, 4)).toMatchObject({ topic: 'a', payload: Buffer.from([1]) });
  }
});

test('a CONNECT is read with its will; bridges set the highest bit of the level', () => {
  const will = { topic: 't', payload: Buffer.from('p'), qos: 1, retain: true } as const;
  const fields = { clientId: 'c', keepalive: 9, username: 'u', password: Buffer.from('w'), will };
  const bytes = generate({ ...connect, ...fields });
  for (const read of [readConnect(bytes), readConnect(changed(bytes, 8, 0x84))])
    expect(read).toMatchObject({ ...fields, protocolVersion: 4, clean: true });
  const old = { ...connect, protocolId: 'MQIsdp', protocolVersion: 3, ...fields } as const;
  expect(readConnect(generate(old))).toMatchObject({ ...fields, protocolVersion: 3 });
});

test.each([
  ['level 2', 8, 2, UnsupportedLevel],
  ['level 6', 8, 6, UnsupportedLevel],
  ['another protocol', 4, 0x58, MalformedPacket],
  ['MQTT-3.1.2-3: the reserved flag', 9, 3, MalformedPacket],
  ['MQTT-3.1.2-13: a QoS without a will', 9, 0x0a, MalformedPacket],
  ['a will that is not there', 9, 6, MalformedPacket],
  ['MQTT-1.5.3-1: a client id that is not UTF-8', 14, 0xff, MalformedPacket],
  ['MQTT-1.5.3-2: a client id with U+0000', 14, 0, MalformedPacket],
])('a CONNECT with %s is refused', (_what, at, byte, error) => {
  expect(() => readConnect(changed(login, at, byte))).toThrow(error);
});

test('MQTT-3.1.2-14: a will of QoS 3 is malformed', () => {
  const bytes = generate({
    ...connect,
    clientId: 'c',
    will: { topic: 't', payload: 'p' },
  });
  expect(readConnect(bytes).will).toMatchObject({ topic: 't' });
  expect(() => readConnect(changed(bytes, 9, bytes[9]! | 0x18))).toThrow(MalformedPacket);
});

/** Bytes that often look like packets: valid ones, some bytes of which are changed. */
const streams = fc.tuple(
  fc.array(
    fc.oneof(
      fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom(
        login,
        packet(0x32, ...text('/up/s/id/d'), ...number, 0x7b, 0x7d),
        packet(0x82, ...number, ...text('/down/s/id/d/#'), 1),
        packet(0xa2, ...number, ...text('a')),
        packet(0x62, ...number),
        packet(0xc0),
      ),
    ),
    { minLength: 1, maxLength: 4 },
  ),
  fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 4 }),
);

const runs = 100_000;
test(`${runs} random streams: each packet is read or malformed, and no other error escapes`, () => {
  let malformed = 0;
  fc.assert(
    fc.property(streams, fc.constantFrom(3 as const, 4 as const), ([parts, changes], level) => {
      const bytes = Buffer.concat(parts);
      for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte;
      const framer = new PacketFramer(1_000);
      framer.push(bytes);
      try {
        for (let next = framer.next(); next !== undefined; next = framer.next())
          if (next instanceof LargePublish) readPublishStart(next.start);
          else if (next[0] === 0x10) readConnect(next);
          else readPacket(next, level);
      } catch (error) {
        malformed++;
        if (!(error instanceof MalformedPacket || error instanceof UnsupportedLevel)) throw error;
      }
    }),
    { numRuns: runs },
  );
  expect(malformed).toBeGreaterThan(runs / 10);
});

test('MQTT 5: packets with reasons and properties are read', () => {
  const session = { sessionExpiryInterval: 9 };
  const left = generate(
    { cmd: 'disconnect', reasonCode: 4, properties: session },
    { protocolVersion: 5 },
  );
  expect(readPacket(left, 5)).toMatchObject({ reasonCode: 4, properties: session });
  expect(readPacket(packet(0xe0), 5)).toMatchObject({ cmd: 'disconnect' });
  expect(readPacket(packet(0x40, ...number, 0x87), 5)).toMatchObject({
    messageId: 7,
    reasonCode: 0x87,
  });
});

test.each([
  ['a topic alias', packet(0x30, ...text('a'), 3, 0x23, 0, 1)],
  ['a subscription identifier', packet(0x82, ...number, 2, 0x0b, 1, ...text('a'), 0)],
  ['an AUTH', packet(0xf0)],
])('MQTT 5: %s, which was not offered, is refused', (_what, bytes) => {
  expect(() => readPacket(bytes, 5)).toThrow(MalformedPacket);
});

test('MQTT 5: a packet that was changed anywhere is read or refused', () => {
  const properties = {
    contentType: 'a',
    messageExpiryInterval: 5,
    correlationData: Buffer.from('x'),
    userProperties: { a: 'b' },
  };
  const five = { protocolVersion: 5 } as const;
  const good = [
    generate(
      {
        cmd: 'publish',
        topic: 'a',
        payload: 'b',
        qos: 1,
        dup: false,
        retain: false,
        messageId: 3,
        properties,
      },
      five,
    ),
    generate(
      { cmd: 'subscribe', messageId: 3, subscriptions: [{ topic: 'a', qos: 1, nl: true }] },
      five,
    ),
    generate({ cmd: 'disconnect', reasonCode: 4, properties: { sessionExpiryInterval: 9 } }, five),
  ];
  fc.assert(
    fc.property(fc.constantFrom(...good), fc.nat(), fc.nat(255), (bytes, place, byte) => {
      // The length of the packet is the framer's.
      const at = place % bytes.length;
      try {
        readPacket(changed(bytes, at === 1 ? 0 : at, byte), 5);
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedPacket);
      }
    }),
    { numRuns: 3_000 },
  );
});
