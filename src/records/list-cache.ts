// List cache: recent device lists until one of their tables changes, because finding and counting dominate a page's cost.
import type { CompiledQuery } from 'kysely';

export interface CachedList {
  /** Rows of all pages. */
  readonly total: number;
  /** The rows of lists that are short enough to be read completely. */
  readonly rows: readonly unknown[] | undefined;
}

export interface ListCache {
  /** The current revision. Call before reading a list. */
  readonly stamp: () => number;
  /** The cached list, if it is current. `query` selects all pages in the order of the list. */
  readonly find: (query: CompiledQuery) => CachedList | undefined;
  /** Stores a list that was read after `stamp`, unless a table has changed since. */
  readonly keep: (query: CompiledQuery, list: CachedList, stamp: number) => void;
}

/** About 20 MB when every list is long. */
export const listCacheLimits = { listsMax: 500, rowsMax: 200_000, keyLengthMax: 4_000 } as const;

/** Tables of device lists. A list with another table, such as the device status, is not cached. */
const watched: ReadonlySet<string> = new Set(
  'devices deviceTags tags deviceCustomFields customFieldMetas dataFlows deviceTypes'.split(' '),
);
const tablesRead = /\b(?:from|join)\s+"(\w+)"/gi;
const writes = /^\s*(?:insert\s+into|update|delete\s+from|replace\s+into)\s+"?(\w+)/i;
const reads = /^\s*(?:select|pragma|savepoint|release|begin|commit|explain)\b/i;

/**
 * Whether a statement can change a cached list. A rollback can, because its transaction can have
 * read uncommitted rows.
 */
export function changesLists(statement: string): boolean {
  const table = writes.exec(statement)?.[1];
  return table === undefined ? !reads.test(statement) : watched.has(table);
}

/** `revision` changes with every statement that `changesLists`. */
export function createListCache(revision: () => number): ListCache {
  const lists = new Map<string, CachedList>();
  let rowsKept = 0;
  let keptAt = Number.NaN;

  const keyOf = ({ sql, parameters }: CompiledQuery): string | undefined => {
    for (const [, table = ''] of sql.matchAll(tablesRead))
      if (!watched.has(table)) return undefined;
    const key = `${sql}\n${JSON.stringify(parameters)}`;
    return key.length > listCacheLimits.keyLengthMax ? undefined : key;
  };
  const forget = (key: string): void => {
    rowsKept -= lists.get(key)?.rows?.length ?? 0;
    lists.delete(key);
  };
  const forgetAll = (): void => {
    lists.clear();
    rowsKept = 0;
  };

  return {
    stamp: revision,
    find(query) {
      if (revision() !== keptAt) return undefined;
      const key = keyOf(query);
      return key === undefined ? undefined : lists.get(key);
    },
    keep(query, list, stamp) {
      const key = keyOf(query);
      if (key === undefined || revision() !== stamp) return;
      if (stamp !== keptAt) forgetAll();
      keptAt = stamp;
      forget(key);
      lists.set(key, list);
      rowsKept += list.rows?.length ?? 0;
      // Evicts the oldest lists first; frequent lists are soon cached again.
      for (const oldest of lists.keys()) {
        if (lists.size <= listCacheLimits.listsMax && rowsKept <= listCacheLimits.rowsMax) return;
        forget(oldest);
      }
    },
  };
}
