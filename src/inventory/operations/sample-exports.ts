// Sample exports: accepted as an operation, listed, read and deleted.
import type { SampleExportBody } from '../../contract/operations.ts';
import { newId } from '../../model/ids.ts';
import { type EpochMs, formatInstant, formatInstantOrNull } from '../../model/instant.ts';
import { parseBound } from '../../model/timestamp.ts';
import {
  exportFileName,
  type Operation,
  type SampleExport,
  sampleExportLimits,
  type SampleExportPlan,
} from '../../model/operation.ts';
import { pageOf, type PageRequest } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import { findDeviceIds } from '../../storage/records/rows/device-lists.ts';
import { operationRows, sampleExportRows } from '../../storage/records/rows/operations.ts';
import { tagRows } from '../../storage/records/rows/tags.ts';
import { Assets } from '../devices/assets.ts';
import { listReach, type ListScope } from '../list-scope.ts';
import { change, found } from '../record-crud.ts';

/** An export with its progress. Times are ISO-8601. */
function view(record: SampleExport, operation: Operation) {
  const { id, workspaceId, state, plan, samples, bytes, unreadable, error, errorCode } = record;
  const { creator, started, completed, total, done } = operation;
  return {
    id,
    workspaceId,
    creator,
    state,
    format: plan.format,
    fileName: exportFileName(plan.format),
    from: formatInstantOrNull(plan.from),
    to: formatInstant(plan.to),
    topics: plan.topics,
    keys: plan.keys,
    tagIds: plan.tagIds,
    devices: total,
    devicesDone: done,
    samples,
    bytes,
    incomplete: unreadable > 0,
    errorCode,
    error,
    started: formatInstant(started),
    completed: formatInstantOrNull(completed),
    expires: formatInstantOrNull(record.expires),
  };
}

/**
 * Durable when it returns; the file is written later. Throws 400 for a device or tag that is not in
 * the workspace, and 409 when the organization has too many exports.
 */
export async function createSampleExport(
  records: Records,
  principal: Principal,
  draft: SampleExportBody,
  node: string,
) {
  const { organizationId } = principal;
  const { workspaceId } = draft;
  const plan = await planOf(records, principal, draft);
  const operation: Operation = {
    id: newId('operation'),
    organizationId,
    workspaceId,
    creator: principal.id,
    type: 'DATA_EXPORT',
    plan: { work: 'export' },
    started: records.now(),
    completed: null,
    total: await sampleExportRows.countDevices(records.db, { workspaceId, ...plan }),
    done: 0,
    failed: 0,
  };
  const record: SampleExport = {
    id: operation.id,
    organizationId,
    workspaceId,
    node,
    state: 'RUNNING',
    plan,
    samples: 0,
    bytes: 0,
    unreadable: 0,
    errorCode: null,
    error: null,
    expires: null,
  };
  await change(records, async (step) => {
    const max = sampleExportLimits.perOrganizationMax;
    if ((await sampleExportRows.count(step.db, organizationId)) >= max)
      throw problem('tooManyExports', { max });
    await operationRows.insertWithActions(step.db, operation, []);
    await sampleExportRows.insert(step.db, record);
    step.announce({ kind: 'operation', id: operation.id, action: 'created' });
  });
  return view(record, operation);
}

async function planOf(
  records: Records,
  principal: Principal,
  draft: SampleExportBody,
): Promise<SampleExportPlan> {
  const { from, to, topics, keys } = draft;
  const begin: EpochMs | null = typeof from === 'string' ? parseBound('from', from) : null;
  const now = records.now();
  const end = typeof to === 'string' ? Math.min(parseBound('to', to), now) : now;
  if (begin !== null && begin >= end) {
    const reason = `from (${formatInstant(begin)}) must be before to (${formatInstant(end)})`;
    throw problem('badInterval', { reason });
  }
  return {
    format: draft.format ?? 'parquet',
    from: begin,
    to: end,
    topics: uniqueOrNull(topics),
    keys: uniqueOrNull(keys),
    deviceIds: await devicesOf(records, principal, draft),
    tagIds: await tagsOf(records, draft),
  };
}

/** An empty list is an error of the client, because it would export everything. */
function uniqueOrNull(sent: readonly string[] | null | undefined): string[] | null {
  return sent ? [...new Set(sent)] : null;
}

async function devicesOf(
  records: Records,
  principal: Principal,
  { workspaceId, deviceIds, search, expression }: SampleExportBody,
): Promise<readonly string[] | null> {
  const { devicesMax } = sampleExportLimits;
  if (deviceIds) {
    const named = [...new Set(deviceIds)].sort();
    const selection = { workspaceId, deviceIds: named, tagIds: null };
    if ((await sampleExportRows.countDevices(records.db, selection)) === named.length) return named;
    const id = await firstUnknown(records, workspaceId, named);
    const field = 'body deviceIds';
    throw problem('unknownReference', { field, what: 'device', id, place: 'workspace' });
  }
  if (!search && (expression === undefined || expression === null)) return null;
  const scope = { workspaceIds: [workspaceId], search: search ?? undefined, expression };
  const filter = await new Assets(records).filterOf(principal, scope);
  const db = records.elsewhere(filter.organizationId);
  const ids = await findDeviceIds(db, filter, devicesMax + 1, records.now());
  if (ids.length <= devicesMax) return ids.toSorted();
  const reason = `body expression: matches more than ${devicesMax} devices; export by tag or workspace instead`;
  throw problem('invalidRequest', { reason });
}

async function firstUnknown(
  records: Records,
  workspaceId: string,
  named: readonly string[],
): Promise<string> {
  for (const id of named) {
    const selection = { workspaceId, deviceIds: [id], tagIds: null };
    if ((await sampleExportRows.countDevices(records.db, selection)) === 0) return id;
  }
  return '';
}

async function tagsOf(
  records: Records,
  { workspaceId, tagIds }: SampleExportBody,
): Promise<readonly string[] | null> {
  const named = uniqueOrNull(tagIds);
  if (named === null) return null;
  const tags = await tagRows.findAll(records.db, named);
  const isOwn = (id: string) =>
    tags.some((tag) => tag.id === id && tag.workspaceId === workspaceId);
  const id = named.find((each) => !isOwn(each));
  if (id === undefined) return named;
  const field = 'body tagIds';
  throw problem('unknownReference', { field, what: 'tag', id, place: 'workspace' });
}

/** Newest first. */
export async function listSampleExports(
  records: Records,
  principal: Principal,
  scope: ListScope,
  page: PageRequest,
) {
  const reach = await listReach(records, principal, scope);
  const { rows, total } = await sampleExportRows.list(records.db, reach, page);
  const views = [];
  for (const row of rows) views.push(view(row, await operationOf(records, row.id)));
  return pageOf(views, total, page);
}

/** Throws Problem `notFound`. */
export async function readSampleExport(records: Records, id: string) {
  return view(await findExport(records, id), await operationOf(records, id));
}

/** The record of an export, for its file. Throws Problem `notFound`. */
export async function findExport(records: Records, id: string): Promise<SampleExport> {
  return found(await sampleExportRows.find(records.db, id), 'export', id);
}

async function operationOf(records: Records, id: string): Promise<Operation> {
  return found(await operationRows.find(records.db, id), 'export', id);
}

/** Deletes the record, which ends an export that runs. Its operation stays, as failed if it ran. */
export async function deleteSampleExport(records: Records, id: string): Promise<void> {
  await change(records, async (step) => {
    found(await sampleExportRows.find(step.db, id), 'export', id);
    const operation = await operationOf(step, id);
    await sampleExportRows.remove(step.db, id);
    if (operation.completed !== null) return;
    const failed = Math.max(1, operation.total - operation.done);
    await operationRows.saveProgress(step.db, { ...operation, failed, completed: step.now() });
  });
}
