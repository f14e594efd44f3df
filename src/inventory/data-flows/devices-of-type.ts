// Devices of a device type that a principal may change, for tests of a decoder on all of them.
import { holds, type Principal } from '../../model/principal.ts';
import type { Records } from '../../storage/records/records.ts';
import { findDevicesOfType } from '../../storage/records/rows/devices.ts';

/** Of a type with more devices, the first by id are checked. */
const candidatesMax = 1_000;

/**
 * Service ids, at most `max`, of devices whose data flow has the type and that are in reach for
 * `asset` `update`.
 */
export async function devicesOfType(
  records: Records,
  principal: Principal,
  deviceTypeId: string,
  max: number,
): Promise<string[]> {
  const { organizationId, workspaces } = principal;
  const candidates = await findDevicesOfType(
    records.db,
    organizationId,
    deviceTypeId,
    candidatesMax,
  );
  const inReach = candidates.filter(
    ({ workspaceId }) =>
      (workspaces === 'all' || workspaces.has(workspaceId)) &&
      holds(principal, 'asset', 'update', workspaceId),
  );
  return inReach.slice(0, max).map(({ id }) => id);
}
