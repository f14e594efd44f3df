// List cache: recent device lists of an organization until a trigger counts a change of its devices; finding and counting dominate a page.
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

// List changes: a revision of the device lists of each organization, maintained by triggers of the engine.

export interface ListChanges {
  /** Changes with every write that can change a device list of the organization. */
  revisionOf(organizationId: string): number;
  /** Called before each statement of the writer except selects, and after `commit`. */
  readonly ran: (statement: string) => void;
  /** Called by the triggers, during the statement, with the organization of the changed rows. */
  readonly changed: (organizationId: string) => void;
  /** Called when any list can have changed. */
  readonly allChanged: () => void;
  /** Called with organizations whose lists another node changed, or for all of them. */
  readonly listsChanged: (organizationIds: readonly string[] | 'all') => void;
  /** The organizations whose lists the open transaction has changed. */
  readonly changing: () => readonly string[];
}

/** Of records that all organizations share. */
const everybody = '';

/** The organization of a row in SQL, by table: lists contain nothing of other tables. */
export const organizationOf = {
  devices: (row) => `${row}."organizationId"`,
  tags: (row) => `${row}."organizationId"`,
  customFieldMetas: (row) => `${row}."organizationId"`,
  dataFlows: (row) => `${row}."organizationId"`,
  deviceTypes: (row) => `coalesce(${row}."organizationId", '${everybody}')`,
  places: (row) => `${row}."organizationId"`,
  placeAncestors: (row) => `(select "organizationId" from "places" where "id" = ${row}."placeId")`,
  deviceTags: organizationOfDevice,
  deviceCustomFields: organizationOfDevice,
} as const satisfies Readonly<Record<string, (row: string) => string>>;

/** Null for a device that is deleted with its labels: its own row has a trigger. */
function organizationOfDevice(row: string): string {
  return `(select "organizationId" from "devices" where "id" = ${row}."deviceId")`;
}

/** The tables of device lists whose changes are followed. */
const listTables: ReadonlySet<string> = new Set(Object.keys(organizationOf));

export function createListChanges(): ListChanges {
  const revisions = new Map<string, number>();
  /** Organizations that the open transaction changed. */
  const changing = new Set<string>();
  let last = 0;

  const bump = (organizationId: string): void => void revisions.set(organizationId, ++last);

  return {
    revisionOf: (organizationId) =>
      Math.max(revisions.get(organizationId) ?? 0, revisions.get(everybody) ?? 0),
    ran(statement) {
      // What a transaction changed is seen by others only from its commit on. A rollback can change
      // lists too, because its transaction can have read its own rows.
      if (/^\s*(?:commit|rollback)\b/i.test(statement)) for (const id of changing) bump(id);
      if (/^\s*(?:begin|commit|rollback\s*$)/i.test(statement)) changing.clear();
    },
    changed(organizationId) {
      bump(organizationId);
      changing.add(organizationId);
    },
    allChanged: () => bump(everybody),
    listsChanged(organizationIds) {
      if (organizationIds === 'all') bump(everybody);
      else organizationIds.forEach(bump);
    },
    changing: () => [...changing],
  };
}
