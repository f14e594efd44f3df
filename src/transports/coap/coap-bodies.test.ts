// Bodies in blocks: put together, refused when they cannot be.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blockLimits, BlockBodies, KeptAnswers } from './coap-capture.ts';

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
