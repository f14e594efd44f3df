// Sample exports in the records store, and the devices whose samples an export reads.
import { type Selectable, sql } from 'kysely';
import type {
  SampleExport,
  SampleExportPlan,
  SampleExportState,
} from '../../../model/sample-export.ts';
import type { PageRequest } from '../../../model/page.ts';
import { fromJsonText, isOneOf, toJsonText } from '../columns.ts';
import { pageOfRows, type Rows, type WorkspaceFilter } from '../list.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';

function fromRow(row: Selectable<RecordTables['sampleExports']>): SampleExport {
  return {
    ...row,
    state: row.state as SampleExportState,
    plan: fromJsonText<SampleExportPlan>(row.plan),
  };
}

export async function insertSampleExport(step: RecordsDb, record: SampleExport): Promise<void> {
  const row = { ...record, plan: toJsonText(record.plan) };
  await step.insertInto('sampleExports').values(row).execute();
}

export async function findSampleExport(
  db: RecordsDb,
  id: string,
): Promise<SampleExport | undefined> {
  const query = db.selectFrom('sampleExports').selectAll().where('id', '=', id);
  const row = await query.executeTakeFirst();
  return row && fromRow(row);
}

/** Newest first. */
export async function listSampleExports(
  db: RecordsDb,
  filter: Omit<WorkspaceFilter, 'search'>,
  page: PageRequest,
): Promise<Rows<SampleExport>> {
  let query = db
    .selectFrom('sampleExports')
    .innerJoin('operations', 'operations.id', 'sampleExports.id')
    .selectAll('sampleExports')
    .where('sampleExports.organizationId', '=', filter.organizationId);
  if (filter.workspaceIds !== undefined)
    query = query.where(isOneOf('sampleExports.workspaceId', filter.workspaceIds));
  const { rows, total } = await pageOfRows(query, page, {
    columns: { started: 'operations.started' },
    defaultSort: [{ field: 'started', direction: 'desc' }],
    table: 'sampleExports',
  });
  return { rows: rows.map(fromRow), total };
}

export async function countSampleExports(db: RecordsDb, organizationId: string): Promise<number> {
  const query = db.selectFrom('sampleExports').select((eb) => eb.fn.countAll<number>().as('count'));
  const row = await query.where('organizationId', '=', organizationId).executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Files on the disk of the node, those that end first in front. */
export async function filesOfSampleExports(
  db: RecordsDb,
  node: string,
): Promise<readonly Pick<SampleExport, 'id' | 'organizationId' | 'bytes'>[]> {
  const query = db.selectFrom('sampleExports').select(['id', 'organizationId', 'bytes']);
  const rows = await query
    .where('node', '=', node)
    .where('bytes', '>', 0)
    .orderBy(sql`coalesce("expires", ${Number.MAX_SAFE_INTEGER})`)
    .orderBy('id')
    .execute();
  return rows.map((row) => ({ ...row, bytes: Number(row.bytes) }));
}

export async function saveSampleExport(
  step: RecordsDb,
  { id, plan: _, organizationId: __, workspaceId: ___, ...changed }: SampleExport,
): Promise<void> {
  await step.updateTable('sampleExports').set(changed).where('id', '=', id).execute();
}

export async function removeSampleExport(step: RecordsDb, id: string): Promise<void> {
  await step.deleteFrom('sampleExports').where('id', '=', id).execute();
}

/** Ids of those that expired. */
export async function expiredSampleExports(db: RecordsDb, now: number): Promise<string[]> {
  const query = db.selectFrom('sampleExports').select('id').where('expires', '<=', now);
  return (await query.execute()).map(({ id }) => id);
}

/** Those that the node's disk has files of. */
export async function sampleExportsOfNode(db: RecordsDb, node: string): Promise<string[]> {
  const query = db.selectFrom('sampleExports').select('id').where('node', '=', node);
  return (await query.execute()).map(({ id }) => id);
}

export interface ExportedDevice {
  readonly id: string;
  readonly name: string;
}

export interface ExportedDevices {
  readonly workspaceId: string;
  readonly deviceIds: readonly string[] | null;
  readonly tagIds: readonly string[] | null;
}

/** Devices of one query. */
const devicesPerPage = 200;

/**
 * The next devices in order of id, behind one or from one on. `through` is the last id that was
 * looked for: of named devices, those that were deleted or moved to another workspace are omitted.
 */
export async function nextExportedDevices(
  db: RecordsDb,
  { workspaceId, deviceIds, tagIds }: ExportedDevices,
  start: { readonly id: string; readonly isIncluded: boolean },
): Promise<{
  readonly devices: readonly ExportedDevice[];
  readonly through: string;
  readonly isLast: boolean;
}> {
  const query = devicesOf(db, workspaceId).select(['devices.id', 'devices.name']);
  if (deviceIds !== null) {
    const isNext = (id: string) => id > start.id || (start.isIncluded && id === start.id);
    const next = deviceIds.filter(isNext).slice(0, devicesPerPage);
    const devices = await query.where(isOneOf('devices.id', next)).orderBy('devices.id').execute();
    return { devices, through: next.at(-1) ?? start.id, isLast: next.length < devicesPerPage };
  }
  const found = tagIds === null ? query : query.where(hasTag(tagIds));
  const devices = await found
    .where('devices.id', start.isIncluded ? '>=' : '>', start.id)
    .orderBy('devices.id')
    .limit(devicesPerPage)
    .execute();
  const through = devices.at(-1)?.id ?? start.id;
  return { devices, through, isLast: devices.length < devicesPerPage };
}

/** How many devices there are now. */
export async function countExportedDevices(
  db: RecordsDb,
  { workspaceId, deviceIds, tagIds }: ExportedDevices,
): Promise<number> {
  const query = devicesOf(db, workspaceId).select((eb) => eb.fn.countAll<number>().as('count'));
  if (deviceIds === null) {
    const found = tagIds === null ? query : query.where(hasTag(tagIds));
    return Number((await found.executeTakeFirstOrThrow()).count);
  }
  let count = 0;
  for (let from = 0; from < deviceIds.length; from += devicesPerPage) {
    const named = isOneOf('devices.id', deviceIds.slice(from, from + devicesPerPage));
    count += Number((await query.where(named).executeTakeFirstOrThrow()).count);
  }
  return count;
}

function devicesOf(db: RecordsDb, workspaceId: string) {
  return db.selectFrom('devices').where('devices.workspaceId', '=', workspaceId);
}

function hasTag(tagIds: readonly string[]) {
  const tagged = sql`select ${sql.ref('deviceId')} from ${sql.table('deviceTags')} where ${isOneOf('tagId', tagIds)}`;
  return sql<boolean>`${sql.ref('devices.id')} in (${tagged})`;
}
