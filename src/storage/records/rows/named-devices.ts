// Devices of an organization by names that are service ids or physical ids.
import type { RecordsDb } from '../records.ts';

/** Below the number of parameters that any engine permits. */
const namesPerStatement = 500;

export interface DevicePlace {
  /** Service device id. */
  readonly id: string;
  readonly workspaceId: string;
}

/**
 * The named devices of the organization. A name that is the service id of one device and the
 * physical id of another means the first.
 */
export async function placesByName(
  db: RecordsDb,
  organizationId: string,
  names: readonly string[],
): Promise<Map<string, DevicePlace>> {
  const found = new Map<string, DevicePlace>();
  for (let from = 0; from < names.length; from += namesPerStatement) {
    const some = names.slice(from, from + namesPerStatement);
    const columns = db
      .selectFrom('devices')
      .select(['id', 'deviceId', 'organizationId', 'workspaceId']);
    const physical = columns
      .where('organizationId', '=', organizationId)
      .where('deviceId', 'in', some);
    for (const { id, deviceId, workspaceId } of await physical.execute())
      found.set(deviceId, { id, workspaceId });
    for (const row of await columns.where('id', 'in', some).execute())
      if (row.organizationId === organizationId)
        found.set(row.id, { id: row.id, workspaceId: row.workspaceId });
  }
  return found;
}
