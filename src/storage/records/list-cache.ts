// List cache: recent device lists of an organization until a trigger counts a change of its devices; finding and counting dominate a page.
import type { CompiledQuery } from 'kysely';

export interface CachedList {
  /** Rows of all pages. */
  readonly total: number;
  /** The rows of lists that are short enough to be read completely. */
  readonly rows: readonly unknown[] | undefined;
}

/** About 20 MB when every list is long. */
export const listCacheLimits = { listsMax: 500, rowsMax: 200_000, keyLengthMax: 4_000 } as const;

const tablesRead = /\b(?:from|join)\s+"(\w+)"/gi;

interface Kept {
  readonly list: CachedList;
  readonly stamp: number;
}

/** The lists of all organizations. */
export class ListCaches {
  readonly revisionOf: (organizationId: string) => number;
  readonly #lists = new Map<string, Kept>();
  #rowsKept = 0;

  /** `revisionOf` returns the revision of the lists of an organization. */
  constructor(revisionOf: (organizationId: string) => number) {
    this.revisionOf = revisionOf;
  }

  /** The lists of an organization: changes of others leave them. */
  of(organizationId: string): ListCache {
    return new ListCache(this, organizationId);
  }

  kept(key: string): Kept | undefined {
    return this.#lists.get(key);
  }

  keep(key: string, kept: Kept): void {
    this.#forget(key);
    this.#lists.set(key, kept);
    this.#rowsKept += kept.list.rows?.length ?? 0;
    // Evicts the oldest lists first; frequent lists are soon cached again.
    for (const oldest of this.#lists.keys()) {
      const { listsMax, rowsMax } = listCacheLimits;
      if (this.#lists.size <= listsMax && this.#rowsKept <= rowsMax) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#rowsKept -= this.#lists.get(key)?.list.rows?.length ?? 0;
    this.#lists.delete(key);
  }
}

export class ListCache {
  readonly #caches: ListCaches;
  readonly #organizationId: string;

  constructor(caches: ListCaches, organizationId: string) {
    this.#caches = caches;
    this.#organizationId = organizationId;
  }

  /** The current revision. Call before reading a list. */
  stamp(): number {
    return this.#caches.revisionOf(this.#organizationId);
  }

  /** The cached list, if it is current. `query` selects all pages in the order of the list. */
  find(query: CompiledQuery): CachedList | undefined {
    const key = keyOf(this.#organizationId, query);
    const kept = key === undefined ? undefined : this.#caches.kept(key);
    return kept?.stamp === this.stamp() ? kept.list : undefined;
  }

  /**
   * Stores a list that was read after `stamp`, unless a table has changed since. A list with another
   * table than `listTables`, such as the device status, is not stored.
   */
  keep(query: CompiledQuery, list: CachedList, stamp: number): void {
    const key = keyOf(this.#organizationId, query);
    if (key === undefined || this.stamp() !== stamp) return;
    this.#caches.keep(key, { list, stamp });
  }
}

/** Undefined for a list that is not cached. */
function keyOf(organizationId: string, { sql, parameters }: CompiledQuery): string | undefined {
  for (const [, table = ''] of sql.matchAll(tablesRead))
    if (!listTables.has(table)) return undefined;
  const key = `${organizationId}\n${sql}\n${JSON.stringify(parameters)}`;
  return key.length > listCacheLimits.keyLengthMax ? undefined : key;
}

// List changes: a revision of the device lists of each organization, maintained by triggers of the engine.

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

export class ListChanges {
  readonly #revisions = new Map<string, number>();
  /** Organizations that the open transaction changed. */
  readonly #changing = new Set<string>();
  #last = 0;

  /** Changes with every write that can change a device list of the organization. */
  readonly revisionOf = (organizationId: string): number =>
    Math.max(this.#revisions.get(organizationId) ?? 0, this.#revisions.get(everybody) ?? 0);

  /** Called before each statement of the writer except selects, and after `commit`. */
  readonly ran = (statement: string): void => {
    // What a transaction changed is seen by others only from its commit on. A rollback can change
    // lists too, because its transaction can have read its own rows.
    if (/^\s*(?:commit|rollback)\b/i.test(statement))
      for (const id of this.#changing) this.#bump(id);
    if (/^\s*(?:begin|commit|rollback\s*$)/i.test(statement)) this.#changing.clear();
  };

  /** Called by the triggers, during the statement, with the organization of the changed rows. */
  readonly changed = (organizationId: string): void => {
    this.#bump(organizationId);
    this.#changing.add(organizationId);
  };

  /** Called when any list can have changed. */
  readonly allChanged = (): void => this.#bump(everybody);

  /** Called with organizations whose lists another node changed, or for all of them. */
  readonly listsChanged = (organizationIds: readonly string[] | 'all'): void => {
    if (organizationIds === 'all') this.#bump(everybody);
    else for (const id of organizationIds) this.#bump(id);
  };

  /** The organizations whose lists the open transaction has changed. */
  readonly changing = (): readonly string[] => [...this.#changing];

  #bump(organizationId: string): void {
    this.#revisions.set(organizationId, ++this.#last);
  }
}
