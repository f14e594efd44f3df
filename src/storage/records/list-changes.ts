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
  deviceTags: organizationOfDevice,
  deviceCustomFields: organizationOfDevice,
} as const satisfies Readonly<Record<string, (row: string) => string>>;

/** Null for a device that is deleted with its labels: its own row has a trigger. */
function organizationOfDevice(row: string): string {
  return `(select "organizationId" from "devices" where "id" = ${row}."deviceId")`;
}

/** The tables of device lists whose changes are followed. */
export const listTables: ReadonlySet<string> = new Set(Object.keys(organizationOf));

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
