// Devices in the records store: rows and values, found by service id or physical id, one or many, and deleted ones.
import { CompiledQuery, type Insertable, type Selectable, sql } from 'kysely';
import type { Connectivity } from '../../../model/connector.ts';
import {
  type Device,
  type DeviceFieldName,
  deviceFieldRows,
  deviceFieldsWith,
  type DeviceFieldType,
  isKeyed,
  type KeyedDeviceField,
  type LoraField,
  loraFields,
  type OnlineState,
} from '../../../model/device.ts';
import type { EpochMs } from '../../../model/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../model/json.ts';
import {
  fromFlag,
  fromFlagOrNull,
  fromJsonText,
  fromJsonTextOrNull,
  isOneOf,
  keyOf,
  searchTextOf,
  toFlag,
  toFlagOrNull,
  toJsonText,
  toJsonTextOrNull,
} from '../columns.ts';
import { engineSql, idsPerStatement, padded } from '../engine.ts';
import { insertRows, keptText, RecordRows, SealedRows } from './record-rows.ts';
import type { RecordsDb, SealedDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import type { Sealer } from '../secret-encryption.ts';
import type { Condition } from '../../../query/filters/expression.ts';
import type { WorkspaceFilter } from '../list.ts';

// Columns of the fields in `deviceFields`: their values in a row of `devices`, and the key columns that filters compare.

type FieldColumns = Pick<Table, DeviceFieldName>;
type KeyColumn = `${KeyedDeviceField}Key`;
type KeyColumns = Pick<Table, KeyColumn>;

interface Codec {
  readonly toColumn: (value: never) => unknown;
  readonly fromColumn: (value: never) => unknown;
}

const asItIs: Codec = { toColumn: (value) => value, fromColumn: (value) => value };

/** The values of some kinds are stored in another form. */
const codecs: Readonly<Record<DeviceFieldType['kind'], Codec>> = {
  name: asItIs,
  text: asItIs,
  integer: asItIs,
  choice: asItIs,
  flag: { toColumn: toFlag, fromColumn: fromFlag },
  object: { toColumn: toJsonText, fromColumn: fromJsonText },
};

const keyed = deviceFieldRows.filter(isKeyed);

export function keyColumnOf(property: KeyedDeviceField): KeyColumn {
  return `${property}Key`;
}

/** Every key column of `devices`; they repeat other columns in the form that filters compare. */
export const deviceKeyColumns: readonly KeyColumn[] = keyed.map((row) => keyColumnOf(row.property));

/** The columns of the fields, with their key columns and the search text. */
export function fieldColumnsOf(
  device: Device,
): FieldColumns & KeyColumns & Pick<Table, 'searchText'> {
  const columns = deviceFieldRows.map(({ property, type }) => [
    property,
    codecs[type.kind].toColumn(device[property] as never),
  ]);
  const keys = keyed.map(({ property }) => [keyColumnOf(property), keyOf(device[property])]);
  return {
    ...(Object.fromEntries(columns) as FieldColumns),
    ...(Object.fromEntries(keys) as KeyColumns),
    searchText: searchTextOfDevice(device),
  };
}

/** The name comes first, because lists sort by this column. */
function searchTextOfDevice(device: Device): string {
  const others = deviceFieldsWith('searchable').filter(({ property }) => property !== 'name');
  return searchTextOf(device.name, ...others.map(({ property }) => device[property]), device.id);
}

/** The values of the fields out of a row. */
function fieldsFromRow(row: Selectable<Table>): Pick<Device, DeviceFieldName> {
  const values = deviceFieldRows.map(({ property, type }) => [
    property,
    codecs[type.kind].fromColumn(row[property] as never),
  ]);
  return Object.fromEntries(values) as Pick<Device, DeviceFieldName>;
}

// Device filter: the filters of device lists (interface 4.2, contract 4).

export interface DeviceFilter extends WorkspaceFilter {
  readonly ids?: readonly string[] | undefined;
  readonly dataFlowId?: string | undefined;
  readonly connectivity?: string | undefined;
  /** Devices that carry any of these tags. */
  readonly tagIds?: readonly string[] | undefined;
  /** Devices at any of these places or below it. */
  readonly placeIds?: readonly string[] | undefined;
  readonly onlineState?: OnlineState | undefined;
  readonly online?: boolean | undefined;
  readonly integrationId?: string | undefined;
  /** Provider of the device's integration. */
  readonly provider?: string | undefined;
  /** Member `packageName` of the device's properties. */
  readonly packageName?: string | undefined;
  /** Devices that have a value of any of these custom fields. */
  readonly customFieldIds?: readonly string[] | undefined;
  /** LoRa properties by dotted name, in any case. */
  readonly lora?: Readonly<Partial<Record<LoraField, string>>> | undefined;
  readonly condition?: Condition | undefined;
}

type Table = RecordTables['devices'];
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
    planPosition: toJsonTextOrNull(record.planPosition),
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
    placeId: row.placeId,
    planPosition: fromJsonTextOrNull(row.planPosition),
    created: row.created,
    updated: row.updated,
    version: row.version,
  };
}

class DeviceRows extends SealedRows<'devices', Device> {
  /** Within a transaction that found none of their physical ids taken. */
  async insertAll({ db, sealer }: SealedDb, records: readonly Device[]) {
    await insertRows(
      db,
      'devices',
      records.map((record) => toRow(record, sealer)),
    );
  }

  /** Writes every column, in order: a physical id can pass from a device to one behind it. */
  async saveAll({ db, sealer }: SealedDb, records: readonly Device[]) {
    const rows = records.map((record) => toRow(record, sealer));
    const columns = Object.keys(rows[0] ?? {}).filter((column) => column !== 'id');
    const set = Object.fromEntries(columns.map((column) => [column, column]));
    await insertRows(db, 'devices', rows, { key: ['id'], set });
  }

  /** Whether there is any device in the installation. */
  async any({ db }: SealedDb): Promise<boolean> {
    return (await db.selectFrom('devices').select('id').limit(1).executeTakeFirst()) !== undefined;
  }

  /** Devices of the organization whose data flow has the device type, in order of id. */
  async ofType(
    db: RecordsDb,
    organizationId: string,
    deviceTypeId: string,
    max: number,
    workspaceId?: string,
  ): Promise<{ id: string; workspaceId: string }[]> {
    const query = db
      .selectFrom('devices')
      .innerJoin('dataFlows', 'dataFlows.id', 'devices.dataFlowId')
      .select(['devices.id', 'devices.workspaceId'])
      .where('devices.organizationId', '=', organizationId)
      .where('dataFlows.deviceTypeId', '=', deviceTypeId)
      .orderBy('devices.id')
      .limit(max);
    if (workspaceId === undefined) return query.execute();
    return query.where('devices.workspaceId', '=', workspaceId).execute();
  }

  /** Id and name only. */
  async namesOf(db: RecordsDb, ids: readonly string[]): Promise<{ id: string; name: string }[]> {
    if (ids.length === 0) return [];
    const query = db
      .selectFrom('devices')
      .select(['id', 'name'])
      .where('id', 'in', [...ids]);
    return query.execute();
  }

  /** Service device id to workspace; unknown devices are absent. */
  async workspacesOf(db: RecordsDb, ids: readonly string[]): Promise<Map<string, string>> {
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

  async byDeviceId(
    { db, sealer }: SealedDb,
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
  async byEui(
    { db, sealer }: SealedDb,
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

  /** The devices that have these physical ids, by physical id. */
  async serviceIdsOf(
    db: RecordsDb,
    organizationId: string,
    deviceIds: readonly string[],
  ): Promise<Map<string, KnownDevice>> {
    const found = new Map<string, KnownDevice>();
    for (let from = 0; from < deviceIds.length; from += idsPerStatement) {
      const query = db
        .selectFrom('devices')
        .select(['id', 'deviceId', 'workspaceId', 'dataFlowId', 'connectivity']);
      const some = padded(deviceIds.slice(from, from + idsPerStatement));
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
  async placesOf(
    db: RecordsDb,
    ids: readonly string[],
    isOver: () => boolean = () => false,
  ): Promise<Map<string, { readonly organizationId: string; readonly workspaceId: string }>> {
    const found = new Map<
      string,
      { readonly organizationId: string; readonly workspaceId: string }
    >();
    for (let from = 0; from < ids.length && !isOver(); from += devicesPerStatement) {
      const some = ids.slice(from, from + devicesPerStatement);
      const query = db
        .selectFrom('devices')
        .select(['id', 'organizationId', 'workspaceId'])
        .where('id', 'in', some);
      for (const { id, ...place } of await query.execute()) found.set(id, place);
    }
    return found;
  }

  /** The physical ids of devices of the workspace, by service id. */
  async physicalIdsOf(
    db: RecordsDb,
    workspaceId: string,
    ids: readonly string[],
  ): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (let from = 0; from < ids.length; from += devicesPerStatement) {
      const some = ids.slice(from, from + devicesPerStatement);
      const rows = await db
        .selectFrom('devices')
        .select(['id', 'deviceId'])
        .where('id', 'in', some)
        .where('workspaceId', '=', workspaceId)
        .execute();
      for (const { id, deviceId } of rows) found.set(id, deviceId);
    }
    return found;
  }

  /** The workspace's devices behind a service id, in order of it. */
  async after(
    { db, sealer }: SealedDb,
    workspaceId: string,
    after: string,
    max: number,
  ): Promise<Device[]> {
    const query = db
      .selectFrom('devices')
      .selectAll()
      .where('workspaceId', '=', workspaceId)
      .where('id', '>', after);
    return (await query.orderBy('id').limit(max).execute()).map((row) =>
      deviceFromRow(row, sealer),
    );
  }

  /** Removes the devices and what is known about them, and notes that their samples must be dropped. */
  async removeAll(step: RecordsDb, ids: readonly string[], now: EpochMs): Promise<void> {
    for (let from = 0; from < ids.length; from += idsPerStatement) {
      const some = padded(ids.slice(from, from + idsPerStatement));
      await this.purge(step, some);
      await step.deleteFrom('devices').where('id', 'in', some).execute();
    }
    await this.noteDeleted(step, ids, now);
  }

  /** Devices of the data flow, `Name (id)`, at most `max`: what a refusal to delete names. */
  async usingDataFlow(db: RecordsDb, dataFlowId: string, max: number): Promise<string[]> {
    const query = db
      .selectFrom('devices')
      .select(['id', 'name'])
      .where('dataFlowId', '=', dataFlowId);
    const rows = await query.orderBy('searchText').limit(max).execute();
    return rows.map((row) => `device ${row.name} (${row.id})`);
  }

  /**
   * The named devices of the organization. A name that is the service id of one device and the
   * physical id of another means the first.
   */
  async placesByName(
    db: RecordsDb,
    organizationId: string,
    names: readonly string[],
  ): Promise<Map<string, DevicePlace>> {
    const found = new Map<string, DevicePlace>();
    for (let from = 0; from < names.length; from += namesPerStatement) {
      const some = names.slice(from, from + namesPerStatement);
      const columns = db
        .selectFrom('devices')
        .select(['id', 'deviceId', 'organizationId', 'workspaceId']);
      const physical = columns
        .where('organizationId', '=', organizationId)
        .where('deviceId', 'in', some);
      for (const { id, deviceId, workspaceId } of await physical.execute())
        found.set(deviceId, { id, workspaceId });
      for (const row of await columns.where('id', 'in', some).execute())
        if (row.organizationId === organizationId)
          found.set(row.id, { id: row.id, workspaceId: row.workspaceId });
    }
    return found;
  }

  /** Devices of the organization whose physical id begins with the text, in its order. */
  async withPrefix(
    db: RecordsDb,
    {
      organizationId,
      prefix,
      max,
    }: {
      readonly organizationId: string;
      readonly prefix: string;
      readonly max: number;
    },
  ): Promise<{ id: string; deviceId: string; name: string; workspaceId: string }[]> {
    // A range, which the unique index answers; LIKE is case-insensitive on one engine only.
    return db
      .selectFrom('devices')
      .select(['id', 'deviceId', 'name', 'workspaceId'])
      .where('organizationId', '=', organizationId)
      .where('deviceId', '>=', prefix)
      .where('deviceId', '<', `${prefix}\u{10ffff}`)
      .orderBy('deviceId')
      .limit(max)
      .execute();
  }

  /** Within the transaction that removes the devices. */
  async noteDeleted(step: RecordsDb, ids: readonly string[], deletedAt: EpochMs): Promise<void> {
    await insertRows(
      step,
      'deletedDevices',
      ids.map((deviceId) => ({ deviceId, deletedAt })),
    );
  }

  async deleted(db: RecordsDb): Promise<
    readonly {
      readonly deviceId: string;
      readonly deletedAt: EpochMs;
    }[]
  > {
    return db.selectFrom('deletedDevices').selectAll().orderBy('deletedAt').execute();
  }

  /** Call when all samples of the device are deleted. */
  async completeDeletion(db: RecordsDb, deviceId: string): Promise<void> {
    await db.deleteFrom('deletedDevices').where('deviceId', '=', deviceId).execute();
  }

  /** Deletes the status, decoder state, processing log, rule state and deliveries of the devices. */
  async purge(db: RecordsDb, ids: readonly string[]): Promise<void> {
    for (const table of [
      'deviceStatus',
      'deviceState',
      'processingLog',
      'ruleDeviceStates',
      'ruleLastSamples',
      'ruleJudgedTimes',
      'deliveries',
    ] as const) {
      await db
        .deleteFrom(table as 'deviceState')
        .where('deviceId', 'in', ids)
        .execute();
    }
  }

  /** Devices by service id; without those that do not exist. */
  async byIds(store: SealedDb, ids: readonly string[]): Promise<FoundDevice[]> {
    return withLabels(store, await rowsOfIds(store.db, padded(ids), devicesOfIds));
  }

  /** Devices of an organization by physical id; without those that do not exist. */
  async byDeviceIds(
    store: SealedDb,
    organizationId: string,
    deviceIds: readonly string[],
  ): Promise<FoundDevice[]> {
    const query = store.db.selectFrom('devices').selectAll();
    const rows = query
      .where('organizationId', '=', organizationId)
      .where('deviceId', 'in', padded(deviceIds));
    return withLabels(store, await rows.execute());
  }

  /** Bytes of what can be long about the devices, without reading it. Those without any are absent. */
  async sizesOf(db: RecordsDb, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const sizes = new Map<string, number>();
    if (ids.length === 0) return sizes;
    const some = padded(ids);
    const bytes = (column: string) => sql<number>`coalesce(octet_length(${sql.ref(column)}), 0)`;
    const devices = db
      .selectFrom('devices')
      .select(['id', bytes('properties').as('properties'), bytes('description').as('description')]);
    for (const { id, properties, description } of await devices.where('id', 'in', some).execute())
      sizes.set(id, Number(properties) + Number(description));
    const values = db
      .selectFrom('deviceCustomFields')
      .select(['deviceId', sql<number>`sum(octet_length("value"))`.as('bytes')]);
    const valueRows = values.where('deviceId', 'in', some).groupBy('deviceId');
    for (const row of await valueRows.execute())
      sizes.set(row.deviceId, Number(row.bytes) + (sizes.get(row.deviceId) ?? 0));
    return sizes;
  }

  /** A device that was read by other means, with its labels. */
  async labeled(store: SealedDb, device: Device): Promise<DeviceWithLabels> {
    const { tagIds, values } = await labelsOf(store, [device.id]);
    return { device, tagIds: tagIds.get(device.id) ?? [], values: values(device.id) };
  }

  // Devices of calculations.
  /**
   * Those of the workspace that carry the tag, in order of id; at most `max`. The workspace is compared here, because
   * SQLite would go through all of its devices in order of id to find the few with the tag.
   */
  async membersOfTag(
    db: RecordsDb,
    workspaceId: string,
    tagId: string,
    max: number,
  ): Promise<{ id: string; onlineTimeoutSeconds: number }[]> {
    const rows = await db
      .selectFrom('deviceTags')
      .innerJoin('devices', 'devices.id', 'deviceTags.deviceId')
      .select(['devices.id', 'devices.workspaceId', 'devices.onlineTimeoutSeconds'])
      .where('deviceTags.tagId', '=', tagId)
      .orderBy('deviceTags.deviceId')
      .limit(max)
      .execute();
    return rows.filter((row) => row.workspaceId === workspaceId);
  }

  /** Those of the ids that are in the workspace. */
  async membersNamed(
    db: RecordsDb,
    workspaceId: string,
    ids: readonly string[],
  ): Promise<{ id: string; onlineTimeoutSeconds: number }[]> {
    return db
      .selectFrom('devices')
      .select(['id', 'onlineTimeoutSeconds'])
      .where(isOneOf('id', ids))
      .where('workspaceId', '=', workspaceId)
      .orderBy('id')
      .execute();
  }

  /** Milliseconds by id; unknown devices are absent. */
  async onlineTimeouts(
    db: RecordsDb,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, number>> {
    const rows = await db
      .selectFrom('devices')
      .select(['id', 'onlineTimeoutSeconds'])
      .where(isOneOf('id', ids))
      .execute();
    return new Map(rows.map((row) => [row.id, row.onlineTimeoutSeconds * 1_000]));
  }
}

export const deviceRows = new DeviceRows(
  (sealer) =>
    new RecordRows(
      'devices',
      (record) => toRow(record, sealer),
      (row) => deviceFromRow(row, sealer),
    ),
);

function openObject(sealed: string, sealer: Sealer): JsonObject {
  const value: unknown = JSON.parse(sealer.open(sealed));
  if (!isJsonObject(value)) throw new Error('The LoRa properties of a device are no object');
  return value;
}

// Few enough for every engine's parameter limit.
const devicesPerStatement = 500;

/** What imports compare with: which device has a physical id already, and where it is. */
export type KnownDevice = Pick<
  Device,
  'id' | 'deviceId' | 'workspaceId' | 'dataFlowId' | 'connectivity'
>;

// Devices of an organization by names that are service ids or physical ids.

/** Below the number of parameters that any engine permits. */
const namesPerStatement = 500;

export interface DevicePlace {
  /** Service device id. */
  readonly id: string;
  readonly workspaceId: string;
}

// Deleted devices whose samples still exist, stored in the transaction of the deletion so that a crash leaves no samples.

// Device batches: many devices with their tag ids and custom field values, by one statement for each table.

/** At most this many devices are found by one call. */
export const devicesPerBatch = idsPerStatement;

export interface DeviceWithLabels {
  readonly device: Device;
  readonly tagIds: readonly string[];
  /** Field id to value. */
  readonly values: ReadonlyMap<string, Json>;
}

/** A device that was found. `read` throws when its row cannot be decoded. */
export interface FoundDevice {
  readonly id: string;
  readonly deviceId: string;
  readonly read: () => DeviceWithLabels;
}

async function withLabels(
  store: SealedDb,
  rows: readonly Parameters<typeof deviceFromRow>[0][],
): Promise<FoundDevice[]> {
  if (rows.length === 0) return [];
  const { tagIds, values } = await labelsOf(
    store,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
    id: row.id,
    deviceId: row.deviceId,
    read: () => ({
      device: deviceFromRow(row, store.sealer),
      tagIds: tagIds.get(row.id) ?? [],
      values: values(row.id),
    }),
  }));
}

async function labelsOf({ db }: SealedDb, ids: readonly string[]) {
  const some = padded(ids);
  const tagIds = new Map<string, string[]>();
  for (const { deviceId, tagId } of await rowsOfIds(db, some, tagsOfIds))
    addTo(tagIds, deviceId, tagId);
  const strings = new Map<string, (readonly [string, string])[]>();
  for (const { deviceId, metaId, value } of await rowsOfIds(db, some, valuesOfIds))
    addTo(strings, deviceId, [metaId, value]);
  return {
    tagIds,
    values: (id: string) =>
      new Map((strings.get(id) ?? []).map(([metaId, json]) => [metaId, fromJsonText<Json>(json)])),
  };
}

/** Statements that are made once for each number of ids: the first request for a device waits for them. */
type StatementOfIds<Row> = (db: RecordsDb, ids: readonly string[]) => CompiledQuery<Row>;

const devicesOfIds = (db: RecordsDb, ids: readonly string[]) =>
  db.selectFrom('devices').selectAll().where('id', 'in', ids).compile();
const tagsOfIds = (db: RecordsDb, ids: readonly string[]) =>
  db.selectFrom('deviceTags').select(['deviceId', 'tagId']).where('deviceId', 'in', ids).compile();
const valuesOfIds = (db: RecordsDb, ids: readonly string[]) =>
  db
    .selectFrom('deviceCustomFields')
    .select(['deviceId', 'metaId', 'value'])
    .where('deviceId', 'in', ids)
    .compile();

async function rowsOfIds<Row>(
  db: RecordsDb,
  ids: readonly string[],
  statement: StatementOfIds<Row>,
): Promise<Row[]> {
  const text = keptText(db, statement, String(ids.length), () => statement(db, ids));
  const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(text, [...ids]));
  return rows;
}

function addTo<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
