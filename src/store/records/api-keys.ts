// API keys in the records store; looked up by the hash of their secret.
import type { Insertable, Selectable } from 'kysely';
import type { ApiKey } from '../../model/credential.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { PageRequest } from '../../model/page.ts';
import { contains, fromFlag, fromJsonText, searchTextOf, toFlag, toJsonText } from './columns.ts';
import type { RecordsDb } from './database.ts';
import { pageOfRows, type Rows, sortColumns } from './list.ts';
import type { RecordTables } from './schema.ts';

type Table = RecordTables['apiKeys'];

const { updated: _updated, version: _version, ...columns } = sortColumns;
const keySortColumns = { ...columns, lastUsed: 'lastUsed' };

function toRow(record: ApiKey): Insertable<Table> {
  return {
    ...record,
    allWorkspaces: toFlag(record.allWorkspaces),
    workspaceIds: toJsonText(record.workspaceIds),
    permissions: toJsonText(record.permissions),
    searchText: searchTextOf(record.name),
  };
}

function fromRow({ searchText: _, ...row }: Selectable<Table>): ApiKey {
  return {
    ...row,
    allWorkspaces: fromFlag(row.allWorkspaces),
    workspaceIds: fromJsonText(row.workspaceIds),
    permissions: fromJsonText(row.permissions),
  };
}

export async function insertApiKey(db: RecordsDb, record: ApiKey): Promise<void> {
  await db.insertInto('apiKeys').values(toRow(record)).execute();
}

export async function findApiKey(db: RecordsDb, id: string): Promise<ApiKey | undefined> {
  const row = await db.selectFrom('apiKeys').selectAll().where('id', '=', id).executeTakeFirst();
  return row && fromRow(row);
}

export async function findApiKeyBySecretHash(db: RecordsDb, secretHash: string): Promise<ApiKey | undefined> {
  const row = await db.selectFrom('apiKeys').selectAll().where('secretHash', '=', secretHash).executeTakeFirst();
  return row && fromRow(row);
}

export async function listApiKeys(
  db: RecordsDb,
  filter: { readonly organizationId: string; readonly search?: string | undefined },
  page: PageRequest,
): Promise<Rows<ApiKey>> {
  let query = db.selectFrom('apiKeys').selectAll().where('organizationId', '=', filter.organizationId);
  if (filter.search) query = query.where(contains('searchText', filter.search));
  const { rows, total } = await pageOfRows(query, page, keySortColumns);
  return { rows: rows.map(fromRow), total };
}

export async function removeApiKey(db: RecordsDb, id: string): Promise<void> {
  await db.deleteFrom('apiKeys').where('id', '=', id).execute();
}

/** Writes when keys were last used; keys deleted meanwhile stay deleted. */
export async function saveLastUses(db: RecordsDb, uses: ReadonlyMap<string, EpochMs>): Promise<void> {
  await db.transaction().execute(async (step) => {
    for (const [id, lastUsed] of uses)
      await step.updateTable('apiKeys').set({ lastUsed }).where('id', '=', id).execute();
  });
}
