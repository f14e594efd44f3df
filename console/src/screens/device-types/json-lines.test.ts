// Differences of JSON: both sides can be read back from them, and common lines are found.
import { describe, expect, test } from 'vitest';
import { type DiffLine, diffLines, linesOf, sortedJson } from './json-lines.ts';

function side(lines: readonly DiffLine[], other: DiffLine['kind']): string[] {
  return lines.filter(({ kind }) => kind !== other).map(({ text }) => text);
}

/** Numbers below `below`, the same for the same seed. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

describe('lines of a difference', () => {
  test('both sides can be read back, for random lines', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const next = numbersFrom(seed);
      const [before, after] = [0, 1].map(() =>
        Array.from({ length: next(12) }, () => `${next(4)}`),
      );
      const lines = diffLines(before ?? [], after ?? []);
      expect([side(lines, 'new'), side(lines, 'gone')]).toEqual([before, after]);
    }
  });

  test('one changed member is one line on each side', () => {
    const lines = diffLines(linesOf({ a: 1, b: 2, c: 3 }), linesOf({ a: 1, b: 9, c: 3 }));
    expect(lines.filter(({ kind }) => kind !== 'same')).toEqual([
      { kind: 'gone', text: '  "b": 2,' },
      { kind: 'new', text: '  "b": 9,' },
    ]);
  });

  test('large values are replaced as a whole', () => {
    const [before, after] = ['a', 'b'].map((name) =>
      Array.from({ length: 600 }, (_, n) => name + n),
    );
    expect(diffLines(before ?? [], after ?? [])).toHaveLength(1_200);
  });
});

test('sorted JSON does not depend on the order of members', () => {
  expect(sortedJson({ b: [{ d: 1, c: 2 }], a: 1 })).toBe(sortedJson({ a: 1, b: [{ c: 2, d: 1 }] }));
  expect(sortedJson([1, 2])).not.toBe(sortedJson([2, 1]));
});
