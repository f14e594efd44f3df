// Asset filters: results equal the reference, invalid ones are rejected; `npm run bench -- filters` tests more.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Assets } from '../../src/inventory/devices/assets.ts';
import { findDeviceIds } from '../../src/storage/records/rows/device-lists.ts';
import { filterRun } from './filter-run.ts';
import { filterNow, openFilteredInventory, principal } from './filtered-inventory.ts';

test('1,000 random expressions and every predicate on every field find what the reference finds', async () => {
  const { share } = await filterRun(1, 150, 1_000);
  // Most expressions must distinguish devices, or the comparison would be empty.
  expect(share).toBeGreaterThan(0.1);
  expect(share).toBeLessThan(0.9);
});

let inventory: Awaited<ReturnType<typeof openFilteredInventory>>;
beforeAll(async () => {
  inventory = await openFilteredInventory(2, 5);
});
afterAll(() => inventory.close());

async function find(expression: unknown): Promise<string[]> {
  const filter = await new Assets(inventory.records).filterOf(principal, {
    organizationId: 'o',
    expression,
  });
  return findDeviceIds(inventory.records.db, filter, 1_000, filterNow);
}

const nested = (levels: number): object =>
  levels === 0
    ? { field: 'name', predicate: 'IS_NOT_NULL', values: [] }
    : { operator: 'AND', expressions: [nested(levels - 1)] };
const name = (predicate: string, values: unknown) => ({ field: 'name', predicate, values });
const many = (length: number) => Array.from({ length }, () => name('EQUALS', ['x']));

test.each<[string, unknown, string]>([
  ['no object', 'name', 'expression: must be a filter'],
  [
    'four levels of lists',
    nested(4),
    'expression.expressions[0].expressions[0].expressions[0]: exceeds the maximum nesting depth of 3',
  ],
  [
    'an unknown operator',
    { operator: 'XOR', expressions: [] },
    'expression.operator: must be AND, OR',
  ],
  ['no list', { operator: 'AND', expressions: {} }, 'expression.expressions: must be an array'],
  ['no field', { predicate: 'EQUALS', values: ['x'] }, 'expression.field: must be a field name'],
  [
    'an unknown field',
    { field: 'secrets', predicate: 'EQUALS', values: ['x'] },
    'unknown field secrets',
  ],
  [
    'a field of every object',
    { field: 'constructor', predicate: 'EQUALS', values: ['x'] },
    'unknown field',
  ],
  ['an unknown predicate', name('LIKE', ['x']), 'expression.predicate: unknown predicate LIKE'],
  ['a predicate of every object', name('toString', ['x']), 'unknown predicate toString'],
  ['no value', name('EQUALS', []), 'expression.values: EQUALS requires 1 value, got 0'],
  ['two values', name('EQUALS', ['x', 'y']), 'EQUALS requires 1 value, got 2'],
  ['one value for BETWEEN', name('BETWEEN', ['x']), 'BETWEEN requires 2 values, got 1'],
  ['a value for IS_NULL', name('IS_NULL', ['x']), 'IS_NULL requires 0 values, got 1'],
  ['null', name('EQUALS', [null]), 'expression.values[0]: must not be null'],
  ['an object as value', name('EQUALS', [{}]), 'expression.values[0]: must be a string'],
  ['a value too long', name('CONTAINS', ['x'.repeat(1_001)]), 'at most 1000 characters'],
  ['U+0000', name('CONTAINS', ['\0']), 'U+0000'],
  ['values that are no list', name('EQUALS', 'x'), 'expression.values: must be an array'],
  [
    'a text for a number',
    { field: 'version', predicate: 'EQUALS', values: ['x'] },
    'values[0]: must be a number',
  ],
  [
    'no date',
    { field: 'created', predicate: 'BEFORE', values: ['soon'] },
    'values[0]: must be an ISO-8601',
  ],
  [
    'BEFORE on a text',
    name('BEFORE', ['x']),
    'name does not support BEFORE; valid predicates: EQUALS',
  ],
  ['CONTAINS_ALL on a text', name('CONTAINS_ALL', ['x']), 'name does not support CONTAINS_ALL'],
  [
    'an unknown enumeration value',
    { field: 'connectivity', predicate: 'IN', values: ['PIGEON'] },
    'connectivity must be one of LORA',
  ],
  [
    'no custom field name',
    { field: 'customFields', predicate: 'IS_NULL' },
    'expression.customFieldName: must be',
  ],
  [
    'an unknown custom field',
    { field: 'customFields', customFieldName: 'x', predicate: 'IS_NULL' },
    'unknown custom field x',
  ],
  [
    'CONTAINS on a number',
    { field: 'customFields', customFieldName: 'level', predicate: 'CONTAINS', stringValues: ['1'] },
    'level does not support CONTAINS',
  ],
  [
    'a text for a number field',
    { field: 'customFields', customFieldName: 'level', predicate: 'EQUALS', stringValues: ['x'] },
    'values[0]: must be a number',
  ],
  [
    'EQUALS on a JSON field',
    { field: 'customFields', customFieldName: 'extra', predicate: 'EQUALS', stringValues: ['x'] },
    'valid predicates: IS_NULL, IS_NOT_NULL',
  ],
  ['201 filters', { operator: 'OR', expressions: many(201) }, 'at most 200'],
  [
    '201 filters in two lists',
    {
      operator: 'OR',
      expressions: [
        { operator: 'OR', expressions: many(150) },
        { operator: 'OR', expressions: many(51) },
      ],
    },
    'exceeds the limit of 200 filters',
  ],
  [
    'too many values',
    {
      operator: 'OR',
      expressions: Array.from({ length: 6 }, () =>
        name('IN', Array.from({ length: 1_000 }, String)),
      ),
    },
    'exceeds the limit of 5000 values',
  ],
])('%s is a 400 that says where and why', async (_, expression, said) => {
  await expect(find(expression)).rejects.toMatchObject({
    status: 400,
    code: '40013_EXPRESSION_INVALID',
  });
  await expect(find(expression)).rejects.toThrow(said);
});

const attacks = [
  "' or 1=1 --",
  '"; drop table devices; --',
  "x' union select secretHash from apiKeys --",
  '%',
  '_',
  '\\',
  '?',
  '$1',
  ';',
  '/*',
];
test.each(attacks)('the value %s is only a value', async (attack) => {
  for (const predicate of ['EQUALS', 'IN', 'STARTS_WITH', 'ENDS_WITH', 'LESS_THAN']) {
    for (const field of ['id', 'tags.name', 'dataFlow.name', 'loraProperties.carrier']) {
      const found = await find({
        operator: 'AND',
        expressions: [
          { field, predicate, values: [attack] },
          { field: 'id', predicate: 'EQUALS', values: [attack] },
        ],
      });
      expect(found).toEqual([]);
    }
  }
  await expect(find({ field: attack, predicate: 'EQUALS', values: ['x'] })).rejects.toMatchObject({
    status: 400,
  });
  await expect(
    find({ field: 'customFields', customFieldName: attack, predicate: 'IS_NULL' }),
  ).rejects.toMatchObject({
    status: 400,
  });
  expect(await find({ field: 'id', predicate: 'IS_NOT_NULL' })).toHaveLength(5);
});

test('behaviour 25: three levels of lists pass, and a list without expressions is refused', async () => {
  expect(await find(nested(3))).toHaveLength(5);
  for (const operator of ['AND', 'OR'])
    await expect(find({ operator, expressions: [] })).rejects.toMatchObject({ status: 400 });
});
