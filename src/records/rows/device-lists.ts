// Lists of devices: narrowed by many filters, in order, page by page (interface 4.2, contract 4).
import { type Expression, type SqlBool, sql } from 'kysely';
import type { Condition } from '../../filters/condition.ts';
import { deviceFieldsWith } from '../../model/device-fields.ts';
import type { Device, OnlineState } from '../../model/device.ts';
import type { LoraField } from '../../model/lora-fields.ts';
import type { PageRequest } from '../../model/page.ts';
import { meets } from './asset-filter.ts';
import { contains, ifGiven, isOneOf, keyOf, toFlag } from '../columns.ts';
import type { Records, RecordsDb } from '../records.ts';
import { deviceFromRow } from './devices.ts';
import { jsonSql } from '../json-sql.ts';
import {
  pageOfLongList,
  pageOfRows,
  type Rows,
  sortColumns,
  type WorkspaceFilter,
} from '../list.ts';

const deviceSortColumns = {
  ...Object.fromEntries(deviceFieldsWith('sortable').map((row) => [row.wireName, row.property])),
  ...sortColumns,
  workspaceId: 'workspaceId',
  dataFlowId: 'dataFlowId',
  'uplinkMetrics.timestamp': 'deviceStatus.lastUplinkAt',
};

export interface DeviceFilter extends WorkspaceFilter {
  readonly ids?: readonly string[] | undefined;
  readonly dataFlowId?: string | undefined;
  readonly connectivity?: string | undefined;
  /** Devices that carry any of these tags. */
  readonly tagIds?: readonly string[] | undefined;
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

/** `now` decides who is online. */
export async function listDevices(
  { db, elsewhere, sealer, lists }: Pick<Records, 'db' | 'elsewhere' | 'sealer' | 'lists'>,
  filter: DeviceFilter,
  page: PageRequest,
  now: number,
): Promise<Rows<Device>> {
  // To find and to count may read every device; a transaction sees its own changes only where it
  // is.
  const searched = db.isTransaction ? db : elsewhere(filter.organizationId);
  const query = searched
    .selectFrom('devices')
    .select('devices.id')
    .where(isWanted(searched, filter, now));
  if (!page.sort.some((order) => order.field === 'uplinkMetrics.timestamp')) {
    return inFull(
      { db, sealer },
      await pageOfLongList(lists, query, page, { columns: deviceSortColumns, table: 'devices' }),
    );
  }
  const joined = query.leftJoin('deviceStatus', 'deviceStatus.deviceId', 'devices.id');
  return inFull(
    { db, sealer },
    await pageOfRows(joined, page, { columns: deviceSortColumns, table: 'devices' }),
  );
}

/** The service ids of all that the filter finds, at most `max`, in order of id. */
export async function findDeviceIds(
  db: RecordsDb,
  filter: DeviceFilter,
  max: number,
  now: number,
): Promise<string[]> {
  const query = db
    .selectFrom('devices')
    .select('devices.id')
    .where(isWanted(db, filter, now));
  return (await query.orderBy('devices.id').limit(max).execute()).map((row) => row.id);
}

function isWanted(db: RecordsDb, filter: DeviceFilter, now: number): Expression<SqlBool> {
  const { workspaceIds, ids, tagIds, customFieldIds } = filter;
  const conditions: (Expression<SqlBool> | undefined)[] = [
    sql<SqlBool>`${sql.ref('devices.organizationId')} = ${filter.organizationId}`,
    workspaceIds && isOneOf('devices.workspaceId', workspaceIds),
    ids && isOneOf('devices.id', ids),
    ifGiven(filter.dataFlowId, (id) => isOneOf('devices.dataFlowId', [id])),
    ifGiven(filter.connectivity, (name) => isOneOf('devices.connectivity', [name])),
    ifGiven(filter.integrationId, (id) => isOneOf('devices.integrationId', [id])),
    ifGiven(filter.provider, isOfProvider),
    ifGiven(filter.packageName, (name) => isPackage(db, name)),
    ifGiven(filter.search || undefined, (words) => contains('devices.searchText', words)),
    tagIds && isAmong('deviceTags', 'tagId', tagIds),
    customFieldIds && isAmong('deviceCustomFields', 'metaId', customFieldIds),
    filter.onlineState && meets(db, stateIs(filter.onlineState), now),
    ifGiven(filter.online, (online) => meets(db, isOnline(online), now)),
    ...Object.entries(filter.lora ?? {}).map(([name, value]) =>
      meets(db, loraIs(name as LoraField, value), now),
    ),
    filter.condition && meets(db, filter.condition, now),
  ];
  const given = conditions.filter((condition) => condition !== undefined);
  return sql<SqlBool>`${sql.join(given, sql` and `)}`;
}

function isOfProvider(provider: string) {
  const ids = sql`select id from integrations where provider = ${provider}`;
  return sql<SqlBool>`${sql.ref('devices.integrationId')} in (${ids})`;
}

function isPackage(db: RecordsDb, packageName: string) {
  return sql<SqlBool>`${jsonSql(db).text(sql.ref('devices.properties'), 'packageName')} = ${packageName}`;
}

function isAmong(
  table: 'deviceTags' | 'deviceCustomFields',
  column: string,
  ids: readonly string[],
) {
  const rows = sql`select ${sql.ref('deviceId')} from ${sql.table(table)} where ${isOneOf(column, ids)}`;
  return sql<SqlBool>`${sql.ref('devices.id')} in (${rows})`;
}

function stateIs(state: OnlineState): Condition {
  return {
    field: 'onlineState',
    question: { ask: 'any', test: { test: 'oneOf', values: [state.toLowerCase()] } },
  };
}

function isOnline(online: boolean): Condition {
  return {
    field: 'online',
    question: { ask: 'any', test: { test: 'oneOf', values: [toFlag(online)] } },
  };
}

function loraIs(name: LoraField, value: string): Condition {
  const field = `loraProperties.${name}` as const;
  return { field, question: { ask: 'any', test: { test: 'oneOf', values: [keyOf(value)] } } };
}

// Ids are put in order first and whole rows read for one page only: ordering whole rows of a large
// workspace is slow.
async function inFull(
  { db, sealer }: Pick<Records, 'db' | 'sealer'>,
  page: Rows<{ readonly id: string }>,
): Promise<Rows<Device>> {
  const ids = page.rows.map((row) => row.id);
  if (ids.length === 0) return { rows: [], total: page.total };
  const found = await db.selectFrom('devices').selectAll().where('id', 'in', ids).execute();
  const rows = new Map(found.map((row) => [row.id, row]));
  const ordered = ids.flatMap((id) => rows.get(id) ?? []);
  return { rows: ordered.map((row) => deviceFromRow(row, sealer)), total: page.total };
}
