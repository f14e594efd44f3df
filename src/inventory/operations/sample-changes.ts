// Deletions and recalculations of samples: accepted with one item a device, and told in the audit log (contract 38).
import { type Actor, holds, type Principal } from '../../model/principal.ts';
import type { FieldChange } from '../../model/record.ts';
import { formatInstantOrNull, parseInstant } from '../../model/instant.ts';
import { problem } from '../../model/problem.ts';
import type { SampleDeletion, SampleRecalculation } from '../../model/sample-changes.ts';
import type { Records } from '../../storage/records/records.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { findDeviceIds } from '../../storage/records/rows/device-lists.ts';
import { auditEntry } from '../audit/audit.ts';
import { Assets } from '../devices/assets.ts';
import { listSampleExports } from './sample-exports.ts';
import { change, found } from '../record-crud.ts';
import { type BulkSelection, refuseMixed } from './bulk.ts';
import { acceptOperation, operationLimits } from './operations.ts';

/** Exports that are looked through. */
const exportsMax = 100;

/** The selected devices of the workspace. Throws 404 for a named one that is not there. */
export async function devicesToDeleteFrom(
  records: Records,
  principal: Principal,
  selection: BulkSelection & { readonly tagId?: string | null | undefined },
): Promise<readonly string[]> {
  const { workspaceId, deviceIds, tagId, search, expression } = selection;
  refuseMixed(selection);
  if (deviceIds !== undefined && deviceIds !== null) {
    const named = [...new Set(deviceIds)];
    const places = await deviceRows.placesOf(records.db, named);
    const missing = named.find((id) => places.get(id)?.workspaceId !== workspaceId);
    if (missing !== undefined) throw problem('notFound', { what: 'device', id: missing });
    return named;
  }
  const hasTag = tagId !== undefined && tagId !== null;
  if (!hasTag && (expression === undefined || expression === null))
    throw problem('invalidRequest', { reason: 'body: set deviceIds, tagId, or expression' });
  const filter = await new Assets(records).filterOf(principal, {
    workspaceIds: [workspaceId],
    search: search ?? undefined,
    expression: expression ?? undefined,
    ...(hasTag && { tagIds: [tagId] }),
  });
  const max = operationLimits.itemsMax + 1;
  return findDeviceIds(records.elsewhere(filter.organizationId), filter, max, records.now());
}

/** Durable when it returns. */
export function acceptSampleDeletion(
  records: Records,
  principal: Principal,
  { workspaceId, deletion }: { readonly workspaceId: string; readonly deletion: SampleDeletion },
  deviceIds: readonly string[],
) {
  const plan = { work: 'deleteSamples', ...deletion } as const;
  const items = deviceIds.map((id) => ({ type: 'DATA_DELETE', name: id, input: { id } }) as const);
  return acceptOperation(records, principal, { workspaceId, type: 'DATA_DELETE', plan }, items);
}

/** Complete exports of the workspace that may have samples of the range. */
export async function exportsWith(
  records: Records,
  principal: Principal,
  workspaceId: string,
  { topics, from, to }: SampleDeletion,
) {
  const page = { page: 0, size: exportsMax, sort: [] };
  const scope = { workspaceIds: [workspaceId] };
  const { content } = await listSampleExports(records, principal, scope, page);
  return content
    .filter((one) => {
      const oldest = one.from === null ? -Infinity : (parseInstant(one.from) ?? -Infinity);
      const newest = parseInstant(one.to) ?? Infinity;
      const hasTopic = topics === null || one.topics?.some((topic) => topics.includes(topic));
      const isIn = oldest < (to ?? Infinity) && newest > (from ?? -Infinity);
      return one.state === 'COMPLETE' && isIn && hasTopic !== false;
    })
    .map(({ id, format, fileName, started, expires }) => ({
      id,
      format,
      fileName,
      started,
      expires,
    }));
}

/** Logs what was deleted of a device. */
export async function auditDeletion(
  records: Records,
  actor: Actor,
  deviceId: string,
  {
    topics,
    from,
    to,
    keys,
    reason,
    samples,
    rawUplinks,
  }: Omit<SampleDeletion, 'rawUplinks'> & {
    readonly samples: number;
    /** Null when none were asked for. */
    readonly rawUplinks: number | null;
  },
): Promise<void> {
  const after = {
    topics,
    from: formatInstantOrNull(from),
    to: formatInstantOrNull(to),
    keys,
    samples,
    rawUplinks,
    reason,
  };
  await auditSamples(records, actor, deviceId, 'DELETE', after);
}

/** Logs a correction in the name of the request. */
export async function auditCorrection(
  records: Records,
  deviceId: string,
  { corrected, reason }: { readonly corrected: number; readonly reason: string | null },
): Promise<void> {
  const actor = records.actor();
  if (actor === undefined) return;
  await change(records, (step) =>
    auditSamples(step, actor, deviceId, 'UPDATE', { samples: corrected, reason }),
  );
}

/** Logs a change of samples of the device. */
async function auditSamples(
  records: Records,
  actor: Actor,
  deviceId: string,
  action: 'UPDATE' | 'DELETE',
  after: Readonly<Record<string, FieldChange['after']>>,
): Promise<void> {
  const device = found(await deviceRows.find(records, deviceId), 'device', deviceId);
  const { organizationId, workspaceId, name } = device;
  await auditEntry(records, actor, {
    organizationId,
    workspaceId,
    action,
    resourceType: 'SAMPLES',
    resourceId: deviceId,
    resourceName: name,
    changes: Object.entries(after).flatMap(([field, value]) =>
      value === null || value === undefined ? [] : [{ field, after: value }],
    ),
  });
}

// Sample recalculations: accepted with one item a device of a type, and told in the audit log (contract 38).

interface DevicesOfWorkspace {
  readonly workspaceId: string;
  readonly deviceIds: readonly string[];
}

/**
 * The named devices, or those of the type in reach for `asset` `update` and `delete`. Throws 404 for a named one that is
 * not there, and 400 for devices of several workspaces, because an operation is of one.
 */
export async function devicesToRecalculate(
  records: Records,
  principal: Principal,
  deviceTypeId: string,
  asked: { readonly deviceIds: readonly string[]; readonly workspaceId: string | undefined },
): Promise<DevicesOfWorkspace> {
  const found =
    asked.deviceIds.length > 0
      ? await namedDevices(records, asked.deviceIds, asked.workspaceId)
      : await devicesInReach(records, principal, deviceTypeId, asked.workspaceId);
  const workspaceIds = [...new Set(found.map(({ workspaceId }) => workspaceId))];
  const [workspaceId = asked.workspaceId ?? '', ...others] = workspaceIds;
  if (others.length > 0)
    throw problem('invalidRequest', {
      reason: `body: set workspaceId, because the devices are in ${workspaceIds.length} workspaces`,
    });
  return { workspaceId, deviceIds: found.map(({ id }) => id) };
}

async function namedDevices(
  records: Records,
  deviceIds: readonly string[],
  asked: string | undefined,
) {
  const named = [...new Set(deviceIds)];
  const places = await deviceRows.placesOf(records.db, named);
  return named.map((id) => {
    const workspaceId = places.get(id)?.workspaceId;
    if (workspaceId === undefined || (asked !== undefined && workspaceId !== asked))
      throw problem('notFound', { what: 'device', id });
    return { id, workspaceId };
  });
}

async function devicesInReach(
  records: Records,
  principal: Principal,
  deviceTypeId: string,
  asked: string | undefined,
) {
  const { organizationId, workspaces } = principal;
  const max = operationLimits.itemsMax + 1;
  const all = await deviceRows.ofType(records.db, organizationId, deviceTypeId, max, asked);
  return all.filter(
    ({ workspaceId }) =>
      (workspaces === 'all' || workspaces.has(workspaceId)) &&
      holds(principal, 'asset', 'update', workspaceId) &&
      holds(principal, 'asset', 'delete', workspaceId),
  );
}

/** Durable when it returns. */
export function acceptSampleRecalculation(
  records: Records,
  principal: Principal,
  recalculation: SampleRecalculation,
  { workspaceId, deviceIds }: DevicesOfWorkspace,
) {
  // What is received from now on is decoded and computed already.
  const to =
    recalculation.source === 'UPLINKS' ? (recalculation.to ?? records.now()) : recalculation.to;
  const plan = { work: 'recalculate', ...recalculation, to } as const;
  const items = deviceIds.map((id) => ({ type: 'UPDATE', name: id, input: { id } }) as const);
  const draft = { workspaceId, type: 'DATA_RECALCULATE', plan } as const;
  return acceptOperation(records, principal, draft, items);
}

/** Logs what was changed of a device. */
export async function auditRecalculation(
  records: Records,
  actor: Actor,
  deviceId: string,
  { deviceTypeId, source, from, to, samples }: SampleRecalculation & { readonly samples: number },
): Promise<void> {
  const times = { from: formatInstantOrNull(from), to: formatInstantOrNull(to) };
  const after = { recalculated: source, deviceTypeId, ...times, samples };
  await auditSamples(records, actor, deviceId, 'UPDATE', after);
}
