// Device connectors in the records store; the uplink secret is encrypted and looked up by its hash.
import type { Insertable, Selectable } from 'kysely';
import type { Connectivity, ConnectorAuthType, DeviceConnector } from '../../../model/connector.ts';
import type { Carrier, DecodingType } from '../../../model/integration.ts';
import type { PageRequest } from '../../../model/page.ts';
import type { LineProtocolMapping } from '../../../model/line-protocol-mapping.ts';
import type { SparkplugMapping } from '../../../model/sparkplug-mapping.ts';
import {
  contains,
  isOneOf,
  fromFlag,
  fromJsonTextOrNull,
  mapOrNull,
  searchTextOf,
  toFlag,
  toJsonTextOrNull,
} from '../columns.ts';
import type { Records, RecordsDb } from '../records.ts';
import { pageOfRows, type Rows, sortColumns, type WorkspaceFilter } from '../list.ts';
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
