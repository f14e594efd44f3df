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
import { fromFlag, fromJsonText, searchTextOf, toFlag, toJsonText } from '../columns.ts';
import { sortColumns } from '../list.ts';
import { type Records, type RecordsDb, type SealedDb, transaction } from '../records.ts';
import { RecordRows } from './record-rows.ts';
import { deviceFromRow } from './devices.ts';
import { viewRows, preferenceRows } from './views.ts';

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

/** Credentials whose private views and preferences go with them. */
class GrantedRows<
  T extends 'apiKeys' | 'oauthClients',
  R extends { readonly id: string },
> extends RecordRows<T, R> {
  override async remove(db: RecordsDb, id: string) {
    await viewRows.removePrivateOf(db, id);
    await preferenceRows.removeOf(db, id);
    await super.remove(db, id);
  }
}

const { updated: _updated, version: _version, ...columns } = sortColumns;

class ApiKeyRows extends GrantedRows<'apiKeys', ApiKey> {
  async bySecretHash(db: RecordsDb, secretHash: string): Promise<ApiKey | undefined> {
    return this.first(db, this.select(db).where('secretHash', '=', secretHash));
  }

  /** Writes when keys were last used; keys deleted meanwhile stay deleted. */
  async saveLastUses(db: RecordsDb, uses: ReadonlyMap<string, EpochMs>): Promise<void> {
    await transaction(db, async (step) => {
      for (const [id, lastUsed] of uses)
        await step.db.updateTable('apiKeys').set({ lastUsed }).where('id', '=', id).execute();
    });
  }
}

export const apiKeyRows = new ApiKeyRows('apiKeys', toGrantedRow, fromGrantedRow, {
  columns: { ...columns, lastUsed: 'lastUsed', expiration: 'expiration' },
});

/** Looked up by the name that they give at the token endpoint. */
class OauthClientRows extends GrantedRows<'oauthClients', OAuthClient> {
  async byClientId(db: RecordsDb, clientId: string): Promise<OAuthClient | undefined> {
    return this.first(db, this.select(db).where('clientId', '=', clientId));
  }

  /** By name, then id. */
  async ofOrganization(db: RecordsDb, organizationId: string): Promise<OAuthClient[]> {
    const query = this.select(db).where('organizationId', '=', organizationId);
    return this.readAll(db, query.orderBy('searchText').orderBy('id'));
  }

  async saveSecret(db: RecordsDb, id: string, secretHash: string): Promise<void> {
    await db.updateTable('oauthClients').set({ secretHash }).where('id', '=', id).execute();
  }
}

export const oauthClientRows = new OauthClientRows('oauthClients', toGrantedRow, fromGrantedRow);

// Device credentials in the records store.

class DeviceCredentialRows extends RecordRows<'deviceCredentials', DeviceCredential> {
  /** The credentials of a device, oldest first. */
  ofDevice(db: RecordsDb, deviceId: string): Promise<DeviceCredential[]> {
    const query = this.select(db).where('deviceId', '=', deviceId);
    return this.readAll(db, query.orderBy('created').orderBy('id'));
  }
}

export const deviceCredentialRows = new DeviceCredentialRows(
  'deviceCredentials',
  (record) => record,
  (row) => ({ ...row, algorithm: row.algorithm as CredentialAlgorithm }),
);

/**
 * Physical ids are unique within an organization only; one that is used by more devices than this
 * is nobody's.
 */
const devicesOfOneIdMax = 20;

/** Devices of every organization that have this physical id, and credentials. */
export async function findDevicesWithCredentials(
  records: Records,
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

// Keys that sign access tokens: the private part sealed, the public part as it is published.

export interface SigningKeyRecord {
  /** The key id in the head of tokens. */
  readonly id: string;
  readonly privateKey: JsonObject;
  readonly publicKey: JsonObject;
  readonly created: EpochMs;
}

class SigningKeyRows {
  async insert({ db, sealer }: SealedDb, key: SigningKeyRecord): Promise<void> {
    const row = {
      id: key.id,
      created: key.created,
      privateKey: sealer.seal(toJsonText(key.privateKey)),
      publicKey: toJsonText(key.publicKey),
    };
    await db.insertInto('signingKeys').values(row).execute();
  }

  /** Newest first. */
  async list({ db, sealer }: SealedDb): Promise<SigningKeyRecord[]> {
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

  async remove(db: RecordsDb, id: string): Promise<void> {
    await db.deleteFrom('signingKeys').where('id', '=', id).execute();
  }
}

export const signingKeyRows = new SigningKeyRows();
