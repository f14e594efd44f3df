// Lists of devices: narrowed by many filters, in order, page by page (interface 4.2, contract 4).
import { type Expression, type RawBuilder, sql, type SqlBool } from 'kysely';
import {
  type Device,
  type DeviceFieldRow,
  deviceFieldsWith,
  type DeviceFieldWith,
  isKeyed,
  type LoraField,
  loraFields,
  type OnlineState,
  type WireName,
} from '../../../model/device.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { PageRequest } from '../../../model/page.ts';
import { batteryPercents, type MetricField, metricFields } from '../../../model/uplink-metrics.ts';
import type { AssetFieldName } from '../../../query/filters/asset-fields.ts';
import type { Condition, CustomFieldQuestion } from '../../../query/filters/expression.ts';
import type { Question, ValueTest } from '../../../query/filters/predicates.ts';
import { contains, ifGiven, isOneOf, keyOf, toFlag } from '../columns.ts';
import { engineSql, type EngineSql } from '../engine.ts';
import { pageOfLongList, pageOfRows, type Rows, sortColumns } from '../list.ts';
import type { Records, RecordsDb, SealedDb } from '../records.ts';
import { type DeviceFilter, deviceFromRow, keyColumnOf } from './devices.ts';
import { deviceCounts, isPlaceOnly, knownTotal, tagOf, workspacesOf } from './device-totals.ts';
import { isAtPlaces } from './places.ts';

// Asset sources: the table columns of each filter field, in the device's row or in related rows (interface 2.9).

type Holds = (value: Value) => Value;

type AssetSource =
  /** A value of the device's row; enumerations in lower case, as the values of filters are. */
  | { readonly value: Value }
  /** The device is one of the rows: `key` is among what `rows` selects where the value holds. */
  | { readonly key: Value; readonly rows: (holds: Holds) => Value };

type Sources = Readonly<Record<AssetFieldName, AssetSource>>;

const column = (name: string): AssetSource => ({ value: sql.ref(name) });
const lastUplinkAt = sql`(select ${sql.ref('lastUplinkAt')} from ${sql.table('deviceStatus')} where ${sql.ref('deviceStatus.deviceId')} = ${sql.ref('devices.id')})`;
/** Before all times for a device that is gone: its online time has ended with its last message. */
const lastPresentAt = sql`(select case when ${sql.ref('onlineUntil')} <= ${sql.ref('lastUplinkAt')} then 0 else ${sql.ref('lastUplinkAt')} end from ${sql.table('deviceStatus')} where ${sql.ref('deviceStatus.deviceId')} = ${sql.ref('devices.id')})`;

const fieldSources = Object.fromEntries(
  deviceFieldsWith('filterable').map((row) => [row.wireName, { value: fieldValue(row) }]),
) as Record<WireName<DeviceFieldWith<'filterable'>>, AssetSource>;

function fieldValue(row: DeviceFieldRow): Value {
  if (isKeyed(row)) return sql.ref(`devices.${keyColumnOf(row.property)}`);
  const value = sql.ref(`devices.${row.property}`);
  return row.type.kind === 'choice' ? sql`lower(${value})` : value;
}

/** `now` decides which devices are online. */
function assetSources(words: EngineSql, now: EpochMs): Sources {
  // Read once a row: the comparison is true, false, or unknown for a device that was never heard.
  const isOnline = sql`${lastPresentAt} + ${sql.ref('devices.onlineTimeoutSeconds')} * 1000 > ${now}`;
  const isRegistered = sql.ref('devices.registered');
  return {
    id: column('devices.id'),
    ...fieldSources,
    type: { value: sql.lit('device') },
    online: {
      value: sql`case when ${isRegistered} = 0 then 0 else case ${isOnline} when true then 1 when false then 0 end end`,
    },
    onlineState: {
      value: sql`case when ${isRegistered} = 0 then 'de_registered' else case ${isOnline} when true then 'online' when false then 'offline' else 'unknown' end end`,
    },
    registered: {
      value: sql`coalesce(${isRegistered}, case when ${sql.ref('devices.connectivity')} = 'LORA' and ${lastUplinkAt} is not null then 1 end)`,
    },
    workspaceId: column('devices.workspaceId'),
    integrationId: column('devices.integrationId'),
    dataFlow: column('devices.dataFlowId'),
    'dataFlow.name': ofFlow('dataFlows.searchText'),
    deviceType: ofFlow('dataFlows.deviceTypeId'),
    'deviceType.name': {
      key: sql.ref('devices.dataFlowId'),
      rows: (holds) =>
        sql`select ${sql.ref('dataFlows.id')} from ${sql.table('dataFlows')} inner join ${sql.table('deviceTypes')} on ${sql.ref('deviceTypes.id')} = ${sql.ref('dataFlows.deviceTypeId')} where ${holds(sql.ref('deviceTypes.nameKey'))}`,
    },
    'tags.id': {
      key: sql.ref('devices.id'),
      rows: (holds) =>
        sql`select ${sql.ref('deviceId')} from ${sql.table('deviceTags')} where ${holds(sql.ref('deviceTags.tagId'))}`,
    },
    'tags.name': {
      key: sql.ref('devices.id'),
      rows: (holds) =>
        sql`select ${sql.ref('deviceTags.deviceId')} from ${sql.table('deviceTags')} inner join ${sql.table('tags')} on ${sql.ref('tags.id')} = ${sql.ref('deviceTags.tagId')} where ${holds(sql.ref('tags.searchText'))}`,
    },
    placeId: column('devices.placeId'),
    'places.id': {
      key: sql.ref('devices.placeId'),
      rows: (holds) =>
        sql`select ${sql.ref('placeAncestors.placeId')} from ${sql.table('placeAncestors')} where ${holds(sql.ref('placeAncestors.ancestorId'))}`,
    },
    'places.name': {
      key: sql.ref('devices.placeId'),
      rows: (holds) =>
        sql`select ${sql.ref('placeAncestors.placeId')} from ${sql.table('placeAncestors')} inner join ${sql.table('places')} on ${sql.ref('places.id')} = ${sql.ref('placeAncestors.ancestorId')} where ${holds(sql.ref('places.nameKey'))}`,
    },
    'uplinkMetrics.timestamp': { value: lastUplinkAt },
    'uplinkMetrics.signalQuality': {
      value: sql`case ${metric(words, 'sqi')} when 1 then 'bad' when 2 then 'medium' when 3 then 'good' end`,
    },
    'uplinkMetrics.batteryLevelStatus': batteryStatus(metric(words, 'batteryLevel')),
    ...metricSources(words),
    ...loraSources(words),
    created: column('devices.created'),
    updated: column('devices.updated'),
    version: column('devices.version'),
  };
}

function ofFlow(value: string): AssetSource {
  return {
    key: sql.ref('devices.dataFlowId'),
    rows: (holds) =>
      sql`select ${sql.ref('dataFlows.id')} from ${sql.table('dataFlows')} where ${holds(sql.ref(value))}`,
  };
}

function metric(words: EngineSql, name: MetricField): Value {
  return sql`(select ${words.number(sql.ref('uplinkMetrics'), name)} from ${sql.table('deviceStatus')} where ${sql.ref('deviceStatus.deviceId')} = ${sql.ref('devices.id')})`;
}

function metricSources(words: EngineSql) {
  const sources = metricFields.map((name) => [
    `uplinkMetrics.${name}`,
    { value: metric(words, name) },
  ]);
  return Object.fromEntries(sources) as Record<`uplinkMetrics.${MetricField}`, AssetSource>;
}

function loraSources(words: EngineSql) {
  const sources = loraFields.map((name) => [
    `loraProperties.${name}`,
    { value: words.text(sql.ref('devices.loraKeys'), name) },
  ]);
  return Object.fromEntries(sources) as Record<`loraProperties.${LoraField}`, AssetSource>;
}

function batteryStatus(percent: Value): AssetSource {
  const { good, medium } = batteryPercents;
  return {
    value: sql`case when ${percent} >= ${sql.lit(good)} then 'good' when ${percent} >= ${sql.lit(medium)} then 'medium' when ${percent} < ${sql.lit(medium)} then 'low' end`,
  };
}

// Conditions in SQL: names come from tables in the code, values are always parameters (interface 2.9).

type Value = RawBuilder<unknown>;
type Truth = RawBuilder<SqlBool>;

const comparisons = { less: '<', lessOrEqual: '<=', greater: '>', greaterOrEqual: '>=' } as const;

/** True for the rows of `devices` that meet the condition; `now` decides who is online. */
function meets(db: RecordsDb, condition: Condition, now: EpochMs): Expression<SqlBool> {
  const words = engineSql(db);
  const sources = assetSources(words, now);
  const truthOf = (part: Condition): Truth => {
    if ('join' in part) return joined(part.join, part.parts.map(truthOf));
    if ('customFields' in part) return customFieldTruth(words, part.customFields, part.inverse);
    return questionTruth(words, sources[part.field], part.question);
  };
  return truthOf(condition);
}

/** An empty group restricts nothing. */
function joined(join: 'AND' | 'OR', parts: readonly Truth[]): Truth {
  if (parts.length === 0) return sql<SqlBool>`1 = 1`;
  return sql<SqlBool>`(${sql.join([...parts], join === 'AND' ? sql` and ` : sql` or `)})`;
}

function questionTruth(words: EngineSql, source: AssetSource, question: Question): Truth {
  switch (question.ask) {
    case 'any':
      return passes(words, source, question.test);
    case 'none':
      // A field without a value fails every test; an unknown result counts as false.
      return sql<SqlBool>`not coalesce(${passes(words, source, question.test)}, false)`;
    case 'each':
      return joined(
        'AND',
        question.tests.map((test) => passes(words, source, test)),
      );
    case 'present':
      return isSet(source);
    case 'absent':
      // Unknown for a device whose key is null, which has no row.
      return sql<SqlBool>`not coalesce(${isSet(source)}, false)`;
  }
}

function passes(words: EngineSql, source: AssetSource, test: ValueTest): Truth {
  if ('value' in source) return testTruth(words, source.value, test);
  return sql<SqlBool>`${source.key} in (${source.rows((value) => testTruth(words, value, test))})`;
}

function isSet(source: AssetSource): Truth {
  if ('value' in source) return sql<SqlBool>`${source.value} is not null`;
  return sql<SqlBool>`${source.key} in (${source.rows((value) => sql`${value} is not null`)})`;
}

function testTruth({ comparable }: EngineSql, value: Value, test: ValueTest): Truth {
  const parameter = (given: string | number): Value =>
    typeof given === 'number' ? comparable(given) : sql`${given}`;
  switch (test.test) {
    case 'oneOf': {
      const [first, ...others] = test.values.map(parameter);
      // One value is compared by `=`, so that an index on it also gives the order.
      if (others.length === 0) return sql<SqlBool>`${value} = ${first}`;
      return sql<SqlBool>`${value} in (${sql.join([first, ...others])})`;
    }
    case 'between':
      return sql<SqlBool>`${value} between ${parameter(test.least)} and ${parameter(test.greatest)}`;
    case 'contains':
      return like(value, `%${escaped(test.text)}%`);
    case 'startsWith':
      return like(value, `${escaped(test.text)}%`);
    case 'endsWith':
      return like(value, `%${escaped(test.text)}`);
    default:
      return sql<SqlBool>`${value} ${sql.raw(comparisons[test.test])} ${parameter(test.value)}`;
  }
}

function like(value: Value, pattern: string): Truth {
  return sql<SqlBool>`${value} like ${pattern} escape '!'`;
}

function escaped(text: string): string {
  return text.replace(/[!%_]/g, '!$&');
}

function customFieldTruth(
  words: EngineSql,
  fields: readonly CustomFieldQuestion[],
  inverse: boolean,
): Truth {
  const rows = fields.map(
    ({ metaId, question }) =>
      sql`select ${sql.ref('deviceId')} from ${sql.table('deviceCustomFields')} where ${sql.ref('metaId')} = ${metaId} and ${ownTruth(words, question)}`,
  );
  const membership = rows.map((each) => sql<SqlBool>`${sql.ref('devices.id')} in (${each})`);
  if (!inverse) return joined('OR', membership);
  const absences = membership.map((each) => sql<SqlBool>`not (${each})`);
  return joined('AND', absences);
}

/**
 * What a row of the field must be like to count, for the inverse predicates what it must not be
 * like.
 */
function ownTruth(words: EngineSql, question: Question): Value {
  if (question.ask === 'present' || question.ask === 'absent') return sql`1 = 1`;
  const [test] = 'tests' in question ? question.tests : [question.test];
  if (test === undefined) return sql`1 = 1`;
  return testTruth(words, sql.ref(isNumeric(test) ? 'numberKey' : 'textKey'), test);
}

function isNumeric(test: ValueTest): boolean {
  if ('text' in test) return false;
  if ('values' in test) return typeof test.values[0] === 'number';
  if ('least' in test) return typeof test.least === 'number';
  return typeof test.value === 'number';
}

const lastUplink = 'uplinkMetrics.timestamp';

const deviceSortColumns = {
  ...Object.fromEntries(deviceFieldsWith('sortable').map((row) => [row.wireName, row.property])),
  ...sortColumns,
  workspaceId: 'workspaceId',
  dataFlowId: 'dataFlowId',
  [lastUplink]: 'deviceStatus.lastUplinkAt',
};

/** More devices of a tag or of places are found by walking the list than by sorting them. */
const collectedMax = 5_000;

/** `now` decides who is online. */
export async function listDevices(
  { db, elsewhere, sealer, lists }: Records,
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
    .where(isWanted(searched, await walkedFilter(searched, filter, total), now));
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

interface WalkedFilter extends DeviceFilter {
  /** Asked of each device in turn, in the order of the list. */
  readonly walkedTag?: string;
  readonly walkedPlaceIds?: readonly string[];
}

/** A tag or places of many devices are asked of each device, so that the list is read in its order. */
async function walkedFilter(db: RecordsDb, filter: DeviceFilter, total = 0): Promise<WalkedFilter> {
  const tagId = total > collectedMax ? tagOf(filter) : undefined;
  if (tagId !== undefined)
    return { ...filter, tagIds: undefined, condition: undefined, walkedTag: tagId };
  const { placeIds } = filter;
  if (placeIds === undefined || !(await haveManyDevices(db, placeIds))) return filter;
  return { ...filter, placeIds: undefined, walkedPlaceIds: placeIds };
}

/** Whether more than `collectedMax` devices are at or below the places. */
async function haveManyDevices(db: RecordsDb, placeIds: readonly string[]): Promise<boolean> {
  const rows = await db
    .selectFrom('devices')
    .select('id')
    .where(isAtPlaces(placeIds))
    .limit(1)
    .offset(collectedMax)
    .execute();
  return rows.length > 0;
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

function isWanted(db: RecordsDb, filter: WalkedFilter, now: number): Expression<SqlBool> {
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
    ifGiven(filter.walkedTag, hasTag),
    ifGiven(filter.placeIds, isAmongPlaced),
    ifGiven(filter.walkedPlaceIds, isAtPlaces),
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

/**
 * The devices of the places by their index. Asked of each device, as `isAtPlaces` does, the planner
 * of SQLite reads all devices of the workspace in the order of the list, because it takes them for few.
 */
function isAmongPlaced(placeIds: readonly string[]) {
  const rows = sql`select ${sql.ref('placed.id')} from ${sql.table('devices')} as ${sql.table('placed')} where ${isAtPlaces(placeIds, 'placed')}`;
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
  { db, sealer }: SealedDb,
  page: Rows<{ readonly id: string }>,
): Promise<Rows<Device>> {
  const ids = page.rows.map((row) => row.id);
  if (ids.length === 0) return { rows: [], total: page.total };
  const found = await db.selectFrom('devices').selectAll().where('id', 'in', ids).execute();
  const rows = new Map(found.map((row) => [row.id, row]));
  const ordered = ids.flatMap((id) => rows.get(id) ?? []);
  return { rows: ordered.map((row) => deviceFromRow(row, sealer)), total: page.total };
}

// Devices by last uplink: one page of their ids, without reading the devices that sent.

type Id = { readonly id: string };

/** Devices of the workspaces in the order of `sort`; without an uplink is before any other time. */
async function devicesByLastUplink(
  db: RecordsDb,
  workspaceIds: readonly string[],
  { page, size }: PageRequest,
  direction: 'asc' | 'desc',
): Promise<Rows<Id>> {
  const { devices, heard } = await deviceCounts(db, workspaceIds);
  const [before, after] = [page * size, (page + 1) * size];
  const parts =
    direction === 'desc'
      ? [
          { count: heard, read: readHeard },
          { count: devices - heard, read: readUnheard },
        ]
      : [
          { count: devices - heard, read: readUnheard },
          { count: heard, read: readHeard },
        ];
  const rows: Id[] = [];
  let start = 0;
  for (const { count, read } of parts) {
    const from = Math.max(before, start) - start;
    const to = Math.min(after, start + count) - start;
    if (from < to) rows.push(...(await read(to - from, from)));
    start += count;
  }
  return { rows, total: devices };

  function readHeard(limit: number, offset: number): Promise<Id[]> {
    return db
      .selectFrom('deviceStatus')
      .select('deviceId as id')
      .where(isOneOf('deviceStatus.workspaceId', workspaceIds))
      .orderBy('lastUplinkAt', direction)
      .orderBy('deviceId')
      .limit(limit)
      .offset(offset)
      .execute();
  }

  function readUnheard(limit: number, offset: number): Promise<Id[]> {
    return db
      .selectFrom('devices')
      .select('id')
      .where(isOneOf('devices.workspaceId', workspaceIds))
      .where(
        sql<boolean>`not exists (select 1 from "deviceStatus" where "deviceStatus"."deviceId" = "devices"."id")`,
      )
      .orderBy('id')
      .limit(limit)
      .offset(offset)
      .execute();
  }
}
