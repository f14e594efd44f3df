// Devices in the records store: found by service id or physical id, listed by many filters.
import { type Expression, type Insertable, type Selectable, type SqlBool, sql } from 'kysely';
import type { Condition } from '../../filters/condition.ts';
import type { Connectivity } from '../../model/connector.ts';
import type { Device, OnlineState } from '../../model/device.ts';
import type { EpochMs } from '../../model/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { type LoraField, loraFields } from '../../model/lora-fields.ts';
import type { PageRequest } from '../../model/page.ts';
import {
  contains,
  fromFlag,
  fromFlagOrNull,
  fromJsonText,
  isOneOf,
  keyOf,
  searchTextOf,
  toFlag,
  toFlagOrNull,
  toJsonText,
} from './columns.ts';
import { meets } from './asset-filter.ts';
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
    registered: toFlagOrNull(record.registered),
    active: toFlagOrNull(record.active),
    searchText: searchTextOf(record.name, record.deviceId, record.id),
    nameKey: keyOf(record.name),
    descriptionKey: keyOf(record.description),
    deviceIdKey: keyOf(record.deviceId),
    loraKeys: loraKeysOf(record.loraProperties),
  };
}

/** The open parts by dotted name, one level deep, so that filters need not read what is sealed. */
function loraKeysOf(properties: JsonObject | null): string | null {
  if (properties === null) return null;
  const keys: Record<string, string> = {};
  for (const name of loraFields) {
    const value = name
      .split('.')
      .reduce<Json | undefined>((at, part) => (isJsonObject(at) ? at[part] : undefined), properties);
    if (typeof value === 'string') keys[name] = keyOf(value);
  }
  return toJsonText(keys);
}

function fromRow(
  { searchText: _, nameKey: __, descriptionKey: ___, deviceIdKey: ____, loraKeys: _____, ...row }: Selectable<Table>,
  sealer: Sealer,
): Device {
  return {
    ...row,
    connectivity: row.connectivity as Connectivity,
    properties: fromJsonText<JsonObject>(row.properties),
    loraProperties: row.loraProperties === null ? null : openObject(row.loraProperties, sealer),
    excludeFromLifecycleReport: fromFlag(row.excludeFromLifecycleReport),
    registered: fromFlagOrNull(row.registered),
    active: fromFlagOrNull(row.active),
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

/** Id and name alone. */
export async function findDeviceNames(db: RecordsDb, ids: readonly string[]): Promise<{ id: string; name: string }[]> {
  if (ids.length === 0) return [];
  const query = db
    .selectFrom('devices')
    .select(['id', 'name'])
    .where('id', 'in', [...ids]);
  return query.execute();
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

// Few enough for every engine's parameter limit.
const idsPerStatement = 500;

/** The devices that have these physical ids, by physical id. */
export async function serviceIdsOf(
  db: RecordsDb,
  organizationId: string,
  deviceIds: readonly string[],
): Promise<Map<string, { readonly id: string; readonly workspaceId: string }>> {
  const found = new Map<string, { readonly id: string; readonly workspaceId: string }>();
  for (let from = 0; from < deviceIds.length; from += idsPerStatement) {
    const query = db.selectFrom('devices').select(['id', 'deviceId', 'workspaceId']);
    const some = deviceIds.slice(from, from + idsPerStatement);
    const rows = await query.where('organizationId', '=', organizationId).where('deviceId', 'in', some).execute();
    for (const { deviceId, ...row } of rows) found.set(deviceId, row);
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
  const query = db.selectFrom('devices').selectAll().where('workspaceId', '=', workspaceId).where('id', '>', after);
  return (await query.orderBy('id').limit(max).execute()).map((row) => fromRow(row, sealer));
}

export interface DeviceFilter extends WorkspaceFilter {
  readonly ids?: readonly string[] | undefined;
  readonly dataFlowId?: string | undefined;
  readonly connectivity?: string | undefined;
  /** Devices that carry any of these tags. */
  readonly tagIds?: readonly string[] | undefined;
  readonly onlineState?: OnlineState | undefined;
  readonly online?: boolean | undefined;
  readonly integrationId?: string | undefined;
  /** Devices that have a value of any of these custom fields. */
  readonly customFieldIds?: readonly string[] | undefined;
  /** LoRa properties by dotted name, in any case. */
  readonly lora?: Readonly<Partial<Record<LoraField, string>>> | undefined;
  readonly condition?: Condition | undefined;
}

/** `now` decides who is online. */
export async function listDevices(
  { db, sealer }: Store,
  filter: DeviceFilter,
  page: PageRequest,
  now: number,
): Promise<Rows<Device>> {
  const query = db
    .selectFrom('devices')
    .select('devices.id')
    .where(isWanted(db, filter, now));
  if (!page.sort.some((order) => order.field === 'uplinkMetrics.timestamp')) {
    return inFull({ db, sealer }, await pageOfRows(query, page, deviceSortColumns, 'devices'));
  }
  const joined = query.leftJoin('deviceStatus', 'deviceStatus.deviceId', 'devices.id');
  return inFull({ db, sealer }, await pageOfRows(joined, page, deviceSortColumns, 'devices'));
}

/** The service ids of all that the filter finds, at most `max`, in order of id. */
export async function findDeviceIds(db: RecordsDb, filter: DeviceFilter, max: number, now: number): Promise<string[]> {
  const query = db
    .selectFrom('devices')
    .select('devices.id')
    .where(isWanted(db, filter, now));
  return (await query.orderBy('devices.id').limit(max).execute()).map((row) => row.id);
}

function isWanted(db: RecordsDb, filter: DeviceFilter, now: number): Expression<SqlBool> {
  const { workspaceIds, ids, tagIds, customFieldIds } = filter;
  const online = filter.online === undefined ? undefined : isOnline(filter.online);
  const conditions: (Expression<SqlBool> | undefined)[] = [
    sql<SqlBool>`${sql.ref('devices.organizationId')} = ${filter.organizationId}`,
    workspaceIds && isOneOf('devices.workspaceId', workspaceIds),
    ids && isOneOf('devices.id', ids),
    filter.dataFlowId === undefined ? undefined : isOneOf('devices.dataFlowId', [filter.dataFlowId]),
    filter.connectivity === undefined ? undefined : isOneOf('devices.connectivity', [filter.connectivity]),
    filter.integrationId === undefined ? undefined : isOneOf('devices.integrationId', [filter.integrationId]),
    filter.search ? contains('devices.searchText', filter.search) : undefined,
    tagIds && isAmong('deviceTags', 'tagId', tagIds),
    customFieldIds && isAmong('deviceCustomFields', 'metaId', customFieldIds),
    filter.onlineState && meets(db, stateIs(filter.onlineState), now),
    online && meets(db, online, now),
    ...Object.entries(filter.lora ?? {}).map(([name, value]) => meets(db, loraIs(name as LoraField, value), now)),
    filter.condition && meets(db, filter.condition, now),
  ];
  const given = conditions.filter((condition) => condition !== undefined);
  return sql<SqlBool>`${sql.join(given, sql` and `)}`;
}

function isAmong(table: 'deviceTags' | 'deviceCustomFields', column: string, ids: readonly string[]) {
  const rows = sql`select ${sql.ref('deviceId')} from ${sql.table(table)} where ${isOneOf(column, ids)}`;
  return sql<SqlBool>`${sql.ref('devices.id')} in (${rows})`;
}

function stateIs(state: OnlineState): Condition {
  return { field: 'onlineState', question: { ask: 'any', test: { test: 'oneOf', values: [state.toLowerCase()] } } };
}

function isOnline(online: boolean): Condition {
  return { field: 'online', question: { ask: 'any', test: { test: 'oneOf', values: [toFlag(online)] } } };
}

function loraIs(name: LoraField, value: string): Condition {
  const field = `loraProperties.${name}` as const;
  return { field, question: { ask: 'any', test: { test: 'oneOf', values: [keyOf(value)] } } };
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
