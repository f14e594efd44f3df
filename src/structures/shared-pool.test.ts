// Shared pools: random holdings against a plain model, and what owners keep whatever others do.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SharedPool } from './shared-pool.ts';

interface Held {
  readonly owner: string;
  readonly amount: number;
}

const owners = ['A', 'B', 'C', 'D'] as const;
const step = fc.oneof(
  fc.record({
    owner: fc.constantFrom(...owners),
    holding: fc.integer({ min: 0, max: 30 }),
    amount: fc.integer({ min: 0, max: 40 }),
  }),
  fc.record({ released: fc.integer({ min: 0, max: 30 }) }),
);

const sumOf = (model: ReadonlyMap<number, Held>, owner?: string) =>
  [...model.values()]
    .filter((held) => owner === undefined || held.owner === owner)
    .reduce((sum, { amount }) => sum + amount, 0);

describe.each(['oldest', 'newcomer'] as const)('security 2: own %s gives way', (ownGivesWay) => {
  test('a pool is within its limit, and only who holds most gives way', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const max = 100;
        const model = new Map<number, Held>();
        const drop = (holding: number) => {
          const held = model.get(holding);
          const most = Math.max(...owners.map((owner) => sumOf(model, owner)));
          expect(sumOf(model, held?.owner)).toBe(most);
          model.delete(holding);
        };
        const pool = new SharedPool<number>({ max, giveWay: drop, ownGivesWay });
        for (const one of steps) {
          if ('released' in one) {
            pool.release(one.released);
            model.delete(one.released);
          } else {
            model.delete(one.holding);
            model.set(one.holding, one);
            if (!pool.hold(one.owner, one.holding, one.amount)) drop(one.holding);
          }
          expect(pool.used).toBe(sumOf(model));
          expect(pool.used).toBeLessThanOrEqual(max);
          expect(pool.size).toBe(model.size);
          for (const owner of owners) expect(pool.usedBy(owner)).toBe(sumOf(model, owner));
          for (const holding of model.keys()) expect(pool.has(holding)).toBe(true);
        }
      }),
    );
  });

  test('who holds no more than an equal share loses nothing, whatever the others do', () => {
    const share = 25;
    const others = fc.array(step, { maxLength: 200 });
    fc.assert(
      fc.property(others, fc.array(fc.integer({ min: 1, max: 5 })), (steps, amounts) => {
        const lost: (number | string)[] = [];
        const pool = new SharedPool<number | string>({
          max: share * owners.length,
          giveWay: (holding) => lost.push(holding),
          ownGivesWay,
        });
        let own = 0;
        const kept: string[] = [];
        for (const [i, one] of steps.entries()) {
          if ('released' in one) pool.release(one.released);
          else pool.hold(one.owner === 'A' ? 'B' : one.owner, one.holding, one.amount);
          const amount = amounts[i] ?? 0;
          if (amount === 0 || own + amount > share) continue;
          own += amount;
          expect(pool.hold('A', `own ${i}`, amount)).toBe(true);
          kept.push(`own ${i}`);
        }
        expect(lost.filter((holding) => typeof holding === 'string')).toEqual([]);
        expect(kept.every((holding) => pool.has(holding))).toBe(true);
      }),
    );
  });
});

describe('security 2: the owner that holds most', () => {
  test('loses its oldest holding to a newcomer of another owner', () => {
    const lost: string[] = [];
    const pool = new SharedPool<string>({ max: 3, giveWay: (holding) => lost.push(holding) });
    for (const holding of ['a1', 'a2', 'a3']) pool.hold('A', holding, 1);
    // A holding that changes is no longer the oldest.
    pool.hold('A', 'a1', 1);
    expect(pool.hold('B', 'b1', 1)).toBe(true);
    expect(lost).toEqual(['a2']);
  });

  test('has its own newcomer refused where nothing is to be ended for it', () => {
    const lost: string[] = [];
    const pool = new SharedPool<string>({
      max: 2,
      giveWay: (holding) => lost.push(holding),
      ownGivesWay: 'newcomer',
    });
    pool.hold('A', 'a1', 1);
    pool.hold('B', 'b1', 1);
    expect(pool.hold('A', 'a2', 1)).toBe(false);
    expect(lost).toEqual([]);
  });

  test('a holding that is larger than the pool is not taken, and others keep theirs', () => {
    const lost: string[] = [];
    const pool = new SharedPool<string>({ max: 10, giveWay: (holding) => lost.push(holding) });
    pool.hold('B', 'b1', 4);
    expect(pool.hold('A', 'a1', 11)).toBe(false);
    expect([lost, pool.used]).toEqual([[], 4]);
  });

  test('begins no more of what cannot give way when a quarter is left', () => {
    const pool = new SharedPool<number>({ max: 100 });
    let begun = 0;
    while (pool.hasRoomFor('A')) pool.hold('A', begun++, 1);
    expect(begun).toBe(75);
    expect(pool.hasRoomFor('B')).toBe(true);
  });

  test('has no share left while others hold less, and they have', () => {
    const pool = new SharedPool<number>({ max: 100 });
    expect(pool.hasShareLeft('A')).toBe(false);
    pool.hold('A', 1, 75);
    expect([pool.hasShareLeft('A'), pool.hasShareLeft('B')]).toEqual([false, true]);
    pool.hold('B', 2, 50);
    expect(pool.hasShareLeft('B')).toBe(false);
  });
});
