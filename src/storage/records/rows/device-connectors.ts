// Device connectors and integrations with network servers in the records store; their secrets are encrypted.
import type { Insertable, Selectable } from 'kysely';
import type { Connectivity, ConnectorAuthType, DeviceConnector } from '../../../model/connector.ts';
import type {
  Carrier,
  DecodingType,
  Integration,
  IntegrationType,
} from '../../../model/integration.ts';
import type { LineProtocolMapping, SparkplugMapping } from '../../../model/connector-mappings.ts';
import type { PageRequest } from '../../../model/page.ts';
import {
  contains,
  fromFlag,
  fromJsonTextOrNull,
  isOneOf,
  mapOrNull,
  searchTextOf,
  toFlag,
  toJsonTextOrNull,
} from '../columns.ts';
import { pageOfRows, type Rows, sortColumns, type WorkspaceFilter } from '../list.ts';
import type { Records, RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { type Sealer, secretHash } from '../secret-encryption.ts';

type Table = RecordTables['deviceConnectors'];
type Store = Pick<Records, 'db' | 'sealer'>;

const connectorSortColumns = { ...sortColumns, connectivity: 'connectivity' };

function toRow(record: DeviceConnector, sealer: Sealer): Insertable<Table> {
  const { uplinkSecret } = record;
  return {
    ...record,
    uplinkSecret: mapOrNull(uplinkSecret, (secret) => sealer.seal(secret)),
    uplinkSecretHash: mapOrNull(uplinkSecret, secretHash),
    pushConfigurationAutomatically: toFlag(record.pushConfigurationAutomatically),
    lineProtocol: toJsonTextOrNull(record.lineProtocol),
    sparkplug: toJsonTextOrNull(record.sparkplug),
    searchText: searchTextOf(record.name),
  };
}

function fromRow(row: Selectable<Table>, sealer: Sealer): DeviceConnector {
  const { searchText: _, uplinkSecretHash: __, ...columns } = row;
  return {
    ...columns,
    connectivity: row.connectivity as Connectivity,
    authType: row.authType as ConnectorAuthType,
    decodingType: row.decodingType as DecodingType,
    carrier: row.carrier as Carrier | null,
    uplinkSecret: mapOrNull(row.uplinkSecret, (sealed) => sealer.open(sealed)),
    pushConfigurationAutomatically: fromFlag(row.pushConfigurationAutomatically),
    lineProtocol: fromJsonTextOrNull<LineProtocolMapping>(row.lineProtocol),
    sparkplug: fromJsonTextOrNull<SparkplugMapping>(row.sparkplug),
  };
}

export async function insertDeviceConnector(
  { db, sealer }: Store,
  record: DeviceConnector,
): Promise<void> {
  await db.insertInto('deviceConnectors').values(toRow(record, sealer)).execute();
}

export async function findDeviceConnector(
  { db, sealer }: Store,
  id: string,
): Promise<DeviceConnector | undefined> {
  const row = await db
    .selectFrom('deviceConnectors')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
  return row && fromRow(row, sealer);
}

export async function findDeviceConnectors(
  { db, sealer }: Store,
  ids: readonly string[],
): Promise<Map<string, DeviceConnector>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('deviceConnectors')
    .selectAll()
    .where('id', 'in', [...ids])
    .execute();
  return new Map(rows.map((row) => [row.id, fromRow(row, sealer)]));
}

/** The connector that the integration made. */
export async function findConnectorOfIntegration(
  { db, sealer }: Store,
  integrationId: string,
): Promise<DeviceConnector | undefined> {
  const query = db
    .selectFrom('deviceConnectors')
    .selectAll()
    .where('integrationId', '=', integrationId);
  const row = await query.executeTakeFirst();
  return row && fromRow(row, sealer);
}

export async function findDeviceConnectorBySecret(
  { db, sealer }: Store,
  uplinkSecret: string,
): Promise<DeviceConnector | undefined> {
  const hash = secretHash(uplinkSecret);
  const row = await db
    .selectFrom('deviceConnectors')
    .selectAll()
    .where('uplinkSecretHash', '=', hash)
    .executeTakeFirst();
  return row && fromRow(row, sealer);
}

export async function listDeviceConnectors(
  { db, sealer }: Store,
  filter: WorkspaceFilter,
  page: PageRequest,
): Promise<Rows<DeviceConnector>> {
  let query = db
    .selectFrom('deviceConnectors')
    .selectAll()
    .where('organizationId', '=', filter.organizationId);
  if (filter.workspaceIds !== undefined)
    query = query.where(isOneOf('workspaceId', filter.workspaceIds));
  if (filter.search) query = query.where(contains('searchText', filter.search));
  const { rows, total } = await pageOfRows(query, page, { columns: connectorSortColumns });
  return { rows: rows.map((row) => fromRow(row, sealer)), total };
}

export async function saveDeviceConnector(
  { db, sealer }: Store,
  record: DeviceConnector,
): Promise<void> {
  await db
    .updateTable('deviceConnectors')
    .set(toRow(record, sealer))
    .where('id', '=', record.id)
    .execute();
}

export async function removeDeviceConnector(db: RecordsDb, id: string): Promise<void> {
  await db.deleteFrom('deviceConnectors').where('id', '=', id).execute();
}

// Integrations with network servers in the records store; their settings are encrypted as a whole.

type IntegrationTable = RecordTables['integrations'];

const integrationSortColumns = { ...sortColumns, type: 'type' };

function integrationToRow(record: Integration, sealer: Sealer): Insertable<IntegrationTable> {
  return {
    ...record,
    properties: sealer.seal(JSON.stringify(record.properties)),
    searchText: searchTextOf(record.name),
  };
}

function integrationFromRow(
  { searchText: _, ...row }: Selectable<IntegrationTable>,
  sealer: Sealer,
): Integration {
  return {
    ...row,
    type: row.type as IntegrationType,
    properties: JSON.parse(sealer.open(row.properties)) as Integration['properties'],
  };
}

export async function insertIntegration({ db, sealer }: Store, record: Integration): Promise<void> {
  await db.insertInto('integrations').values(integrationToRow(record, sealer)).execute();
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
  return new Map(rows.map((row) => [row.id, integrationFromRow(row, sealer)]));
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
  return { rows: rows.map((row) => integrationFromRow(row, sealer)), total };
}

export async function saveIntegration({ db, sealer }: Store, record: Integration): Promise<void> {
  await db
    .updateTable('integrations')
    .set(integrationToRow(record, sealer))
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
