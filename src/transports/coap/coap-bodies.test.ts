// Bodies in blocks and in CBOR: put together, read as JSON would have said it, refused when they cannot be.
import { encode } from 'cborg';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blockLimits, BlockBodies, KeptAnswers, parseCborBody } from './coap-capture.ts';

const block = (number: number, more: boolean, bytes = 16) => ({ number, more, bytes });
const full = Buffer.alloc(16, 'a');

describe('RFC 7959: blocks of a body', () => {
  test('any body in blocks of any size comes out whole', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 3_000 }),
        fc.constantFrom(16, 32, 512, 1024),
        (body, bytes) => {
          const bodies = new BlockBodies(blockLimits);
          const last = Math.ceil(body.length / bytes) - 1;
          for (let number = 0; number < last; number++) {
            const part = Buffer.from(body.subarray(number * bytes, (number + 1) * bytes));
            expect(bodies.add('k', 'A', block(number, true, bytes), part, 0)).toBe('more');
          }
          const whole = bodies.add(
            'k',
            'A',
            block(last, false, bytes),
            Buffer.from(body.subarray(last * bytes)),
            0,
          );
          expect(whole).toEqual(Buffer.from(body));
          expect([bodies.size, bodies.bytes]).toEqual([0, 0]);
        },
      ),
    );
  });
  test('a smaller size may be agreed on under way', () => {
    const bodies = new BlockBodies(blockLimits);
    bodies.add('k', 'A', block(0, true, 32), Buffer.alloc(32, 'a'), 0);
    expect(bodies.add('k', 'A', block(2, false, 16), Buffer.from('b'), 0)).toEqual(
      Buffer.from(`${'a'.repeat(32)}b`),
    );
  });
  test('a missing block, a short block and a block of nothing begun end the transfer', () => {
    const bodies = new BlockBodies(blockLimits);
    bodies.add('k', 'A', block(0, true), full, 0);
    expect(bodies.add('k', 'A', block(2, true), full, 0)).toBe('incomplete');
    expect(bodies.add('k', 'A', block(1, true), full, 0)).toBe('incomplete');
    expect(bodies.add('other', 'A', block(0, true), Buffer.from('short'), 0)).toBe('incomplete');
    expect([bodies.size, bodies.bytes]).toEqual([0, 0]);
  });
  test('a first block begins anew', () => {
    const bodies = new BlockBodies(blockLimits);
    bodies.add('k', 'A', block(0, true), full, 0);
    bodies.add('k', 'A', block(0, true), full, 0);
    expect(bodies.bytes).toBe(16);
    expect(bodies.add('k', 'A', block(1, false), Buffer.from('b'), 0)).toEqual(
      Buffer.from(`${'a'.repeat(16)}b`),
    );
  });
  test('beyond the body, the bytes, the transfers and the time: refused or the oldest given up', () => {
    const bodies = new BlockBodies({
      bodyBytesMax: 40,
      transfersMax: 3,
      bytesMax: 64,
      idleMs: 100,
    });
    bodies.add('a', 'A', block(0, true), full, 0);
    bodies.add('a', 'A', block(1, true), full, 1);
    expect(bodies.add('a', 'A', block(2, true), full, 2)).toBe('tooLarge');
    for (const key of ['b', 'c', 'd', 'e']) bodies.add(key, 'A', block(0, true), full, 10);
    expect(bodies.size).toBe(3);
    expect(bodies.add('b', 'A', block(1, false), full, 11)).toBe('incomplete');
    bodies.add('f', 'A', block(0, true), full, 200);
    expect([bodies.size, bodies.bytes]).toEqual([1, 16]);
  });
  test('security 2: bodies of the organization that has most give way, and no others', () => {
    const limits = { bodyBytesMax: 40, transfersMax: 4, bytesMax: 1_000, idleMs: 100 };
    for (const changed of [{}, { transfersMax: 100, bytesMax: 64 }]) {
      const bodies = new BlockBodies({ ...limits, ...changed });
      bodies.add('quiet', 'B', block(0, true), full, 0);
      for (let i = 0; i < 50; i++) bodies.add(`loud ${i}`, 'A', block(0, true), full, 1);
      expect([bodies.size, bodies.bytes]).toEqual([4, 64]);
      expect(bodies.add('quiet', 'B', block(1, false), full, 2)).toHaveLength(32);
    }
  });
  test('kept answers: the oldest go first, and none is kept beyond its time', () => {
    const answers = new KeptAnswers<number>({ transfersMax: 2, idleMs: 100 });
    for (const [at, key] of ['a', 'b', 'c'].entries()) answers.keep(key, 'A', at, at);
    expect(['a', 'b', 'c'].map((key) => answers.find(key, 50))).toEqual([undefined, 1, 2]);
    expect(answers.find('c', 102)).toBeUndefined();
  });
});

describe('CBOR bodies', () => {
  test('what JSON can say comes out as JSON would', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expect(parseCborBody(encode(value))).toEqual(JSON.parse(JSON.stringify(value)));
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
    test(what, () => expect(parseCborBody(Buffer.from(hex, 'hex'))).toEqual(expected));
  test('a key __proto__ stays a key', () => {
    const body = parseCborBody(Buffer.from('a1695f5f70726f746f5f5fa1616101', 'hex'));
    expect(Object.keys(body as object)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });
  for (const [what, body] of [
    ['nothing', ''],
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
      expect(() => parseCborBody(Buffer.from(body, 'hex'))).toThrow(
        expect.objectContaining({ problem: 'invalidCbor' }),
      ));
  test('no bytes whatever lead to anything else than a value or a refusal', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          JSON.stringify(parseCborBody(bytes));
        } catch (error) {
          expect(error).toMatchObject({ problem: 'invalidCbor' });
        }
      }),
      { numRuns: 3_000 },
    );
  });
});
