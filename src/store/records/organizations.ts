// Organizations in the records store.
import type { Insertable, Selectable } from 'kysely';
import type { Organization } from '../../model/organization.ts';
import { fromJsonTextOrNull, searchTextOf, toJsonTextOrNull } from './columns.ts';
import type { RecordsDb } from './database.ts';
import type { RecordTables } from './schema.ts';

type Table = RecordTables['organizations'];

function toRow(record: Organization): Insertable<Table> {
  const { properties, ...columns } = record;
  return { ...columns, properties: toJsonTextOrNull(properties), searchText: searchTextOf(record.name) };
}

function fromRow({ searchText: _, properties, ...columns }: Selectable<Table>): Organization {
  return { ...columns, properties: fromJsonTextOrNull(properties) };
}

export async function insertOrganization(db: RecordsDb, record: Organization): Promise<void> {
  await db.insertInto('organizations').values(toRow(record)).execute();
}

export async function findOrganization(db: RecordsDb, id: string): Promise<Organization | undefined> {
  const row = await db.selectFrom('organizations').selectAll().where('id', '=', id).executeTakeFirst();
  return row && fromRow(row);
}

export async function saveOrganization(db: RecordsDb, record: Organization): Promise<void> {
  await db.updateTable('organizations').set(toRow(record)).where('id', '=', record.id).execute();
}

/** Whether the database holds any organization: a new one holds none. */
export async function hasOrganizations(db: RecordsDb): Promise<boolean> {
  return (await db.selectFrom('organizations').select('id').limit(1).executeTakeFirst()) !== undefined;
}
