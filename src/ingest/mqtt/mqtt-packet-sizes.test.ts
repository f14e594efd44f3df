// Packet sizes are read the same wherever the stream is cut.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packetSizes } from './mqtt-packet-sizes.ts';

function packetOf(length: number, header = 0x30): Buffer {
  const bytes = [header];
  let rest = length;
  do {
    bytes.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    rest >>= 7;
  } while (rest > 0);
  return Buffer.concat([Buffer.from(bytes), Buffer.alloc(length, 7)]);
}

test('any packets up to the limit pass, cut anywhere; what is held is what has come of the last', () => {
  const lengths = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(
      lengths,
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      (sizes, cuts) => {
        const stream = Buffer.concat(sizes.map((size) => packetOf(size)));
        const ends = sizes.map(
          (_, i) => Buffer.concat(sizes.slice(0, i + 1).map((size) => packetOf(size))).length,
        );
        const watched = packetSizes(300);
        for (let at = 0, i = 0; at < stream.length; i++) {
          const next = at + cuts[i % cuts.length]!;
          expect(watched.accept(stream.subarray(at, next))).toBeUndefined();
          at = Math.min(next, stream.length);
          expect(watched.held).toBe(at - Math.max(0, ...ends.filter((end) => end <= at)));
        }
      },
    ),
  );
});

test('a packet above the limit is refused with its header, before its body', () => {
  const watched = packetSizes(300);
  expect(watched.accept(packetOf(300))).toBeUndefined();
  expect(watched.accept(packetOf(301).subarray(0, 3))).toBe('tooLarge');
});

test('a length of more than four bytes is malformed, as is one that pretends to be small', () => {
  expect(packetSizes(300).accept(Buffer.from([0x30, 0x80, 0x80, 0x80, 0x80]))).toBe('malformed');
  expect(packetSizes(300).accept(Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f]))).toBe('tooLarge');
});

test('the limit may rise with the login', () => {
  const watched = packetSizes(10);
  watched.limit(20);
  expect(watched.accept(packetOf(20))).toBeUndefined();
  expect(watched.accept(packetOf(21))).toBe('tooLarge');
});
