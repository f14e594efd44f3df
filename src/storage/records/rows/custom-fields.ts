// Custom fields and the values devices have in them, in the records store.
import type { Insertable, Selectable } from 'kysely';
import type { CustomFieldMeta, CustomFieldType, CustomFieldValue } from '../../../model/device.ts';
import { type EpochMs, parseInstant } from '../../../model/instant.ts';
import type { Json } from '../../../model/json.ts';
import type { PageRequest } from '../../../model/page.ts';
import {
  fromFlag,
  fromJsonText,
  fromJsonTextOrNull,
  isOneOf,
  keyOf,
  searchTextOf,
  toFlag,
  toJsonText,
  toJsonTextOrNull,
} from '../columns.ts';
import { padded } from '../engine.ts';
import { insertRows, RecordRows } from './record-rows.ts';
import type { RecordsDb } from '../records.ts';
import { sortColumns, type WorkspaceFilter } from '../list.ts';
import type { RecordTables } from '../schema.ts';

type Table = RecordTables['customFieldMetas'];

function toRow(record: CustomFieldMeta): Insertable<Table> {
  return {
    ...record,
    required: toFlag(record.required),
    selectOptions: toJsonTextOrNull(record.selectOptions),
    searchText: searchTextOf(record.name),
  };
}

function fromRow({ searchText: _, ...row }: Selectable<Table>): CustomFieldMeta {
  return {
    ...row,
    type: row.type as CustomFieldType,
    required: fromFlag(row.required),
    selectOptions: fromJsonTextOrNull<readonly string[]>(row.selectOptions),
  };
}

class CustomFieldRows extends RecordRows<'customFieldMetas', CustomFieldMeta> {
  override async list(
    db: RecordsDb,
    filter: WorkspaceFilter & {
      readonly types?: readonly string[] | undefined;
    },
    page: PageRequest,
  ) {
    let query = this.filtered(db, filter);
    if (filter.types !== undefined) query = query.where(isOneOf('type', filter.types));
    return this.page(db, query, page);
  }

  /** In order of name; unknown ones are absent. */
  async inOrder(db: RecordsDb, ids: readonly string[]): Promise<CustomFieldMeta[]> {
    if (ids.length === 0) return [];
    const query = this.select(db).where('id', 'in', [...ids]);
    return this.readAll(db, query.orderBy('searchText').orderBy('id'));
  }

  /** All of the workspaces, or of the organization, in order of name. */
  async ofWorkspaces(db: RecordsDb, place: WorkspaceFilter): Promise<CustomFieldMeta[]> {
    let query = this.select(db).where('organizationId', '=', place.organizationId);
    if (place.workspaceIds !== undefined)
      query = query.where(isOneOf('workspaceId', place.workspaceIds));
    return this.readAll(db, query.orderBy('searchText').orderBy('id'));
  }

  /** Devices that have a value of the field, `device Name (id)`, at most `max`. */
  async devicesUsing(db: RecordsDb, metaId: string, max: number): Promise<string[]> {
    const rows = await db
      .selectFrom('devices')
      .innerJoin('deviceCustomFields', 'deviceCustomFields.deviceId', 'devices.id')
      .select(['devices.id', 'devices.name'])
      .where('deviceCustomFields.metaId', '=', metaId)
      .orderBy('devices.searchText')
      .limit(max)
      .execute();
    return rows.map((row) => `device ${row.name} (${row.id})`);
  }

  /** Ids of devices whose value of the field is the text, or the number or instant that it is of. */
  async devicesWithValue(
    db: RecordsDb,
    {
      metaId,
      value,
      max,
    }: { readonly metaId: string; readonly value: string; readonly max: number },
  ): Promise<string[]> {
    const isNumber = value.trim() !== '' && Number.isFinite(Number(value));
    const number = isNumber ? Number(value) : parseInstant(value);
    const rows = await db
      .selectFrom('deviceCustomFields')
      .select('deviceId')
      .where('metaId', '=', metaId)
      .where((is) =>
        is.or([
          is.and([is('textKey', '=', keyOf(value)), is('value', '=', toJsonText(value))]),
          ...(number === undefined ? [] : [is('numberKey', '=', number)]),
          ...(['true', 'false'].includes(value)
            ? [is.and([is('textKey', 'is', null), is('value', '=', value)])]
            : []),
        ]),
      )
      .orderBy('deviceId')
      .limit(max)
      .execute();
    return rows.map(({ deviceId }) => deviceId);
  }

  /** The values of each device in order of the fields' names; devices without any are absent. */
  async ofDevices(
    db: RecordsDb,
    deviceIds: readonly string[],
  ): Promise<Map<string, CustomFieldValue[]>> {
    const found = new Map<string, CustomFieldValue[]>();
    if (deviceIds.length === 0) return found;
    const rows = await db
      .selectFrom('deviceCustomFields')
      .innerJoin('customFieldMetas', 'customFieldMetas.id', 'deviceCustomFields.metaId')
      .selectAll('customFieldMetas')
      .select([
        'deviceCustomFields.deviceId as ofDevice',
        'deviceCustomFields.value as ofValue',
        'deviceCustomFields.created as ofCreated',
        'deviceCustomFields.updated as ofUpdated',
      ])
      .where('deviceCustomFields.deviceId', 'in', [...deviceIds])
      .orderBy('customFieldMetas.searchText')
      .orderBy('customFieldMetas.id')
      .execute();
    for (const { ofDevice, ofValue, ofCreated, ofUpdated, ...meta } of rows) {
      const value = {
        meta: fromRow(meta),
        value: fromJsonText<Json>(ofValue),
        created: ofCreated,
        updated: ofUpdated,
      };
      const values = found.get(ofDevice);
      if (values === undefined) found.set(ofDevice, [value]);
      else values.push(value);
    }
    return found;
  }

  /** Adds or replaces values, one of each device and field, of at most `idsPerStatement` devices. */
  async saveValues(db: RecordsDb, values: readonly SavedFieldValue[]): Promise<void> {
    const removed = values.filter(({ value }) => value === null);
    for (const [metaId, devices] of Map.groupBy(removed, ({ meta }) => meta.id)) {
      const ids = padded(devices.map(({ deviceId }) => deviceId));
      const rows = db.deleteFrom('deviceCustomFields').where('metaId', '=', metaId);
      await rows.where('deviceId', 'in', ids).execute();
    }
    const rows = values
      .filter(({ value }) => value !== null)
      .map(({ deviceId, meta, value, at }) => ({
        deviceId,
        metaId: meta.id,
        value: toJsonText(value),
        ...keysOf(meta.type, value),
        created: at,
        updated: null,
      }));
    await insertRows(db, 'deviceCustomFields', rows, {
      key: ['deviceId', 'metaId'],
      set: { value: 'value', textKey: 'textKey', numberKey: 'numberKey', updated: 'created' },
    });
  }
}

/** Values of a field that is removed go with it. */
export const customFieldRows = new CustomFieldRows('customFieldMetas', toRow, fromRow, {
  columns: { ...sortColumns, type: 'type', required: 'required' },
});

export interface SavedFieldValue {
  readonly deviceId: string;
  readonly meta: CustomFieldMeta;
  /** Null removes the value. */
  readonly value: Json;
  readonly at: EpochMs;
}

function keysOf(
  type: CustomFieldType,
  value: Json,
): { textKey: string | null; numberKey: number | null } {
  if (type === 'STRING' && typeof value === 'string')
    return { textKey: keyOf(value), numberKey: null };
  if (type === 'NUMBER' && typeof value === 'number') return { textKey: null, numberKey: value };
  if (type === 'DATE' && typeof value === 'string')
    return { textKey: null, numberKey: parseInstant(value) ?? null };
  return { textKey: null, numberKey: null };
}
