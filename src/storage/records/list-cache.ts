// List cache: recent device lists of an organization until its devices change; finding and counting dominate a page's cost.
import type { CompiledQuery } from 'kysely';
import { listTables } from './list-changes.ts';

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
  /**
   * Stores a list that was read after `stamp`, unless a table has changed since. A list with another
   * table than `listTables`, such as the device status, is not stored.
   */
  readonly keep: (query: CompiledQuery, list: CachedList, stamp: number) => void;
}

export interface ListCaches {
  /** The lists of an organization: changes of others leave them. */
  readonly of: (organizationId: string) => ListCache;
}

/** About 20 MB when every list is long. */
export const listCacheLimits = { listsMax: 500, rowsMax: 200_000, keyLengthMax: 4_000 } as const;

const tablesRead = /\b(?:from|join)\s+"(\w+)"/gi;

interface Kept {
  readonly list: CachedList;
  readonly stamp: number;
}

/** `revisionOf` returns the revision of the lists of an organization. */
export function createListCache(revisionOf: (organizationId: string) => number): ListCaches {
  const lists = new Map<string, Kept>();
  let rowsKept = 0;

  const keyOf = (organizationId: string, { sql, parameters }: CompiledQuery) => {
    for (const [, table = ''] of sql.matchAll(tablesRead))
      if (!listTables.has(table)) return undefined;
    const key = `${organizationId}\n${sql}\n${JSON.stringify(parameters)}`;
    return key.length > listCacheLimits.keyLengthMax ? undefined : key;
  };
  const forget = (key: string): void => {
    rowsKept -= lists.get(key)?.list.rows?.length ?? 0;
    lists.delete(key);
  };

  return {
    of: (organizationId) => ({
      stamp: () => revisionOf(organizationId),
      find(query) {
        const key = keyOf(organizationId, query);
        const kept = key === undefined ? undefined : lists.get(key);
        if (kept?.stamp === revisionOf(organizationId)) return kept.list;
        return undefined;
      },
      keep(query, list, stamp) {
        const key = keyOf(organizationId, query);
        if (key === undefined || revisionOf(organizationId) !== stamp) return;
        forget(key);
        lists.set(key, { list, stamp });
        rowsKept += list.rows?.length ?? 0;
        // Evicts the oldest lists first; frequent lists are soon cached again.
        for (const oldest of lists.keys()) {
          if (lists.size <= listCacheLimits.listsMax && rowsKept <= listCacheLimits.rowsMax) return;
          forget(oldest);
        }
      },
    }),
  };
}
