// OAuth clients in the records store; looked up by the name they give at the token endpoint.
import type { OAuthClient } from '../../../model/credential.ts';
import type { RecordsDb } from '../records.ts';
import { removePreferencesOf } from './preferences.ts';
import { removePrivateViewsOf } from './views.ts';
import { fromGrantedRow, toGrantedRow } from './granted-columns.ts';

export async function insertOAuthClient(db: RecordsDb, record: OAuthClient): Promise<void> {
  await db.insertInto('oauthClients').values(toGrantedRow(record)).execute();
}

export async function findOAuthClient(db: RecordsDb, id: string): Promise<OAuthClient | undefined> {
  const row = await db
    .selectFrom('oauthClients')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
  return row && fromGrantedRow(row);
}

export async function findOAuthClientByClientId(
  db: RecordsDb,
  clientId: string,
): Promise<OAuthClient | undefined> {
  const row = await db
    .selectFrom('oauthClients')
    .selectAll()
    .where('clientId', '=', clientId)
    .executeTakeFirst();
  return row && fromGrantedRow(row);
}

/** By name, then id. */
export async function listOAuthClients(
  db: RecordsDb,
  organizationId: string,
): Promise<OAuthClient[]> {
  const query = db
    .selectFrom('oauthClients')
    .selectAll()
    .where('organizationId', '=', organizationId);
  return (await query.orderBy('searchText').orderBy('id').execute()).map(fromGrantedRow);
}

export async function saveOAuthClientSecret(
  db: RecordsDb,
  id: string,
  secretHash: string,
): Promise<void> {
  await db.updateTable('oauthClients').set({ secretHash }).where('id', '=', id).execute();
}

export async function removeOAuthClient(db: RecordsDb, id: string): Promise<void> {
  await removePrivateViewsOf(db, id);
  await removePreferencesOf(db, id);
  await db.deleteFrom('oauthClients').where('id', '=', id).execute();
}
