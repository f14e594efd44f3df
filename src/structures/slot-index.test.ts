// The slot index finds what a plain map finds, with hashes that meet and runs that wrap around.
import { expect, test } from 'vitest';
import { createStringHash, SlotIndex } from './hash-tables.ts';

function randomFrom(seed: number): (max: number) => number {
  let state = seed;
  return (max) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * max);
  };
}

test.each([
  ['few hashes, long runs', 7],
  ['hashes at the end of the table', 40],
  ['many hashes', 2 ** 32],
])('fleet 5: it finds what a map finds: %s', (_, hashes) => {
  const random = randomFrom(hashes);
  const index = new SlotIndex();
  const known = new Map<number, number>();
  const hashOf = (): number => (hashes === 40 ? 2 ** 32 - 1 - random(40) : random(hashes));
  const total = hashes === 2 ** 32 ? 5_000 : 300;
  for (let step = 0; step < total * 6; step++) {
    const slot = random(total);
    const before = known.get(slot);
    if (before === undefined) {
      const hash = hashOf();
      known.set(slot, hash);
      index.add(hash, slot);
    } else if (random(2) === 0) {
      known.delete(slot);
      index.delete(before, slot);
    }
  }
  expect(index.size).toBe(known.size);
  for (let slot = 0; slot < total; slot++) {
    const hash = known.get(slot);
    const found = hash === undefined ? undefined : index.find(hash, (each) => each === slot);
    expect(found).toBe(hash === undefined ? undefined : slot);
  }
  for (const [slot, hash] of known) index.delete(hash, slot);
  expect(index.size).toBe(0);
  for (const [slot, hash] of known)
    expect(index.find(hash, (each) => each === slot)).toBeUndefined();
});

test('fleet 5: deleting what is not there changes nothing', () => {
  const index = new SlotIndex();
  index.add(5, 1);
  index.delete(5, 2);
  index.delete(6, 1);
  expect(index.size).toBe(1);
  expect(index.find(5, () => true)).toBe(1);
});

test('fleet 5: hashes spread, keep strings apart and depend on the secret', () => {
  const hashOf = createStringHash(1, 2);
  const strings = Array.from({ length: 20_000 }, (_, n) => `EUI-${n}`);
  expect(new Set(strings.map((string) => hashOf(string))).size).toBeGreaterThan(19_990);
  const low = new Set(strings.map((string) => hashOf(string) % 32_768));
  // Of 32,768 places, 45.7 % are hit by chance.
  expect(low.size).toBeGreaterThan(14_000);
  expect(hashOf('ab', 'c')).not.toBe(hashOf('a', 'bc'));
  expect(createStringHash(2, 2)('a')).not.toBe(hashOf('a'));
  expect(createStringHash(1, 4)('a')).not.toBe(hashOf('a'));
});
