// Organizations in the records store, and how many records of each kind they have.
import type { Insertable, Selectable } from 'kysely';
import type { Organization } from '../../../model/workspace.ts';
import type { PageRequest } from '../../../model/page.ts';
import { fromJsonTextOrNull, isOneOf, searchTextOf, toJsonTextOrNull } from '../columns.ts';
import { pageOfRows } from '../list.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { RecordRows } from './record-rows.ts';

type Table = RecordTables['organizations'];

function toRow(record: Organization): Insertable<Table> {
  const { properties, ...columns } = record;
  return {
    ...columns,
    properties: toJsonTextOrNull(properties),
    searchText: searchTextOf(record.name),
  };
}

function fromRow(row: Selectable<Table>): Organization {
  const { searchText: _, properties, ...columns } = row;
  return { ...columns, properties: fromJsonTextOrNull(properties) };
}

class OrganizationRows extends RecordRows<'organizations', Organization> {
  /** With its members, invitations, sessions and credentials. */
  override async remove(db: RecordsDb, id: string) {
    for (const table of [
      'sessions',
      'invitations',
      'secondFactorDemands',
      'organizationMembers',
      'apiKeys',
      'oauthClients',
    ] as const) {
      await db
        .deleteFrom(table as 'sessions')
        .where('organizationId', '=', id)
        .execute();
    }
    await super.remove(db, id);
  }
}

export const organizationRows = new OrganizationRows('organizations', toRow, fromRow);

/** Id and name of those that exist, by id. */
export async function findOrganizationNames(
  db: RecordsDb,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const query = db.selectFrom('organizations').select(['id', 'name']).where(isOneOf('id', ids));
  return new Map((await query.execute()).map(({ id, name }) => [id, name]));
}

/** The ids of one page of those given, in the order asked for. */
export async function findOrganizationPage(
  db: RecordsDb,
  ids: readonly string[],
  page: PageRequest,
): Promise<readonly string[]> {
  const { rows } = await pageOfRows(
    db.selectFrom('organizations').select('id').where(isOneOf('id', ids)),
    page,
  );
  return rows.map(({ id }) => id);
}

/** Whether the database holds any organization: a new one holds none. */
export async function hasOrganizations(db: RecordsDb): Promise<boolean> {
  return (
    (await db.selectFrom('organizations').select('id').limit(1).executeTakeFirst()) !== undefined
  );
}

/** What is in the organization, for example `2 workspaces`; empty when nothing is. */
export async function organizationContents(
  db: RecordsDb,
  organizationId: string,
): Promise<string[]> {
  const tables = [
    ['workspaces', 'workspaces'],
    ['deviceTypes', 'device types'],
  ] as const;
  const contents: string[] = [];
  for (const [table, what] of tables) {
    const query = db
      .selectFrom(table as 'workspaces')
      .select((eb) => eb.fn.countAll<number>().as('count'));
    const { count } = await query
      .where('organizationId', '=', organizationId)
      .executeTakeFirstOrThrow();
    if (Number(count) > 0) contents.push(`${count} ${what}`);
  }
  return contents;
}

// Organization counts: number of records of a kind; triggers update the counts (migrations 60 and 141).

export type CountedRecord = 'devices' | 'rules' | 'views' | 'openAlarms';

/** Reads one row, regardless of the number of records. */
export async function recordCount(
  db: RecordsDb,
  organizationId: string,
  what: CountedRecord,
): Promise<number> {
  const row = await db
    .selectFrom('organizationCounts')
    .select('count')
    .where('organizationId', '=', organizationId)
    .where('what', '=', what)
    .executeTakeFirst();
  return row?.count ?? 0;
}
