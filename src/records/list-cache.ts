// Lists that were asked for, kept as long as nothing that they look at was written: to find and to count is most of what a page costs.
import type { CompiledQuery } from 'kysely';

export interface KeptList {
  /** Rows of all pages. */
  readonly total: number;
  /** All of them, of lists that are short enough to be read whole. */
  readonly rows: readonly unknown[] | undefined;
}

export interface KeptLists {
  /** Taken before a list is read. */
  readonly stamp: () => number;
  /** What is known of the list as it stands now; `query` is the whole of it, in its order. */
  readonly find: (query: CompiledQuery) => KeptList | undefined;
  /** Keeps what was read since the stamp was taken, unless something was written meanwhile. */
  readonly keep: (query: CompiledQuery, list: KeptList, stamp: number) => void;
}

/** About 20 MB when every list is long. */
export const keptListLimits = { listsMax: 500, rowsMax: 200_000, keyLengthMax: 4_000 } as const;

/** What lists of devices look at; a list that looks at any other table, such as the status of devices, is read each time. */
const watched: ReadonlySet<string> = new Set(
  'devices deviceTags tags deviceCustomFields customFieldMetas dataFlows deviceTypes'.split(' '),
);
const tablesRead = /\b(?:from|join)\s+"(\w+)"/gi;
const writes = /^\s*(?:insert\s+into|update|delete\s+from|replace\s+into)\s+"?(\w+)/i;
const reads = /^\s*(?:select|pragma|savepoint|release|begin|commit|explain)\b/i;

/** Whether a statement may change what is kept; a rollback does as well, because what it undoes may have been read within. */
export function changesLists(statement: string): boolean {
  const table = writes.exec(statement)?.[1];
  return table === undefined ? !reads.test(statement) : watched.has(table);
}

/** `revision` changes with every statement that `changesLists`. */
export function keptLists(revision: () => number): KeptLists {
  const lists = new Map<string, KeptList>();
  let rowsKept = 0;
  let keptAt = Number.NaN;

  const keyOf = ({ sql, parameters }: CompiledQuery): string | undefined => {
    for (const [, table = ''] of sql.matchAll(tablesRead))
      if (!watched.has(table)) return undefined;
    const key = `${sql}\n${JSON.stringify(parameters)}`;
    return key.length > keptListLimits.keyLengthMax ? undefined : key;
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
      // The oldest leaves first; lists that recur are soon back.
      for (const oldest of lists.keys()) {
        if (lists.size <= keptListLimits.listsMax && rowsKept <= keptListLimits.rowsMax) return;
        forget(oldest);
      }
    },
  };
}
