// Credentials of machines in the records store: API keys, OAuth clients, keys of devices, and the keys that sign tokens.
import type {
  ApiKey,
  CredentialAlgorithm,
  DeviceCredential,
  Grant,
  OAuthClient,
} from '../../../model/credential.ts';
import type { Device } from '../../../model/device.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { PageRequest } from '../../../model/page.ts';
import { contains, fromFlag, fromJsonText, searchTextOf, toFlag, toJsonText } from '../columns.ts';
import { pageOfRows, type Rows, sortColumns } from '../list.ts';
import type { Records, RecordsDb } from '../records.ts';
import { transaction } from '../transaction.ts';
import { deviceFromRow } from './devices.ts';
import { removePreferencesOf, removePrivateViewsOf } from './views.ts';

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

// Granted columns: the columns that API keys and OAuth clients have in common, name and permissions.

interface GrantedColumns {
  readonly allWorkspaces: number;
  readonly workspaceIds: string;
  readonly permissions: string;
  readonly searchText: string;
}

type Granted = Omit<Grant, 'organizationId'>;

function toGrantedRow<R extends Granted & { readonly name: string }>(
  record: R,
): Omit<R, keyof GrantedColumns> & GrantedColumns {
  return {
    ...record,
    allWorkspaces: toFlag(record.allWorkspaces),
    workspaceIds: toJsonText(record.workspaceIds),
    permissions: toJsonText(record.permissions),
    searchText: searchTextOf(record.name),
  };
}

function fromGrantedRow<R extends GrantedColumns>({
  searchText: _,
  ...row
}: R): Omit<R, keyof GrantedColumns> & Granted {
  return {
    ...row,
    allWorkspaces: fromFlag(row.allWorkspaces),
    workspaceIds: fromJsonText(row.workspaceIds),
    permissions: fromJsonText(row.permissions),
  };
}

// OAuth clients in the records store; looked up by the name they give at the token endpoint.

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

// Device credentials in the records store.

export async function insertDeviceCredential(
  db: RecordsDb,
  record: DeviceCredential,
): Promise<void> {
  await db.insertInto('deviceCredentials').values(record).execute();
}

/** The credentials of a device, oldest first. */
export async function findDeviceCredentials(
  db: RecordsDb,
  deviceId: string,
): Promise<DeviceCredential[]> {
  const query = db.selectFrom('deviceCredentials').selectAll().where('deviceId', '=', deviceId);
  const rows = await query.orderBy('created').orderBy('id').execute();
  return rows.map((row) => ({ ...row, algorithm: row.algorithm as CredentialAlgorithm }));
}

/**
 * Physical ids are unique within an organization only; one that is used by more devices than this
 * is nobody's.
 */
const devicesOfOneIdMax = 20;

/** Devices of every organization that have this physical id, and credentials. */
export async function findDevicesWithCredentials(
  records: Pick<Records, 'db' | 'sealer'>,
  physicalDeviceId: string,
): Promise<Device[]> {
  const query = records.db
    .selectFrom('devices')
    .selectAll('devices')
    .where('devices.deviceId', '=', physicalDeviceId);
  const owned = query.where((eb) =>
    eb.exists(
      eb
        .selectFrom('deviceCredentials')
        .select('id')
        .whereRef('deviceCredentials.deviceId', '=', 'devices.id'),
    ),
  );
  const rows = await owned.orderBy('devices.id').limit(devicesOfOneIdMax).execute();
  return rows.map((row) => deviceFromRow(row, records.sealer));
}

export async function removeDeviceCredential(db: RecordsDb, id: string): Promise<void> {
  await db.deleteFrom('deviceCredentials').where('id', '=', id).execute();
}

// Keys that sign access tokens: the private part sealed, the public part as it is published.

export interface SigningKeyRecord {
  /** The key id in the head of tokens. */
  readonly id: string;
  readonly privateKey: JsonObject;
  readonly publicKey: JsonObject;
  readonly created: EpochMs;
}

type Store = Pick<Records, 'db' | 'sealer'>;

export async function insertSigningKey(
  { db, sealer }: Store,
  key: SigningKeyRecord,
): Promise<void> {
  const row = {
    id: key.id,
    created: key.created,
    privateKey: sealer.seal(toJsonText(key.privateKey)),
    publicKey: toJsonText(key.publicKey),
  };
  await db.insertInto('signingKeys').values(row).execute();
}

/** Newest first. */
export async function listSigningKeys({ db, sealer }: Store): Promise<SigningKeyRecord[]> {
  const rows = await db
    .selectFrom('signingKeys')
    .selectAll()
    .orderBy('created', 'desc')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    ...row,
    privateKey: fromJsonText<JsonObject>(sealer.open(row.privateKey)),
    publicKey: fromJsonText<JsonObject>(row.publicKey),
  }));
}

export async function removeSigningKey(db: RecordsDb, id: string): Promise<void> {
  await db.deleteFrom('signingKeys').where('id', '=', id).execute();
}
