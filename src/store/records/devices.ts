// Devices in the records store: found by service id or physical id, listed by many filters.
import { type Expression, type Insertable, type Selectable, type SqlBool, sql } from 'kysely';
import type { Connectivity } from '../../model/connector.ts';
import type { Device, OnlineState } from '../../model/device.ts';
import type { EpochMs } from '../../model/instant.ts';
import { isJsonObject, type JsonObject } from '../../model/json.ts';
import type { PageRequest } from '../../model/page.ts';
import { contains, isOneOf, fromFlag, fromJsonText, searchTextOf, toFlag, toJsonText } from './columns.ts';
import type { Records, RecordsDb } from './database.ts';
import { noteDeletedDevice, removeTraces } from './deleted-devices.ts';
import { pageOfRows, type Rows, sortColumns, type WorkspaceFilter } from './list.ts';
import type { RecordTables } from './schema.ts';
import type { Sealer } from './sealed-text.ts';

type Table = RecordTables['devices'];
type Store = Pick<Records, 'db' | 'sealer'>;

const deviceSortColumns = {
  ...sortColumns,
  deviceId: 'deviceId',
  connectivity: 'connectivity',
  workspaceId: 'workspaceId',
  dataFlowId: 'dataFlowId',
  'uplinkMetrics.timestamp': 'deviceStatus.lastUplinkAt',
};

function toRow(record: Device, sealer: Sealer): Insertable<Table> {
  return {
    ...record,
    properties: toJsonText(record.properties),
    loraProperties: record.loraProperties === null ? null : sealer.seal(JSON.stringify(record.loraProperties)),
    excludeFromLifecycleReport: toFlag(record.excludeFromLifecycleReport),
    searchText: searchTextOf(record.name, record.deviceId, record.id),
  };
}

function fromRow({ searchText: _, ...row }: Selectable<Table>, sealer: Sealer): Device {
  return {
    ...row,
    connectivity: row.connectivity as Connectivity,
    properties: fromJsonText<JsonObject>(row.properties),
    loraProperties: row.loraProperties === null ? null : openObject(row.loraProperties, sealer),
    excludeFromLifecycleReport: fromFlag(row.excludeFromLifecycleReport),
  };
}

function openObject(sealed: string, sealer: Sealer): JsonObject {
  const value: unknown = JSON.parse(sealer.open(sealed));
  if (!isJsonObject(value)) throw new Error('The LoRa properties of a device are no object');
  return value;
}

export async function insertDevice({ db, sealer }: Store, record: Device): Promise<void> {
  await db.insertInto('devices').values(toRow(record, sealer)).execute();
}

export async function findDevice({ db, sealer }: Store, id: string): Promise<Device | undefined> {
  const row = await db.selectFrom('devices').selectAll().where('id', '=', id).executeTakeFirst();
  return row && fromRow(row, sealer);
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
  return row && fromRow(row, sealer);
}

export interface DeviceFilter extends WorkspaceFilter {
  readonly ids?: readonly string[] | undefined;
  readonly dataFlowId?: string | undefined;
  readonly connectivity?: string | undefined;
  /** Devices that carry any of these tags. */
  readonly tagIds?: readonly string[] | undefined;
  readonly onlineState?: OnlineState | undefined;
  readonly online?: boolean | undefined;
}

/** `now` decides who is online. */
export async function listDevices(
  { db, sealer }: Store,
  filter: DeviceFilter,
  page: PageRequest,
  now: number,
): Promise<Rows<Device>> {
  let query = db.selectFrom('devices').select('devices.id').where('devices.organizationId', '=', filter.organizationId);
  const { workspaceIds, ids, tagIds } = filter;
  if (workspaceIds !== undefined) query = query.where(isOneOf('devices.workspaceId', workspaceIds));
  if (ids !== undefined) query = query.where(isOneOf('devices.id', ids));
  if (filter.dataFlowId !== undefined) query = query.where('devices.dataFlowId', '=', filter.dataFlowId);
  if (filter.connectivity !== undefined) query = query.where('devices.connectivity', '=', filter.connectivity);
  if (filter.search) query = query.where(contains('devices.searchText', filter.search));
  if (tagIds !== undefined) {
    query = query.where('devices.id', 'in', (eb) =>
      eb.selectFrom('deviceTags').select('deviceTags.deviceId').where(isOneOf('deviceTags.tagId', tagIds)),
    );
  }
  const byStatus = page.sort.some((order) => order.field === 'uplinkMetrics.timestamp');
  if (filter.onlineState === undefined && filter.online === undefined && !byStatus) {
    return inFull({ db, sealer }, await pageOfRows(query, page, deviceSortColumns, 'devices'));
  }
  let joined = query.leftJoin('deviceStatus', 'deviceStatus.deviceId', 'devices.id');
  if (filter.onlineState !== undefined) joined = joined.where(isInState(filter.onlineState, now));
  if (filter.online !== undefined) joined = joined.where(isInState(filter.online ? 'ONLINE' : 'OFFLINE', now));
  return inFull({ db, sealer }, await pageOfRows(joined, page, deviceSortColumns, 'devices'));
}

// Ids are put in order first and whole rows read for one page only: ordering whole rows of a large workspace is slow.
async function inFull({ db, sealer }: Store, page: Rows<{ readonly id: string }>): Promise<Rows<Device>> {
  const ids = page.rows.map((row) => row.id);
  if (ids.length === 0) return { rows: [], total: page.total };
  const found = await db.selectFrom('devices').selectAll().where('id', 'in', ids).execute();
  const rows = new Map(found.map((row) => [row.id, row]));
  const ordered = ids.flatMap((id) => rows.get(id) ?? []);
  return { rows: ordered.map((row) => fromRow(row, sealer)), total: page.total };
}

function isInState(state: OnlineState, now: number): Expression<SqlBool> {
  const last = sql.ref('deviceStatus.lastUplinkAt');
  const onlineUntil = sql`${last} + ${sql.ref('devices.onlineTimeoutSeconds')} * 1000`;
  if (state === 'UNKNOWN') return sql<SqlBool>`${last} is null`;
  if (state === 'ONLINE') return sql<SqlBool>`${onlineUntil} > ${now}`;
  if (state === 'OFFLINE') return sql<SqlBool>`${onlineUntil} <= ${now}`;
  return sql<SqlBool>`1 = 0`;
}

export async function saveDevice({ db, sealer }: Store, record: Device): Promise<void> {
  await db.updateTable('devices').set(toRow(record, sealer)).where('id', '=', record.id).execute();
}

/** Removes the device and what is known about it, and notes that its samples are to be dropped. */
export async function removeDevice(step: RecordsDb, id: string, now: EpochMs): Promise<void> {
  await removeTraces(step, id);
  await step.deleteFrom('devices').where('id', '=', id).execute();
  await noteDeletedDevice(step, id, now);
}

/** Devices of the data flow, `Name (id)`, at most `max`: what a refusal to delete names. */
export async function devicesUsingDataFlow(db: RecordsDb, dataFlowId: string, max: number): Promise<string[]> {
  const query = db.selectFrom('devices').select(['id', 'name']).where('dataFlowId', '=', dataFlowId);
  const rows = await query.orderBy('searchText').limit(max).execute();
  return rows.map((row) => `device ${row.name} (${row.id})`);
}
