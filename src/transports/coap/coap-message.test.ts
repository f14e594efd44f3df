// CoAP messages: whatever is written is read back, and no bytes whatever break the reader.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CoapMessage,
  type CoapType,
  emptyMessage,
  encodeMessage,
  parseMessage,
} from './coap-message.ts';

const bytes = (max: number) => fc.uint8Array({ maxLength: max }).map((array) => Buffer.from(array));

const messages: fc.Arbitrary<CoapMessage> = fc.record({
  type: fc.constantFrom<CoapType>(0, 1, 2, 3),
  code: fc.integer({ min: 1, max: 255 }),
  id: fc.integer({ min: 0, max: 65_535 }),
  token: bytes(8),
  options: fc
    .array(fc.record({ number: fc.integer({ min: 0, max: 65_535 }), value: bytes(400) }), {
      maxLength: 12,
    })
    .map((options) => options.toSorted((one, other) => one.number - other.number)),
  payload: bytes(600),
});

describe('RFC 7252 section 3', () => {
  test('what is encoded is parsed again', () => {
    fc.assert(
      fc.property(messages, (message) => {
        expect(parseMessage(encodeMessage(message))).toEqual(message);
      }),
    );
  });
  test('no bytes break the reader, and what it takes for a message has all its parts inside them', () => {
    const changed = fc
      .tuple(messages.map(encodeMessage), fc.nat(), fc.nat(255), fc.nat())
      .map(([datagram, at, byte, cut]) => {
        const copy = Buffer.from(datagram);
        copy[at % copy.length] = byte;
        return copy.subarray(0, (cut % copy.length) + 1);
      });
    fc.assert(
      fc.property(fc.oneof(bytes(80), changed), (datagram) => {
        const read = parseMessage(datagram);
        if (typeof read !== 'string' && !('malformed' in read)) {
          expect(parseMessage(encodeMessage(read))).toEqual(read);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  for (const [what, hex] of [
    ['nothing', ''],
    ['three bytes', '400200'],
    ['another version', '80020001'],
  ] as const)
    test(`${what}: not for us`, () =>
      expect(parseMessage(Buffer.from(hex, 'hex'))).toBe('foreign'));

  for (const [what, hex] of [
    ['a token of 9 bytes', '49020001010203040506070809'],
    ['a token that is cut off', '440200010102'],
    ['an empty message with a token', '4100000155'],
    ['a payload marker at the end', '40020001ff'],
    ['the reserved option delta 15', '40020001f0'],
    ['the reserved option length 15', '400200010f'],
    ['truncated option', '4002000155ab'],
    ['an extended delta that is cut off', '40020001e001'],
    ['an option number beyond 65535', `40020001e0ffffe0ffff`],
    ['65 options', `40020001${'00'.repeat(65)}`],
  ] as const)
    test(`${what}: malformed, with type and id for the reset`, () =>
      expect(parseMessage(Buffer.from(hex, 'hex'))).toEqual({
        malformed: expect.any(String),
        type: 0,
        id: 1,
      }));

  test('an empty message is four bytes', () =>
    expect(encodeMessage(emptyMessage(3, 7)).toString('hex')).toBe('70000007'));
});
