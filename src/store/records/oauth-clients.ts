// OAuth clients in the records store; looked up by the name they give at the token endpoint.
import type { Insertable, Selectable } from 'kysely';
import type { OAuthClient } from '../../model/credential.ts';
import { fromFlag, fromJsonText, searchTextOf, toFlag, toJsonText } from './columns.ts';
import type { RecordsDb } from './database.ts';
import type { RecordTables } from './schema.ts';

type Table = RecordTables['oauthClients'];

function toRow(record: OAuthClient): Insertable<Table> {
  return {
    ...record,
    allWorkspaces: toFlag(record.allWorkspaces),
    workspaceIds: toJsonText(record.workspaceIds),
    permissions: toJsonText(record.permissions),
    searchText: searchTextOf(record.name),
  };
}

function fromRow({ searchText: _, ...row }: Selectable<Table>): OAuthClient {
  return {
    ...row,
    allWorkspaces: fromFlag(row.allWorkspaces),
    workspaceIds: fromJsonText(row.workspaceIds),
    permissions: fromJsonText(row.permissions),
  };
}

export async function insertOAuthClient(db: RecordsDb, record: OAuthClient): Promise<void> {
  await db.insertInto('oauthClients').values(toRow(record)).execute();
}

export async function findOAuthClient(db: RecordsDb, id: string): Promise<OAuthClient | undefined> {
  const row = await db.selectFrom('oauthClients').selectAll().where('id', '=', id).executeTakeFirst();
  return row && fromRow(row);
}

export async function findOAuthClientByClientId(db: RecordsDb, clientId: string): Promise<OAuthClient | undefined> {
  const row = await db.selectFrom('oauthClients').selectAll().where('clientId', '=', clientId).executeTakeFirst();
  return row && fromRow(row);
}

/** By name, then id. */
export async function listOAuthClients(db: RecordsDb, organizationId: string): Promise<OAuthClient[]> {
  const query = db.selectFrom('oauthClients').selectAll().where('organizationId', '=', organizationId);
  return (await query.orderBy('searchText').orderBy('id').execute()).map(fromRow);
}

export async function saveOAuthClientSecret(db: RecordsDb, id: string, secretHash: string): Promise<void> {
  await db.updateTable('oauthClients').set({ secretHash }).where('id', '=', id).execute();
}

export async function removeOAuthClient(db: RecordsDb, id: string): Promise<void> {
  await db.deleteFrom('oauthClients').where('id', '=', id).execute();
}
