// Sort order: several fields, stability and unknown fields, for lists in memory.
import { expect, test } from 'vitest';
import { inSortOrder } from './page.ts';

const items = [
  { name: 'b', at: 1 },
  { name: 'a', at: 2 },
  { name: 'b', at: 3 },
];
const keys = {
  name: (item: (typeof items)[0]) => item.name,
  at: (item: (typeof items)[0]) => item.at,
};
const up = (field: string) => ({ field, direction: 'asc' }) as const;
const down = (field: string) => ({ field, direction: 'desc' }) as const;

test.each([
  [[], [1, 2, 3]],
  [[up('name')], [2, 1, 3]],
  [[down('name')], [1, 3, 2]],
  [
    [down('name'), down('at')],
    [3, 1, 2],
  ],
])('review behaviour 18: %j', (sort, order) => {
  expect(inSortOrder(items, sort, keys).map(({ at }) => at)).toEqual(order);
});

test('review behaviour 18: unknown fields are refused, also inherited names', () => {
  for (const field of ['nope', 'constructor'])
    expect(() => inSortOrder(items, [up(field)], keys)).toThrow(field);
});
