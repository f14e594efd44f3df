// Device types in the records store.
import type { Insertable, Selectable } from 'kysely';
import type { DeviceType, DeviceTypeKind } from '../../../model/device-type.ts';
import type { PageRequest } from '../../../model/page.ts';
import {
  contains,
  keyOf,
  isOneOf,
  fromJsonText,
  fromJsonTextOrNull,
  searchTextOf,
  toJsonText,
  toJsonTextOrNull,
} from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import { pageOfRows, type Rows, sortColumns } from '../list.ts';
import type { RecordTables } from '../schema.ts';

type Table = RecordTables['deviceTypes'];

const typeSortColumns = { ...sortColumns, type: 'type' };

function toRow(record: DeviceType): Insertable<Table> {
  return {
    ...record,
    meta: toJsonText(record.meta),
    schemas: toJsonText(record.schemas),
    sampleData: toJsonTextOrNull(record.sampleData),
    uplinkScript: toJsonTextOrNull(record.uplinkScript),
    downlinkScript: toJsonTextOrNull(record.downlinkScript),
    searchText: searchTextOf(record.name, record.meta.manufacturer),
    nameKey: keyOf(record.name),
  };
}

function fromRow({ searchText: _, nameKey: __, ...row }: Selectable<Table>): DeviceType {
  return {
    ...row,
    type: row.type as DeviceTypeKind,
    meta: fromJsonText(row.meta),
    schemas: fromJsonText(row.schemas),
    sampleData: fromJsonTextOrNull(row.sampleData),
    uplinkScript: fromJsonTextOrNull(row.uplinkScript),
    downlinkScript: fromJsonTextOrNull(row.downlinkScript),
  };
}

export async function insertDeviceType(db: RecordsDb, record: DeviceType): Promise<void> {
  await db.insertInto('deviceTypes').values(toRow(record)).execute();
}

export async function findDeviceType(db: RecordsDb, id: string): Promise<DeviceType | undefined> {
  const row = await db
    .selectFrom('deviceTypes')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Scripts and schemas make rows large. */
const typesPerStatement = 100;

/** The types that came from a library into the organization; null for those of the installation. */
export async function findLibraryTypes(
  db: RecordsDb,
  organizationId: string | null,
): Promise<DeviceType[]> {
  const query = db.selectFrom('deviceTypes').selectAll().where('libraryPath', 'is not', null);
  const own =
    organizationId === null
      ? query.where('organizationId', 'is', null)
      : query.where('organizationId', '=', organizationId);
  const found: DeviceType[] = [];
  for (let after = ''; ; ) {
    const rows = await own.where('id', '>', after).orderBy('id').limit(typesPerStatement).execute();
    for (const row of rows) found.push(fromRow(row));
    const last = rows.at(-1);
    if (last === undefined || rows.length < typesPerStatement) return found;
    after = last.id;
  }
}

/** Id, name and picture only: scripts and schemas are large. */
export async function findDeviceTypeNames(
  db: RecordsDb,
  ids: readonly string[],
): Promise<Map<string, { id: string; name: string; pictureUrl: string | null }>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('deviceTypes')
    .select(['id', 'name', 'pictureUrl'])
    .where('id', 'in', [...ids])
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** The organization's own types and the library's. */
export async function listDeviceTypes(
  db: RecordsDb,
  filter: {
    readonly organizationId: string;
    readonly types?: readonly string[] | undefined;
    readonly search?: string | undefined;
  },
  page: PageRequest,
): Promise<Rows<DeviceType>> {
  let query = db
    .selectFrom('deviceTypes')
    .selectAll()
    .where((eb) =>
      eb.or([eb('organizationId', '=', filter.organizationId), eb('organizationId', 'is', null)]),
    );
  if (filter.types !== undefined) query = query.where(isOneOf('type', filter.types));
  if (filter.search) query = query.where(contains('searchText', filter.search));
  const { rows, total } = await pageOfRows(query, page, { columns: typeSortColumns });
  return { rows: rows.map(fromRow), total };
}

export async function saveDeviceType(db: RecordsDb, record: DeviceType): Promise<void> {
  await db.updateTable('deviceTypes').set(toRow(record)).where('id', '=', record.id).execute();
}

export async function removeDeviceType(db: RecordsDb, id: string): Promise<void> {
  await db.deleteFrom('deviceTypes').where('id', '=', id).execute();
}

export async function hasDeviceTypes(db: RecordsDb): Promise<boolean> {
  return (
    (await db.selectFrom('deviceTypes').select('id').limit(1).executeTakeFirst()) !== undefined
  );
}
