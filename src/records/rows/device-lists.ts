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
import type { DeviceFilter } from './device-filter.ts';
import { deviceFromRow } from './devices.ts';
import { devicesByLastUplink } from './devices-by-uplink.ts';
import { isPlaceOnly, knownTotal, tagOf, workspacesOf } from './device-totals.ts';
import { engineSql } from '../engine-sql.ts';
import { pageOfLongList, pageOfRows, type Rows, sortColumns } from '../list.ts';

const lastUplink = 'uplinkMetrics.timestamp';

const deviceSortColumns = {
  ...Object.fromEntries(deviceFieldsWith('sortable').map((row) => [row.wireName, row.property])),
  ...sortColumns,
  workspaceId: 'workspaceId',
  dataFlowId: 'dataFlowId',
  [lastUplink]: 'deviceStatus.lastUplinkAt',
};

/** More devices of a tag are found by walking the list than by sorting them. */
const taggedMax = 5_000;

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
  const order = { columns: deviceSortColumns, table: 'devices' } as const;
  const workspaceIds = await workspacesOf(searched, filter);
  const total =
    workspaceIds.length === 0 ? undefined : await knownTotal(searched, filter, workspaceIds, now);
  const isByUplink = page.sort.some(({ field }) => field === lastUplink);
  const query = searched
    .selectFrom('devices')
    .select('devices.id')
    .where(isWanted(searched, walkedFilter(filter, total), now));
  if (!isByUplink)
    return inFull(
      { db, sealer },
      await pageOfLongList(lists.of(filter.organizationId), { query, order, total }, page),
    );
  const [first] = page.sort;
  if (page.sort.length === 1 && first !== undefined && total !== undefined && isPlaceOnly(filter))
    return inFull(
      { db, sealer },
      await devicesByLastUplink(searched, workspaceIds, page, first.direction),
    );
  const joined = query.leftJoin('deviceStatus', 'deviceStatus.deviceId', 'devices.id');
  return inFull({ db, sealer }, await pageOfRows(joined, page, order));
}

/** The tag of many devices is asked of each device, so that the list is read in its order. */
function walkedFilter(
  filter: DeviceFilter,
  total = 0,
): DeviceFilter & { readonly walked?: string } {
  const tagId = total > taggedMax ? tagOf(filter) : undefined;
  if (tagId === undefined) return filter;
  return { ...filter, tagIds: undefined, condition: undefined, walked: tagId };
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

function isWanted(
  db: RecordsDb,
  filter: DeviceFilter & { readonly walked?: string },
  now: number,
): Expression<SqlBool> {
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
    ifGiven(filter.walked, hasTag),
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
  return sql<SqlBool>`${engineSql(db).text(sql.ref('devices.properties'), 'packageName')} = ${packageName}`;
}

function isAmong(
  table: 'deviceTags' | 'deviceCustomFields',
  column: string,
  ids: readonly string[],
) {
  const rows = sql`select ${sql.ref('deviceId')} from ${sql.table(table)} where ${isOneOf(column, ids)}`;
  return sql<SqlBool>`${sql.ref('devices.id')} in (${rows})`;
}

/** Asked of each device in turn, while `isAmong` collects all devices of the tag first. */
function hasTag(tagId: string) {
  const rows = sql`select 1 from ${sql.table('deviceTags')} where ${sql.ref('deviceTags.deviceId')} = ${sql.ref('devices.id')} and ${sql.ref('deviceTags.tagId')} = ${tagId}`;
  return sql<SqlBool>`exists (${rows})`;
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
