// UTF-8 check: the first byte that belongs to no character, for any bytes in any chunks.
import { isUtf8 } from 'node:buffer';
import { expect, test } from 'vitest';
import { Utf8Check, utf8Fault } from './bytes.ts';

/** Character by character. */
function faultOf(bytes: Buffer): number | undefined {
  for (let at = 0; at < bytes.length; ) {
    const length = [1, 2, 3, 4].find(
      (n) => at + n <= bytes.length && isUtf8(bytes.subarray(at, at + n)),
    );
    if (length === undefined) return at;
    at += length;
  }
  return undefined;
}

test('the place of the fault is that of a reader of single characters', () => {
  let seed = 1;
  const below = (n: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % n;
  };
  const characters = ['a', 'ü', '€', '😀'].map((text) => Buffer.from(text));
  const piece = () =>
    below(10) === 0 ? Buffer.from([below(256)]) : (characters[below(4)] ?? Buffer.alloc(0));
  for (let n = 0; n < 20_000; n++) {
    const bytes = Buffer.concat(Array.from({ length: below(12) }, piece));
    const expected = faultOf(bytes);
    expect([bytes.toString('hex'), utf8Fault(bytes)]).toEqual([bytes.toString('hex'), expected]);
    const check = new Utf8Check();
    let found: number | undefined;
    for (let at = 0; at < bytes.length && found === undefined; ) {
      const end = at + 1 + below(4);
      found = check.add(bytes.subarray(at, end));
      at = end;
    }
    expect(found ?? check.end()).toBe(expected);
  }
});
