// Sample recalculations: accepted with one item a device of a type, and told in the audit log (contract 38).
import { type Actor, holds, type Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { SampleRecalculation } from '../../model/sample-changes.ts';
import { formatInstantOrNull } from '../../model/instant.ts';
import type { Records } from '../../storage/records/records.ts';
import { findDevicesOfType, placesOfDevices } from '../../storage/records/rows/devices.ts';
import { acceptOperation, operationLimits } from './operations.ts';
import { auditSamples } from './sample-deletion.ts';

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
  const places = await placesOfDevices(records.db, named);
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
  const all = await findDevicesOfType(records.db, organizationId, deviceTypeId, max, asked);
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
