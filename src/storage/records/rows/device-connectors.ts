// Device connectors and integrations with network servers in the records store; their secrets are encrypted.
import type { Insertable, Selectable } from 'kysely';
import type {
  Connectivity,
  ConnectorAuthType,
  DeviceConnector,
  LineProtocolMapping,
  SparkplugMapping,
} from '../../../model/connector.ts';
import type { PayloadEncoding } from '../../../model/device-type.ts';
import type {
  Carrier,
  DecodingType,
  Integration,
  IntegrationType,
} from '../../../model/integration.ts';
import {
  fromFlag,
  fromJsonTextOrNull,
  mapOrNull,
  searchTextOf,
  toFlag,
  toJsonTextOrNull,
} from '../columns.ts';
import { sortColumns } from '../list.ts';
import type { RecordsDb, SealedDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { RecordRows, SealedRows } from './record-rows.ts';
import { type Sealer, secretHash } from '../secret-encryption.ts';

type Table = RecordTables['deviceConnectors'];
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
    encoding: row.encoding as PayloadEncoding | null,
    uplinkSecret: mapOrNull(row.uplinkSecret, (sealed) => sealer.open(sealed)),
    pushConfigurationAutomatically: fromFlag(row.pushConfigurationAutomatically),
    lineProtocol: fromJsonTextOrNull<LineProtocolMapping>(row.lineProtocol),
    sparkplug: fromJsonTextOrNull<SparkplugMapping>(row.sparkplug),
  };
}

export const deviceConnectorRows = new SealedRows<'deviceConnectors', DeviceConnector>(
  (sealer) =>
    new RecordRows(
      'deviceConnectors',
      (record) => toRow(record, sealer),
      (row) => fromRow(row, sealer),
      { columns: { ...sortColumns, connectivity: 'connectivity' } },
    ),
);

/** The connector that the integration made. */
export async function findConnectorOfIntegration(
  { db, sealer }: SealedDb,
  integrationId: string,
): Promise<DeviceConnector | undefined> {
  const rows = deviceConnectorRows.with(sealer);
  return rows.first(db, rows.select(db).where('integrationId', '=', integrationId));
}

export async function findDeviceConnectorBySecret(
  { db, sealer }: SealedDb,
  uplinkSecret: string,
): Promise<DeviceConnector | undefined> {
  const rows = deviceConnectorRows.with(sealer);
  const hash = secretHash(uplinkSecret);
  return rows.first(db, rows.select(db).where('uplinkSecretHash', '=', hash));
}

// Integrations with network servers in the records store; their settings are encrypted as a whole.

type IntegrationTable = RecordTables['integrations'];

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

export const integrationRows = new SealedRows<'integrations', Integration>(
  (sealer) =>
    new RecordRows(
      'integrations',
      (record) => integrationToRow(record, sealer),
      (row) => integrationFromRow(row, sealer),
      { columns: { ...sortColumns, type: 'type' } },
    ),
);

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
