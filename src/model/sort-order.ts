// Sort order: checks the fields that a client requests, and sorts lists in memory (contract 36).
import type { SortOrder } from './page.ts';
import { problem } from './problem.ts';

const fieldShownMax = 100;

/** Refuses (400) fields that the list does not have. */
export function refuseUnknownFields(sort: readonly SortOrder[], known: readonly string[]): void {
  const unknown = sort
    .filter(({ field }) => !known.includes(field))
    .map(({ field }) => field.slice(0, fieldShownMax));
  if (unknown.length > 0) throw problem('unknownSortField', { fields: unknown, known });
}

/** The order asked for, for `sort`; 0 where that says nothing. Refuses (400) fields without a key. */
export function compareBy<T>(
  sort: readonly SortOrder[],
  keys: Readonly<Record<string, (item: T) => string | number>>,
): (a: T, b: T) => number {
  refuseUnknownFields(sort, Object.keys(keys));
  const orders = sort.map(({ field, direction }) => {
    const key = keys[field];
    if (key === undefined) throw new Error(`The sort field ${field} has no key`);
    return { key, sign: direction === 'desc' ? -1 : 1 };
  });
  return (a, b) => {
    for (const { key, sign } of orders) {
      const [x, y] = [key(a), key(b)];
      if (x !== y) return x < y ? -sign : sign;
    }
    return 0;
  };
}

/**
 * The items in the order asked for; as they were where that says nothing. Refuses (400) fields
 * without a key.
 */
export function inSortOrder<T>(
  items: readonly T[],
  sort: readonly SortOrder[],
  keys: Readonly<Record<string, (item: T) => string | number>>,
): readonly T[] {
  const compare = compareBy(sort, keys);
  return sort.length === 0 ? items : items.toSorted(compare);
}
