// Payload reader: CBOR as JSON would say it, compressed payloads within their limit, and any bytes whatever.
import { gzipSync } from 'node:zlib';
import { encode } from 'cborg';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isExact } from '../model/json-keys.ts';
import type { Json } from '../model/json.ts';
import { payloadEncodings } from '../model/device-type.ts';
import { isJsonDocument, readPayload } from './payload-reader.ts';

/** The value of CBOR; scalars are the member `value` of a payload. */
function cborBody(bytes: Uint8Array): Json {
  return readPayload(bytes, { encoding: 'CBOR' }).body;
}

describe('CBOR bodies', () => {
  test('what JSON can say comes out as JSON would', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const json = JSON.parse(JSON.stringify(value)) as Json;
        const isScalar = typeof json !== 'object';
        fc.pre(json !== null);
        expect(cborBody(encode(value))).toEqual(isScalar ? { value: json } : json);
      }),
    );
  });
  for (const [what, hex, expected] of [
    ['numbers as keys', 'a2010220f6', { '1': 2, '-1': null }],
    ['byte strings', 'a1616142beef', { a: 'beef' }],
    ['NaN and infinities', '83f97e00f97c00f9fc00', [null, null, null]],
    ['undefined', '81f7', [null]],
    ['a half float', '81f93e00', [1.5]],
    ['an integer of 64 bits, exactly', '811bffffffffffffffff', ['18446744073709551615']],
    [
      'times with their tags',
      '82c074323032362d30312d30315430303a30303a30305ac11a5c2aad81',
      ['2026-01-01T00:00:00Z', 1546300801],
    ],
    ['indefinite lengths', 'bf61619f0102ffff', { a: [1, 2] }],
  ] as const)
    test(what, () => expect(cborBody(Buffer.from(hex, 'hex'))).toEqual(expected));
  test('a key __proto__ stays a key', () => {
    const body = cborBody(Buffer.from('a1695f5f70726f746f5f5fa1616101', 'hex'));
    expect(Object.keys(body as object)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });
  for (const [what, body] of [
    ['a cut text', '6548'],
    ['two values', '0101'],
    ['a map as key', 'a1a001'],
    ['the same key twice', 'a2616101616102'],
    ['an unknown tag', 'd864a0'],
    ['65 levels and more', `${'81'.repeat(70)}01`],
    ['a million levels', `${'81'.repeat(1_000_000)}01`],
    ['a length of 2^60', '9b1000000000000000'],
  ] as const)
    test(`${what}: refused`, () =>
      expect(() => cborBody(Buffer.from(body, 'hex'))).toThrow(
        expect.objectContaining({ problem: 'invalidCbor' }),
      ));
  test('no bytes whatever lead to anything else than a value or a refusal', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          JSON.stringify(cborBody(bytes));
        } catch (error) {
          expect(['invalidCbor', 'captureBodyInvalid']).toContain(
            (error as { readonly problem?: string }).problem,
          );
        }
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('contract 38: compressed payloads', () => {
  const zeros = (bytes: number) => gzipSync(Buffer.alloc(bytes, '0'));
  test('a megabyte inflates, one byte more is refused', () => {
    expect(readPayload(zeros(1024 * 1024), { encoding: 'TEXT' }).bytes).toBe(1024 * 1024);
    expect(() => readPayload(zeros(1024 * 1024 + 1), { encoding: null })).toThrow(
      expect.objectContaining({ problem: 'payloadTooLarge' }),
    );
  });
  test('a bomb costs no more memory than the limit', () => {
    const bomb = zeros(256 * 1024 * 1024);
    const before = process.memoryUsage().arrayBuffers;
    expect(() => readPayload(bomb, { encoding: null })).toThrow();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024);
  });
  test('declared bytes stay compressed', () => {
    const bytes = zeros(10);
    for (const encoding of ['BYTES', 'HEX'] as const)
      expect(readPayload(bytes, { encoding }).body).toEqual({ payloadHex: bytes.toString('hex') });
  });
  test('a checksum that does not fit makes it bytes', () => {
    const bytes = zeros(10);
    bytes[bytes.length - 5]! ^= 1;
    expect(readPayload(bytes, { encoding: null })).toMatchObject({ encoding: 'BYTES' });
  });
});

describe('contract 38: any payload', () => {
  const types = [
    undefined,
    'application/json',
    'application/cbor',
    'application/senml+cbor',
    'application/x-www-form-urlencoded',
    'text/plain; charset=utf-8',
  ];
  const payload = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.json().map((text) => Buffer.from(text)),
    fc.string({ unit: 'grapheme' }).map((text) => Buffer.from(text)),
    fc.jsonValue().map((value) => encode(value)),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => gzipSync(bytes)),
  );
  const refusals = ['captureBodyInvalid', 'invalidJson', 'invalidCbor', 'notUtf8'];

  test('is an object or an array, or is refused', () => {
    fc.assert(
      fc.property(
        payload,
        fc.constantFrom(null, ...payloadEncodings),
        fc.constantFrom(...types),
        (bytes, encoding, contentType) => {
          try {
            const { body } = readPayload(bytes, { encoding, contentType, port: '7' });
            expect(typeof body === 'object' && body !== null).toBe(true);
            expect(JSON.parse(JSON.stringify(body))).toEqual(JSON.parse(JSON.stringify(body)));
          } catch (error) {
            expect(refusals).toContain((error as { readonly problem?: string }).problem);
          }
        },
      ),
      { numRuns: Number(process.env['PAYLOAD_RUNS'] ?? 3_000) },
    );
  });

  test('undeclared, is refused only as empty, null, or broken JSON', () => {
    fc.assert(
      fc.property(payload, (bytes) => {
        try {
          readPayload(bytes, { encoding: null });
        } catch (error) {
          const { problem } = error as { readonly problem?: string };
          expect(['captureBodyInvalid', 'invalidJson']).toContain(problem);
        }
      }),
      { numRuns: Number(process.env['PAYLOAD_RUNS'] ?? 3_000) },
    );
  });

  test.each(['21.5\v', '\f21.5', '\u{a0}21.5\u{2028}'])(
    'white space is around a number: %j',
    (text) => {
      for (const encoding of [null, 'TEXT'] as const)
        expect(readPayload(Buffer.from(text), { encoding }).body).toMatchObject(
          encoding === null && /[\v\f]/.test(text) ? {} : { value: 21.5 },
        );
    },
  );

  test('an integer that a number does not hold is known as one, alone and in text', () => {
    for (const encoding of [null, 'TEXT'] as const) {
      const { body } = readPayload(Buffer.from('12345678901234567890'), { encoding });
      expect(body).toMatchObject({ value: '12345678901234567890' });
      expect(isExact(body, 'value')).toBe(true);
    }
    const { body } = readPayload(Buffer.from('"12345678901234567890"'), { encoding: null });
    expect(isExact(body, 'value')).toBe(false);
  });

  test('a document is parsed in parts only when nothing else can be meant', () => {
    const document = (text: string, hints: object = {}) =>
      isJsonDocument(Buffer.from(text), { encoding: null, ...hints });
    expect(document(' {"a":1}')).toBe(true);
    expect(document('\ufeff[1]')).toBe(true);
    expect(document('{\u0001')).toBe(false);
    expect(document('{\u0001', { contentType: 'application/json' })).toBe(true);
    expect(document('{}', { contentType: 'application/cbor' })).toBe(false);
    expect(document('{}', { encoding: 'HEX' })).toBe(false);
    expect(document('1')).toBe(false);
  });
});
