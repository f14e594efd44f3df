// List changes: a revision of the device lists of each organization, maintained by triggers of the writing connection.
import type { RecordsConnection } from './sqlite/connection.ts';

export interface ListChanges {
  /** Changes with every write that can change a device list of the organization. */
  revisionOf(organizationId: string): number;
  /** See `ConnectionEvents.ran`. */
  ran(statement: string): void;
  /** Adds the triggers; call once, after the tables are migrated. */
  follow(connection: Pick<RecordsConnection, 'addTriggers'>): void;
}

/** Of records that all organizations share. */
const everybody = '';
const functionName = 'noteListChange';

/** The organization of a row, by table: lists contain nothing of other tables. */
const organizationOf = {
  devices: (row) => `${row}."organizationId"`,
  tags: (row) => `${row}."organizationId"`,
  customFieldMetas: (row) => `${row}."organizationId"`,
  dataFlows: (row) => `${row}."organizationId"`,
  deviceTypes: (row) => `coalesce(${row}."organizationId", '${everybody}')`,
  deviceTags: organizationOfDevice,
  deviceCustomFields: organizationOfDevice,
} as const satisfies Readonly<Record<string, (row: 'new' | 'old') => string>>;

/** Null for a device that is deleted with its labels: its own row has a trigger. */
function organizationOfDevice(row: 'new' | 'old'): string {
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
    follow(connection) {
      connection.addTriggers([...triggers()].join('\n'), functionName, (organizationId) => {
        bump(organizationId);
        changing.add(organizationId);
      });
    },
  };
}

function* triggers(): Iterable<string> {
  const rowOf = { insert: 'new', update: 'new', delete: 'old' } as const;
  for (const [table, organization] of Object.entries(organizationOf))
    for (const [event, row] of Object.entries(rowOf))
      yield `create temp trigger "${table}ListChangedBy${event}" after ${event} on main."${table}" begin
        select ${functionName}("id") from (select ${organization(row)} as "id") where "id" is not null;
      end;`;
}
