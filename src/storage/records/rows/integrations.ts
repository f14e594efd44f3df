// Integrations with network servers in the records store; their settings are encrypted as a whole.
import type { Insertable, Selectable } from 'kysely';
import type { Integration, IntegrationType } from '../../../model/integration.ts';
import type { PageRequest } from '../../../model/page.ts';
import { contains, isOneOf, searchTextOf } from '../columns.ts';
import type { Records, RecordsDb } from '../records.ts';
import { pageOfRows, type Rows, sortColumns, type WorkspaceFilter } from '../list.ts';
import type { RecordTables } from '../schema.ts';
import type { Sealer } from '../secret-encryption.ts';

type Table = RecordTables['integrations'];
type Store = Pick<Records, 'db' | 'sealer'>;

const integrationSortColumns = { ...sortColumns, type: 'type' };

function toRow(record: Integration, sealer: Sealer): Insertable<Table> {
  return {
    ...record,
    properties: sealer.seal(JSON.stringify(record.properties)),
    searchText: searchTextOf(record.name),
  };
}

function fromRow({ searchText: _, ...row }: Selectable<Table>, sealer: Sealer): Integration {
  return {
    ...row,
    type: row.type as IntegrationType,
    properties: JSON.parse(sealer.open(row.properties)) as Integration['properties'],
  };
}

export async function insertIntegration({ db, sealer }: Store, record: Integration): Promise<void> {
  await db.insertInto('integrations').values(toRow(record, sealer)).execute();
}

export async function findIntegrations(
  { db, sealer }: Store,
  ids: readonly string[],
): Promise<Map<string, Integration>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('integrations')
    .selectAll()
    .where('id', 'in', [...ids])
    .execute();
  return new Map(rows.map((row) => [row.id, fromRow(row, sealer)]));
}

export async function findIntegration(store: Store, id: string): Promise<Integration | undefined> {
  return (await findIntegrations(store, [id])).get(id);
}

export async function listIntegrations(
  { db, sealer }: Store,
  filter: WorkspaceFilter,
  page: PageRequest,
): Promise<Rows<Integration>> {
  let query = db
    .selectFrom('integrations')
    .selectAll()
    .where('organizationId', '=', filter.organizationId);
  if (filter.workspaceIds !== undefined)
    query = query.where(isOneOf('workspaceId', filter.workspaceIds));
  if (filter.search) query = query.where(contains('searchText', filter.search));
  const { rows, total } = await pageOfRows(query, page, { columns: integrationSortColumns });
  return { rows: rows.map((row) => fromRow(row, sealer)), total };
}

export async function saveIntegration({ db, sealer }: Store, record: Integration): Promise<void> {
  await db
    .updateTable('integrations')
    .set(toRow(record, sealer))
    .where('id', '=', record.id)
    .execute();
}

export async function removeIntegration(db: RecordsDb, id: string): Promise<void> {
  await db.deleteFrom('integrations').where('id', '=', id).execute();
}

/**
 * Devices of the integration, `device Name (id)`, at most `max`: what a refusal to delete names.
 */
export async function devicesOfIntegration(
  db: RecordsDb,
  integrationId: string,
  max: number,
): Promise<string[]> {
  const query = db
    .selectFrom('devices')
    .select(['id', 'name'])
    .where('integrationId', '=', integrationId);
  return (await query.orderBy('searchText').limit(max).execute()).map(
    (row) => `device ${row.name} (${row.id})`,
  );
}
