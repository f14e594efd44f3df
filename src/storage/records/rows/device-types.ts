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
import { sortColumns, type WorkspaceFilter } from '../list.ts';
import type { RecordTables } from '../schema.ts';
import { RecordRows } from './record-rows.ts';

type Table = RecordTables['deviceTypes'];

function toRow(record: DeviceType): Insertable<Table> {
  return {
    ...record,
    meta: toJsonText(record.meta),
    schemas: toJsonText(record.schemas),
    sampleData: toJsonTextOrNull(record.sampleData),
    uplinkScript: toJsonTextOrNull(record.uplinkScript),
    downlinkScript: toJsonTextOrNull(record.downlinkScript),
    calculatedKeys: record.calculatedKeys.length === 0 ? null : toJsonText(record.calculatedKeys),
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
    calculatedKeys: fromJsonTextOrNull(row.calculatedKeys) ?? [],
  };
}

class DeviceTypeRows extends RecordRows<'deviceTypes', DeviceType> {
  /** The organization's own types and the library's. */
  override async list(
    db: RecordsDb,
    {
      organizationId,
      types,
      search,
    }: WorkspaceFilter & {
      readonly types?: readonly string[] | undefined;
    },
    page: PageRequest,
  ) {
    let query = this.select(db).where((is) =>
      is.or([is('organizationId', '=', organizationId), is('organizationId', 'is', null)]),
    );
    if (types !== undefined) query = query.where(isOneOf('type', types));
    if (search) query = query.where(contains('searchText', search));
    return this.page(db, query, page);
  }

  /** Types of the data flows of the workspace, at most `max`, in order of id. */
  async ofWorkspace(db: RecordsDb, workspaceId: string, max: number): Promise<DeviceType[]> {
    const rows = await db
      .selectFrom('dataFlows')
      .select('deviceTypeId')
      .distinct()
      .where('workspaceId', '=', workspaceId)
      .where('deviceTypeId', 'is not', null)
      .orderBy('deviceTypeId')
      .limit(max)
      .execute();
    return this.findAll(
      db,
      rows.flatMap(({ deviceTypeId }) => deviceTypeId ?? []),
    );
  }

  /** The types that came from a library into the organization; null for those of the installation. */
  async library(db: RecordsDb, organizationId: string | null): Promise<DeviceType[]> {
    const query = this.select(db).where('libraryPath', 'is not', null);
    const own =
      organizationId === null
        ? query.where('organizationId', 'is', null)
        : query.where('organizationId', '=', organizationId);
    const found: DeviceType[] = [];
    for (let after = ''; ; ) {
      const next = own.where('id', '>', after).orderBy('id').limit(typesPerStatement);
      const types = await this.readAll(db, next);
      found.push(...types);
      const last = types.at(-1);
      if (last === undefined || types.length < typesPerStatement) return found;
      after = last.id;
    }
  }

  /** Id, name and picture only: scripts and schemas are large. */
  async namesOf(
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

  /** Connectivity of the types that the organization sees, its own first, in order of name. */
  async connectivityOf(
    db: RecordsDb,
    organizationId: string,
    max: number,
  ): Promise<{ readonly id: string; readonly connectivity: string | null }[]> {
    const rows = await db
      .selectFrom('deviceTypes')
      .select(['id', 'meta'])
      .where((is) =>
        is.or([is('organizationId', '=', organizationId), is('organizationId', 'is', null)]),
      )
      .orderBy((is) => is.case().when('organizationId', 'is', null).then(1).else(0).end())
      .orderBy('searchText')
      .orderBy('id')
      .limit(max)
      .execute();
    return rows.map(({ id, meta }) => ({
      id,
      connectivity: fromJsonText<DeviceType['meta']>(meta).connectivity,
    }));
  }

  async any(db: RecordsDb): Promise<boolean> {
    return (
      (await db.selectFrom('deviceTypes').select('id').limit(1).executeTakeFirst()) !== undefined
    );
  }
}

export const deviceTypeRows = new DeviceTypeRows('deviceTypes', toRow, fromRow, {
  columns: { ...sortColumns, type: 'type' },
});

/** Scripts and schemas make rows large. */
const typesPerStatement = 100;
