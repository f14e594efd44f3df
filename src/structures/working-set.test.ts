// Working set: what a claim keeps, what it evicts.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createWorkingSet } from './working-set.ts';

test('any sequence of claims: the claimed entries stay, the others up to the limit, oldest claim first', () => {
  const claims = fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 9 }), { maxLength: 6 }));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), claims, (max, batches) => {
      const evicted: number[] = [];
      const set = createWorkingSet<number, string>(max, (_, key) => evicted.push(key));
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
