// API keys in the records store; looked up by the hash of their secret.
import type { ApiKey } from '../../../model/credential.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { PageRequest } from '../../../model/page.ts';
import { contains } from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import { transaction } from '../transaction.ts';
import { fromGrantedRow, toGrantedRow } from './granted-columns.ts';
import { removePreferencesOf } from './preferences.ts';
import { removePrivateViewsOf } from './views.ts';
import { pageOfRows, type Rows, sortColumns } from '../list.ts';

const { updated: _updated, version: _version, ...columns } = sortColumns;
const keySortColumns = { ...columns, lastUsed: 'lastUsed', expiration: 'expiration' };

export async function insertApiKey(db: RecordsDb, record: ApiKey): Promise<void> {
  await db.insertInto('apiKeys').values(toGrantedRow(record)).execute();
}

export async function findApiKey(db: RecordsDb, id: string): Promise<ApiKey | undefined> {
  const row = await db.selectFrom('apiKeys').selectAll().where('id', '=', id).executeTakeFirst();
  return row && fromGrantedRow(row);
}

export async function findApiKeyBySecretHash(
  db: RecordsDb,
  secretHash: string,
): Promise<ApiKey | undefined> {
  const row = await db
    .selectFrom('apiKeys')
    .selectAll()
    .where('secretHash', '=', secretHash)
    .executeTakeFirst();
  return row && fromGrantedRow(row);
}

export async function listApiKeys(
  db: RecordsDb,
  filter: { readonly organizationId: string; readonly search?: string | undefined },
  page: PageRequest,
): Promise<Rows<ApiKey>> {
  let query = db
    .selectFrom('apiKeys')
    .selectAll()
    .where('organizationId', '=', filter.organizationId);
  if (filter.search) query = query.where(contains('searchText', filter.search));
  const { rows, total } = await pageOfRows(query, page, { columns: keySortColumns });
  return { rows: rows.map(fromGrantedRow), total };
}

export async function removeApiKey(db: RecordsDb, id: string): Promise<void> {
  await removePrivateViewsOf(db, id);
  await removePreferencesOf(db, id);
  await db.deleteFrom('apiKeys').where('id', '=', id).execute();
}

/** Writes when keys were last used; keys deleted meanwhile stay deleted. */
export async function saveLastUses(
  db: RecordsDb,
  uses: ReadonlyMap<string, EpochMs>,
): Promise<void> {
  await transaction(db, async (step) => {
    for (const [id, lastUsed] of uses)
      await step.db.updateTable('apiKeys').set({ lastUsed }).where('id', '=', id).execute();
  });
}
