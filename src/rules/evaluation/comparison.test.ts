// Comparison: every operator for every type and missing value, chains, and the operand's own key (contract 13, 35).
import { describe, expect, test } from 'vitest';
import type { Json } from '../../model/json.ts';
import { comparisonOperators, type RuleCondition, type ValueType } from '../../model/rule.ts';
import { compileBlock } from './comparison.ts';
import { Reading } from './rule-reading.ts';
import { condition, constant, fromSource, sourceFor } from './testing-rules.ts';

function holds(
  conditions: readonly RuleCondition[],
  data: Record<string, Json>,
  valueType: ValueType = 'NUMERICAL',
): { readonly holds: boolean; readonly missing: readonly number[] } {
  const missing: number[] = [];
  const sources = [sourceFor('s', '02a', { valueType })];
  const reading = new Reading([{ deviceId: '02a', topic: 'default', timestamp: 0, data }]);
  return { holds: compileBlock(conditions, sources)(reading, missing), missing };
}

type Row = readonly [value: Json, other: Json, type: ValueType, wanted: string];

const rows: readonly Row[] = [
  // EQ GT LT GTE LTE NEQ NGT NLT NGTE NLTE
  [1, 2, 'NUMERICAL', 'f f t f t t t f t f'],
  [2, 2, 'NUMERICAL', 't f f t t f t t f f'],
  [3, 2, 'NUMERICAL', 'f t f t f t f t f t'],
  [-0, 0, 'NUMERICAL', 't f f t t f t t f f'],
  ['10', 9, 'NUMERICAL', 'f t f t f t f t f t'],
  [' 1e1 ', 10, 'NUMERICAL', 't f f t t f t t f f'],
  [true, 1, 'NUMERICAL', 't f f t t f t t f f'],
  [false, '1', 'NUMERICAL', 'f f t f t t t f t f'],
  ['10', '9', 'STRING', 'f f t f t t t f t f'],
  ['a', 'A', 'STRING', 'f t f t f t f t f t'],
  ['a', 'a', 'STRING', 't f f t t f t t f f'],
  [21.5, '21.5', 'STRING', 't f f t t f t t f f'],
  [true, 'true', 'STRING', 't f f t t f t t f f'],
  [true, true, 'BOOLEAN', 't f f t t f t t f f'],
  [false, true, 'BOOLEAN', 'f f t f t t t f t f'],
  ['TRUE', true, 'BOOLEAN', 't f f t t f t t f f'],
  [0, false, 'BOOLEAN', 't f f t t f t t f f'],
  ['1', 'false', 'BOOLEAN', 'f t f t f t f t f t'],
];

describe('contract 13: the ten operators', () => {
  const cells = rows.flatMap(([value, other, type, wanted]) =>
    comparisonOperators.map(
      (operator, i) => [value, operator, other, type, wanted.split(' ')[i] === 't'] as const,
    ),
  );
  test.each(cells)('%j %s %j as %s is %s', (value, operator, other, type, wanted) => {
    expect(
      holds([condition(fromSource('s'), operator, constant(other))], { a: value }, type).holds,
    ).toBe(wanted);
    // The constant may stand first: then the operator reads from it.
    const turned = holds(
      [condition(constant(value), operator, fromSource('s'))],
      { a: other },
      type,
    );
    expect(turned.holds).toBe(wanted);
  });

  const missing: readonly (readonly [Record<string, Json>, ValueType])[] = [
    [{}, 'NUMERICAL'],
    [{ a: null }, 'NUMERICAL'],
    [{ a: 'warm' }, 'NUMERICAL'],
    [{ a: '' }, 'NUMERICAL'],
    [{ a: '0x10' }, 'NUMERICAL'],
    [{ a: [1] }, 'NUMERICAL'],
    [{ a: { b: 1 } }, 'NUMERICAL'],
    [{ a: null }, 'STRING'],
    [{ a: {} }, 'STRING'],
    [{ a: 'yes' }, 'BOOLEAN'],
    [{ a: null }, 'BOOLEAN'],
  ];
  test.each(
    missing.flatMap(([data, type]) =>
      comparisonOperators.map((operator) => [data, operator, type] as const),
    ),
  )('a missing value is false and told: %j %s as %s', (data, operator, type) => {
    const other = type === 'NUMERICAL' ? 1 : type === 'BOOLEAN' ? true : 'x';
    const told = holds([condition(fromSource('s'), operator, constant(other))], data, type);
    expect(told).toEqual({ holds: false, missing: [0] });
  });
});

describe('contract 35: chains, AND tighter than OR', () => {
  const all = [false, true];
  const cells = all.flatMap((a) => all.flatMap((b) => all.map((c) => [a, b, c] as const)));
  const block = (first: 'AND' | 'OR', second: 'AND' | 'OR') =>
    (['a', 'b', 'c'] as const).map((key, i) =>
      condition(fromSource('s', key), 'EQ', constant(true), i, [first, second, null][i] as never),
    );
  test.each(cells)('%s, %s, %s', (a, b, c) => {
    const data = { a, b, c };
    expect(holds(block('AND', 'OR'), data, 'BOOLEAN').holds).toBe((a && b) || c);
    expect(holds(block('OR', 'AND'), data, 'BOOLEAN').holds).toBe(a || (b && c));
    expect(holds(block('AND', 'AND'), data, 'BOOLEAN').holds).toBe(a && b && c);
    expect(holds(block('OR', 'OR'), data, 'BOOLEAN').holds).toBe(a || b || c);
    // The order is that of `order`, not of the list.
    expect(holds(block('OR', 'AND').reverse(), data, 'BOOLEAN').holds).toBe(a || (b && c));
  });

  test("an operand's key wins over that of its data source, also as a path", () => {
    expect(
      holds([condition(fromSource('s', 'b.c'), 'EQ', constant(2))], { a: 1, b: { c: 2 } }).holds,
    ).toBe(true);
    expect(
      holds([condition(fromSource('s', 'b.c'), 'EQ', constant(3))], { a: 1, b: { c: 2 }, 'b.c': 3 })
        .holds,
    ).toBe(true);
  });

  test('every missing value is told, also behind one that decides', () => {
    const told = holds(
      [
        condition(fromSource('s', 'a'), 'EQ', constant(1), 0, 'OR'),
        condition(fromSource('s', 'x'), 'EQ', constant(1), 1, 'AND'),
        condition(fromSource('s', 'y'), 'EQ', constant(1), 2),
      ],
      { a: 1 },
    );
    expect(told).toEqual({ holds: true, missing: [1, 2] });
  });
});
