// Page: one page of a list, in the envelope of interface 2.2 and contract 0.1.
import { problem } from './problem.ts';

export interface PageRequest {
  /** Zero-based. */
  readonly page: number;
  /** Items a page, 1 to `pageSizeMax`. */
  readonly size: number;
  readonly sort: readonly SortOrder[];
}

export interface SortOrder {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

export const pageSizeMax = 1_000;

export const pageSizeDefault = 20;

interface SortState {
  readonly empty: boolean;
  readonly sorted: boolean;
  readonly unsorted: boolean;
}

export interface Page<T> {
  readonly content: readonly T[];
  readonly pageable: {
    readonly sort: SortState;
    readonly offset: number;
    readonly pageNumber: number;
    readonly pageSize: number;
    readonly paged: boolean;
    readonly unpaged: boolean;
  };
  readonly sort: SortState;
  readonly totalPages: number;
  readonly totalElements: number;
  readonly size: number;
  readonly number: number;
  readonly numberOfElements: number;
  readonly first: boolean;
  readonly last: boolean;
  readonly empty: boolean;
}

/** Wraps the items of one page; `total` counts the items of all pages. */
export function pageOf<T>(content: readonly T[], total: number, request: PageRequest): Page<T> {
  const { page, size } = request;
  const sorted = request.sort.length > 0;
  const sort = { empty: !sorted, sorted, unsorted: !sorted };
  const totalPages = Math.ceil(total / size);
  return {
    content,
    pageable: {
      sort,
      offset: page * size,
      pageNumber: page,
      pageSize: size,
      paged: true,
      unpaged: false,
    },
    sort,
    totalPages,
    totalElements: total,
    size,
    number: page,
    numberOfElements: content.length,
    first: page === 0,
    last: page >= totalPages - 1,
    empty: content.length === 0,
  };
}

/** A list that is answered whole: its `pageable` is the word `INSTANCE` (contract 0.1). */
export function unpagedOf<T>(
  content: readonly T[],
): Omit<Page<T>, 'pageable'> & { readonly pageable: 'INSTANCE' } {
  const page = pageOf(content, content.length, {
    page: 0,
    size: Math.max(1, content.length),
    sort: [],
  });
  return { ...page, pageable: 'INSTANCE' };
}

// Sort order: checks the fields that a client requests, and sorts lists in memory (contract 36).

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
