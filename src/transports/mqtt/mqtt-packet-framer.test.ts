// Packets are cut from the stream the same wherever the stream is cut, and the memory follows what has arrived.
import fc from 'fast-check';
import { generate } from 'mqtt-packet';
import { expect, test } from 'vitest';
import {
  LargePublish,
  MalformedPacket,
  PacketFramer,
  readPublishStart,
} from './mqtt-packet-reader.ts';

function packetOf(length: number, header = 0x30): Buffer {
  const bytes = [header];
  let rest = length;
  do {
    bytes.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    rest >>= 7;
  } while (rest > 0);
  return Buffer.concat([Buffer.from(bytes), Buffer.alloc(length, length)]);
}

function* packetsOf(framer: PacketFramer): Generator<Buffer> {
  for (let next = framer.next(); next !== undefined; next = framer.next()) {
    if (next instanceof LargePublish) throw new Error('skipped');
    yield next;
  }
}

function faultOf(bytes: Buffer, bytesMax: number): string {
  const framer = new PacketFramer(bytesMax);
  framer.push(bytes);
  try {
    framer.next();
    return 'none';
  } catch (error) {
    expect(error).toBeInstanceOf(MalformedPacket);
    return (error as Error).message;
  }
}

test('any packets up to the limit pass, cut anywhere; nothing is held between packets', () => {
  const lengths = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 8 });
  const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });
  fc.assert(
    fc.property(lengths, cuts, fc.boolean(), (sizes, pieces, readsAtEnd) => {
      const packets = sizes.map((size) => packetOf(size));
      const stream = Buffer.concat(packets);
      const framer = new PacketFramer(300);
      const found: Buffer[] = [];
      for (let at = 0, i = 0; at < stream.length; i++) {
        const next = at + pieces[i % pieces.length]!;
        framer.push(Buffer.from(stream.subarray(at, next)));
        at = next;
        if (!readsAtEnd) found.push(...packetsOf(framer));
      }
      found.push(...packetsOf(framer));
      expect(found).toEqual(packets);
      expect([framer.heldBytes, framer.hasUnread, framer.header]).toEqual([0, false, undefined]);
    }),
  );
});

test('a packet that comes byte by byte holds at most twice its bytes, also when its header promises more', () => {
  const packet = packetOf(20_000);
  const framer = new PacketFramer(20_000);
  for (const [i, byte] of packet.entries()) {
    framer.push(Buffer.from([byte]));
    const found = framer.next();
    if (i === packet.length - 1) expect(found).toEqual(packet);
    else {
      expect(found).toBeUndefined();
      expect(framer.heldBytes).toBeLessThanOrEqual(Math.max(64, 2 * (i + 1)));
    }
  }
  expect(framer.heldBytes).toBe(0);
});

test('a packet above the limit is refused with its header, before its body', () => {
  expect(faultOf(packetOf(300), 300)).toBe('none');
  expect(faultOf(packetOf(301).subarray(0, 3), 300)).toBe('tooLarge');
});

test('a length of more than four bytes is malformed, as is one that pretends to be small', () => {
  expect(faultOf(Buffer.from([0x30, 0x80, 0x80, 0x80, 0x80]), 300)).toBe('malformed');
  expect(faultOf(Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f]), 300)).toBe('tooLarge');
});

test('the limit may rise with the login, also for packets that are already there', () => {
  const framer = new PacketFramer(10);
  framer.push(Buffer.concat([packetOf(10), packetOf(20), packetOf(21)]));
  expect(framer.next()).toEqual(packetOf(10));
  framer.limit(20);
  expect(framer.next()).toEqual(packetOf(20));
  expect(() => framer.next()).toThrow('tooLarge');
});

test('behaviour 8: a PUBLISH above the limit is skipped in any chunks, and the next packet is read', () => {
  const topic = `up/${'t'.repeat(300)}`;
  const large = generate({
    cmd: 'publish',
    topic,
    payload: 'x'.repeat(5_000),
    qos: 1,
    dup: false,
    retain: false,
    messageId: 7,
  });
  const sent = Buffer.concat([packetOf(20), large, packetOf(20)]);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1 }), (sizes) => {
      const framer = new PacketFramer(1_000);
      framer.skipLargePublishes();
      const found: (Buffer | LargePublish)[] = [];
      for (let at = 0, i = 0; at < sent.length; i++) {
        const size = sizes[i % sizes.length] ?? 1;
        framer.push(sent.subarray(at, at + size));
        at += size;
        for (let next = framer.next(); next !== undefined; next = framer.next()) found.push(next);
      }
      const [before, skipped, after] = found;
      expect([before, after, found.length]).toEqual([packetOf(20), packetOf(20), 3]);
      if (!(skipped instanceof LargePublish)) throw new Error('not skipped');
      expect(skipped.bytes).toBe(large.length);
      expect(readPublishStart(skipped.start)).toMatchObject({ topic, qos: 1, messageId: 7 });
    }),
  );
});

test('behaviour 8: no more is kept of a PUBLISH above the limit than a topic may take', () => {
  const framer = new PacketFramer(1_000);
  framer.skipLargePublishes();
  framer.push(Buffer.from([0x30, 0x80, 0x80, 0x80, 0x01, 0, 1, 0x61]));
  expect(framer.next()).toBeUndefined();
  for (let i = 0; i < 31; i++) {
    framer.push(Buffer.alloc(64 * 1024));
    expect(framer.next()).toBeUndefined();
    expect(framer.isHolding).toBe(false);
    expect(framer.heldBytes).toBeLessThan(70_000);
  }
});
