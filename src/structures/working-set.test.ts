// Working set: what a claim keeps, what it evicts.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WorkingSet } from './caches.ts';

test('any sequence of claims: the claimed entries stay, the others up to the limit, oldest claim first', () => {
  const claims = fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 9 }), { maxLength: 6 }));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), claims, (max, batches) => {
      const evicted: number[] = [];
      const set = new WorkingSet<number, string>(max, (_, key) => evicted.push(key));
      let list: number[] = [];
      const expectedEvictions: number[] = [];
      for (const batch of batches) {
        const missing = batch.filter((key) => !list.includes(key));
        expect(set.claim(batch)).toEqual(missing);
        for (const key of missing) set.set(key, `value ${key}`);
        const others = list.filter((key) => !batch.includes(key));
        const room = Math.max(0, max - batch.length);
        expectedEvictions.push(...others.slice(0, Math.max(0, others.length - room)));
        list = [
          ...others.slice(Math.max(0, others.length - room)),
          ...batch.filter((key) => list.includes(key)),
          ...missing,
        ];
        for (const key of list) expect(set.get(key)).toBe(`value ${key}`);
        expect(set.size).toBe(list.length);
      }
      expect(evicted).toEqual(expectedEvictions);
    }),
  );
});

test('an owner with many entries makes room before one with few, however old those are', () => {
  const evicted: string[] = [];
  const set = new WorkingSet<string, string>(
    100,
    (_, key) => evicted.push(key),
    (owner) => owner,
  );
  const add = (owner: string, from: number, count: number) => {
    const keys = Array.from({ length: count }, (_, i) => `${owner}${from + i}`);
    for (const key of set.claim(keys)) set.set(key, owner);
  };
  add('calm', 0, 20);
  for (let from = 0; from < 1_000; from += 40) add('large', from, 40);
  expect(set.size).toBe(100);
  expect(evicted.filter((key) => key.startsWith('calm'))).toEqual([]);
  // Beyond an equal share of the limit, the oldest go as before.
  add('calm', 20, 60);
  add('calm', 80, 10);
  expect(set.size).toBe(100);
  expect(set.get('calm85')).toBe('calm');
});
