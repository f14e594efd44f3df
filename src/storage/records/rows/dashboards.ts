// Dashboards and their groups in the records store.
import type { Insertable, Selectable } from 'kysely';
import type { Dashboard, DashboardGroup } from '../../../model/dashboard.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { PageRequest } from '../../../model/page.ts';
import { contains, fromJsonText, isOneOf, searchTextOf, toJsonText } from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import { pageOfRows, type Rows, sortColumns, type WorkspaceFilter } from '../list.ts';
import type { RecordTables } from '../schema.ts';

function toRow(record: Dashboard): Insertable<RecordTables['dashboards']> {
  return {
    ...record,
    configuration: toJsonText(record.configuration),
    searchText: searchTextOf(record.name),
  };
}

function fromRow({ searchText: _, ...row }: Selectable<RecordTables['dashboards']>): Dashboard {
  return { ...row, configuration: fromJsonText<JsonObject>(row.configuration) };
}

function toGroupRow(record: DashboardGroup): Insertable<RecordTables['dashboardGroups']> {
  return { ...record, searchText: searchTextOf(record.name) };
}

function fromGroupRow({
  searchText: _,
  ...row
}: Selectable<RecordTables['dashboardGroups']>): DashboardGroup {
  return row;
}

export async function insertDashboard(db: RecordsDb, record: Dashboard): Promise<void> {
  await db.insertInto('dashboards').values(toRow(record)).execute();
}

export async function findDashboard(db: RecordsDb, id: string): Promise<Dashboard | undefined> {
  const row = await db.selectFrom('dashboards').selectAll().where('id', '=', id).executeTakeFirst();
  return row && fromRow(row);
}

export async function listDashboards(
  db: RecordsDb,
  filter: WorkspaceFilter & { readonly groupId?: string | undefined },
  page: PageRequest,
): Promise<Rows<Dashboard>> {
  let query = db
    .selectFrom('dashboards')
    .selectAll()
    .where('organizationId', '=', filter.organizationId);
  if (filter.workspaceIds !== undefined)
    query = query.where(isOneOf('workspaceId', filter.workspaceIds));
  if (filter.groupId !== undefined) query = query.where('groupId', '=', filter.groupId);
  if (filter.search) query = query.where(contains('searchText', filter.search));
  const { rows, total } = await pageOfRows(query, page, {
    columns: { ...sortColumns, groupId: 'groupId' },
  });
  return { rows: rows.map(fromRow), total };
}

export async function saveDashboard(db: RecordsDb, record: Dashboard): Promise<void> {
  await db.updateTable('dashboards').set(toRow(record)).where('id', '=', record.id).execute();
}

export async function removeDashboard(db: RecordsDb, id: string): Promise<void> {
  await db.deleteFrom('dashboardShares').where('dashboardId', '=', id).execute();
  await db.deleteFrom('dashboards').where('id', '=', id).execute();
}

export async function insertDashboardGroup(db: RecordsDb, record: DashboardGroup): Promise<void> {
  await db.insertInto('dashboardGroups').values(toGroupRow(record)).execute();
}

export async function findDashboardGroup(
  db: RecordsDb,
  id: string,
): Promise<DashboardGroup | undefined> {
  const row = await db
    .selectFrom('dashboardGroups')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
  return row && fromGroupRow(row);
}

export async function listDashboardGroups(
  db: RecordsDb,
  filter: WorkspaceFilter,
  page: PageRequest,
): Promise<Rows<DashboardGroup>> {
  let query = db
    .selectFrom('dashboardGroups')
    .selectAll()
    .where('organizationId', '=', filter.organizationId);
  if (filter.workspaceIds !== undefined)
    query = query.where(isOneOf('workspaceId', filter.workspaceIds));
  if (filter.search) query = query.where(contains('searchText', filter.search));
  const { rows, total } = await pageOfRows(query, page);
  return { rows: rows.map(fromGroupRow), total };
}

export async function saveDashboardGroup(db: RecordsDb, record: DashboardGroup): Promise<void> {
  await db
    .updateTable('dashboardGroups')
    .set(toGroupRow(record))
    .where('id', '=', record.id)
    .execute();
}

export async function removeDashboardGroup(db: RecordsDb, id: string): Promise<void> {
  await db.deleteFrom('dashboardGroups').where('id', '=', id).execute();
}

/** The dashboards of a group, `dashboard Name (id)`, at most `max`. */
export async function dashboardsOfGroup(
  db: RecordsDb,
  groupId: string,
  max: number,
): Promise<string[]> {
  const query = db.selectFrom('dashboards').select(['id', 'name']).where('groupId', '=', groupId);
  const rows = await query.orderBy('searchText').limit(max).execute();
  return rows.map((row) => `dashboard ${row.name} (${row.id})`);
}
