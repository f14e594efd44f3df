// Devices in the records store: rows and values, found by service id or physical id.
import { type Insertable, type Selectable, sql } from 'kysely';
import type { Connectivity } from '../../../model/connector.ts';
import type { Device } from '../../../model/device.ts';
import type { EpochMs } from '../../../model/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../model/json.ts';
import { loraFields } from '../../../model/lora-fields.ts';
import { fromFlagOrNull, keyOf, toFlagOrNull, toJsonText } from '../columns.ts';
import type { Records, RecordsDb } from '../records.ts';
import { noteDeletedDevice, purgeDeviceRecords } from './deleted-devices.ts';
import { fieldColumnsOf, fieldsFromRow } from './device-columns.ts';
import { engineSql } from '../engine-sql.ts';
import type { RecordTables } from '../schema.ts';
import type { Sealer } from '../secret-encryption.ts';

type Table = RecordTables['devices'];
type Store = Pick<Records, 'db' | 'sealer'>;

/** Fewer than any engine's limit of parameters. */
const idsPerQuery = 500;

function toRow(record: Device, sealer: Sealer): Insertable<Table> {
  const { loraProperties } = record;
  return {
    ...record,
    ...fieldColumnsOf(record),
    loraProperties: loraProperties && sealer.seal(JSON.stringify(loraProperties)),
    loraKeys: loraKeysOf(loraProperties),
    registered: toFlagOrNull(record.registered),
    active: toFlagOrNull(record.active),
  };
}

/** The open parts by dotted name, one level deep, so that filters need not read what is sealed. */
function loraKeysOf(properties: JsonObject | null): string | null {
  if (properties === null) return null;
  const keys: Record<string, string> = {};
  for (const name of loraFields) {
    const value = name
      .split('.')
      .reduce<Json | undefined>(
        (at, part) => (isJsonObject(at) ? at[part] : undefined),
        properties,
      );
    if (typeof value === 'string') keys[name] = keyOf(value);
  }
  return toJsonText(keys);
}

export function deviceFromRow(row: Selectable<Table>, sealer: Sealer): Device {
  return {
    id: row.id,
    organizationId: row.organizationId,
    workspaceId: row.workspaceId,
    dataFlowId: row.dataFlowId,
    integrationId: row.integrationId,
    ...fieldsFromRow(row),
    loraProperties: row.loraProperties === null ? null : openObject(row.loraProperties, sealer),
    registered: fromFlagOrNull(row.registered),
    active: fromFlagOrNull(row.active),
    created: row.created,
    updated: row.updated,
    version: row.version,
  };
}

function openObject(sealed: string, sealer: Sealer): JsonObject {
  const value: unknown = JSON.parse(sealer.open(sealed));
  if (!isJsonObject(value)) throw new Error('The LoRa properties of a device are no object');
  return value;
}

/** Whether there is any device in the installation. */
export async function hasDevices({ db }: Store): Promise<boolean> {
  return (await db.selectFrom('devices').select('id').limit(1).executeTakeFirst()) !== undefined;
}

export async function insertDevice({ db, sealer }: Store, record: Device): Promise<void> {
  await db.insertInto('devices').values(toRow(record, sealer)).execute();
}

export async function findDevice({ db, sealer }: Store, id: string): Promise<Device | undefined> {
  const row = await db.selectFrom('devices').selectAll().where('id', '=', id).executeTakeFirst();
  return row && deviceFromRow(row, sealer);
}

/** Devices of the organization whose data flow has the device type, in order of id. */
export async function findDevicesOfType(
  db: RecordsDb,
  organizationId: string,
  deviceTypeId: string,
  max: number,
): Promise<{ id: string; workspaceId: string }[]> {
  const query = db
    .selectFrom('devices')
    .innerJoin('dataFlows', 'dataFlows.id', 'devices.dataFlowId')
    .select(['devices.id', 'devices.workspaceId'])
    .where('devices.organizationId', '=', organizationId)
    .where('dataFlows.deviceTypeId', '=', deviceTypeId)
    .orderBy('devices.id')
    .limit(max);
  return query.execute();
}

/** Id and name only. */
export async function findDeviceNames(
  db: RecordsDb,
  ids: readonly string[],
): Promise<{ id: string; name: string }[]> {
  if (ids.length === 0) return [];
  const query = db
    .selectFrom('devices')
    .select(['id', 'name'])
    .where('id', 'in', [...ids]);
  return query.execute();
}

/** Service device id to workspace; unknown devices are absent. */
export async function workspacesOfDevices(
  db: RecordsDb,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (let from = 0; from < ids.length; from += idsPerQuery) {
    const some = ids.slice(from, from + idsPerQuery);
    const rows = await db
      .selectFrom('devices')
      .select(['id', 'workspaceId'])
      .where('id', 'in', some)
      .execute();
    for (const { id, workspaceId } of rows) found.set(id, workspaceId);
  }
  return found;
}

export async function findDeviceByDeviceId(
  { db, sealer }: Store,
  organizationId: string,
  deviceId: string,
): Promise<Device | undefined> {
  const row = await db
    .selectFrom('devices')
    .selectAll()
    .where('organizationId', '=', organizationId)
    .where('deviceId', '=', deviceId)
    .executeTakeFirst();
  return row && deviceFromRow(row, sealer);
}

/**
 * The device that a network server knows by the EUI, given in lower case: one on the connector wins
 * over others of the organization, and a physical id over an EUI among the LoRa properties.
 */
export async function findDeviceByEui(
  { db, sealer }: Store,
  connector: { readonly id: string; readonly organizationId: string },
  deviceEui: string,
): Promise<Device | undefined> {
  const flows = db
    .selectFrom('dataFlows')
    .select('id')
    .where('deviceConnectorId', '=', connector.id);
  const isOn = sql<number>`case when ${sql.ref('devices.dataFlowId')} in (${flows}) then 0 else 1 end`;
  const byId = db
    .selectFrom('devices')
    .selectAll()
    .where('organizationId', '=', connector.organizationId);
  const named = await byId
    .where('deviceIdKey', '=', deviceEui)
    .orderBy(isOn)
    .orderBy('id')
    .executeTakeFirst();
  if (named !== undefined) return deviceFromRow(named, sealer);
  const own = engineSql(db).text(sql.ref('devices.loraKeys'), 'deviceEui');
  const onConnector = db.selectFrom('devices').selectAll().where('dataFlowId', 'in', flows);
  const row = await onConnector.where(own, '=', deviceEui).orderBy('id').executeTakeFirst();
  return row && deviceFromRow(row, sealer);
}

// Few enough for every engine's parameter limit.
const idsPerStatement = 500;

/** What imports compare with: which device has a physical id already, and where it is. */
export type KnownDevice = Pick<
  Device,
  'id' | 'deviceId' | 'workspaceId' | 'dataFlowId' | 'connectivity'
>;

/** The devices that have these physical ids, by physical id. */
export async function serviceIdsOf(
  db: RecordsDb,
  organizationId: string,
  deviceIds: readonly string[],
): Promise<Map<string, KnownDevice>> {
  const found = new Map<string, KnownDevice>();
  for (let from = 0; from < deviceIds.length; from += idsPerStatement) {
    const query = db
      .selectFrom('devices')
      .select(['id', 'deviceId', 'workspaceId', 'dataFlowId', 'connectivity']);
    const some = deviceIds.slice(from, from + idsPerStatement);
    const rows = await query
      .where('organizationId', '=', organizationId)
      .where('deviceId', 'in', some)
      .execute();
    for (const row of rows)
      found.set(row.deviceId, { ...row, connectivity: row.connectivity as Connectivity });
  }
  return found;
}

/**
 * Where devices live, by service id; unknown ones are absent. `isOver` is asked between statements
 * and ends the search.
 */
export async function placesOfDevices(
  db: RecordsDb,
  ids: readonly string[],
  isOver: () => boolean = () => false,
): Promise<Map<string, { readonly organizationId: string; readonly workspaceId: string }>> {
  const found = new Map<
    string,
    { readonly organizationId: string; readonly workspaceId: string }
  >();
  for (let from = 0; from < ids.length && !isOver(); from += idsPerStatement) {
    const some = ids.slice(from, from + idsPerStatement);
    const query = db
      .selectFrom('devices')
      .select(['id', 'organizationId', 'workspaceId'])
      .where('id', 'in', some);
    for (const { id, ...place } of await query.execute()) found.set(id, place);
  }
  return found;
}

/** The physical ids of devices, by service id. */
export async function physicalIdsOf(
  db: RecordsDb,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (let from = 0; from < ids.length; from += idsPerStatement) {
    const some = ids.slice(from, from + idsPerStatement);
    const rows = await db
      .selectFrom('devices')
      .select(['id', 'deviceId'])
      .where('id', 'in', some)
      .execute();
    for (const { id, deviceId } of rows) found.set(id, deviceId);
  }
  return found;
}

/** The workspace's devices behind a service id, in order of it. */
export async function devicesAfter(
  { db, sealer }: Store,
  workspaceId: string,
  after: string,
  max: number,
): Promise<Device[]> {
  const query = db
    .selectFrom('devices')
    .selectAll()
    .where('workspaceId', '=', workspaceId)
    .where('id', '>', after);
  return (await query.orderBy('id').limit(max).execute()).map((row) => deviceFromRow(row, sealer));
}

export async function saveDevice({ db, sealer }: Store, record: Device): Promise<void> {
  await db.updateTable('devices').set(toRow(record, sealer)).where('id', '=', record.id).execute();
}

/** Removes the device and what is known about it, and notes that its samples must be dropped. */
export async function removeDevice(step: RecordsDb, id: string, now: EpochMs): Promise<void> {
  await purgeDeviceRecords(step, id);
  await step.deleteFrom('devices').where('id', '=', id).execute();
  await noteDeletedDevice(step, id, now);
}

/** Devices of the data flow, `Name (id)`, at most `max`: what a refusal to delete names. */
export async function devicesUsingDataFlow(
  db: RecordsDb,
  dataFlowId: string,
  max: number,
): Promise<string[]> {
  const query = db
    .selectFrom('devices')
    .select(['id', 'name'])
    .where('dataFlowId', '=', dataFlowId);
  const rows = await query.orderBy('searchText').limit(max).execute();
  return rows.map((row) => `device ${row.name} (${row.id})`);
}
