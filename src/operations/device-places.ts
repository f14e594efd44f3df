// Places of devices, tags and places of the tree: the workspace in which a request needs its permission.
import { placeInWorkspace, placeOf } from '../inventory/record-crud.ts';
import type { UplinkRoute, UplinkRouteCache } from '../inventory/devices/uplink-route-cache.ts';
import type { JsonObject } from '../model/json.ts';
import { problem } from '../model/problem.ts';
import type { Place } from '../model/record.ts';
import type { OpenRecords } from '../storage/records/records.ts';
import { placeRows } from '../storage/records/rows/places.ts';
import { tagRows } from '../storage/records/rows/tags.ts';

function placeOfRoute({ device }: UplinkRoute): Place {
  const { id, organizationId, workspaceId } = device;
  return { organizationId, workspaceId, what: 'device', id };
}

const groupsMax = 1_000;
const groupedDevicesMax = 20_000;

/** Where devices are, for requests that need their workspace. */
export function createDevicePlaces(directory: UplinkRouteCache, records: OpenRecords) {
  const placeOfTag = (tagId: string): Promise<Place> => placeOf(records, 'tag', tagId);
  const ownerOfPlace = (placeId: string): Promise<Place> => placeOf(records, 'place', placeId);
  return {
    /** Throws Problem 404. */
    placeOfDevice: (deviceId: string): Place | Promise<Place> => {
      const route = directory.byDevice(deviceId);
      return route instanceof Promise ? route.then(placeOfRoute) : placeOfRoute(route);
    },
    /** Custom field name to value. Throws Problem 404. */
    fieldsOfDevice: (deviceId: string): JsonObject | Promise<JsonObject> => {
      const route = directory.byDevice(deviceId);
      return route instanceof Promise
        ? route.then(({ customFields }) => customFields)
        : route.customFields;
    },
    /** Throws Problem 404. */
    placeOfTag,
    /** Throws Problem 404. */
    ownerOfPlace,
    /** At the place and below it. Throws Problem 404. */
    devicesOfPlace: async (placeId: string) => {
      const { organizationId } = await ownerOfPlace(placeId);
      return placeRows.devicesOf(records.elsewhere(organizationId ?? ''), placeId);
    },
    /** Throws Problem 404. */
    ownerOfWorkspace: (workspaceId: string): Promise<Place> =>
      placeInWorkspace(records, workspaceId),
    /** Throws Problem 404. The statement takes turns with those of other organizations. */
    devicesOfTag: async (tagId: string) => {
      const { organizationId } = await placeOfTag(tagId);
      return tagRows.devicesOf(records.elsewhere(organizationId ?? ''), tagId);
    },
    /** Devices at and below each of the places; see `DeviceAccess.devicesByPlace`. */
    devicesByPlace: async (
      workspaceId: string,
      of: { readonly parentId: string | null } | { readonly placeIds: readonly string[] },
    ): Promise<ReadonlyMap<string, readonly string[]>> => {
      const { organizationId } = await placeInWorkspace(records, workspaceId);
      const db = records.elsewhere(organizationId ?? '');
      const ids =
        'placeIds' in of
          ? await ownOf(db, workspaceId, of.placeIds)
          : await placeRows.childrenOf(db, workspaceId, of.parentId, groupsMax + 1);
      if (ids.length > groupsMax)
        throw problem('invalidRequest', {
          reason: `body parentId: has more than ${groupsMax} places directly below; name some in placeIds`,
        });
      const groups = new Map<string, string[]>(ids.map((id) => [id, []]));
      const pairs = await placeRows.devicesByPlace(db, ids, groupedDevicesMax + 1);
      if (pairs.length > groupedDevicesMax)
        throw problem('invalidRequest', {
          reason: `body: the places have more than ${groupedDevicesMax} devices at and below them`,
        });
      for (const { placeId, deviceId } of pairs) groups.get(placeId)?.push(deviceId);
      return groups;
    },
  };
}

/** Those of the ids that are places of the workspace, each once. */
async function ownOf(
  db: OpenRecords['db'],
  workspaceId: string,
  ids: readonly string[],
): Promise<string[]> {
  const known = await placeRows.byId(db, [...new Set(ids)]);
  return [...new Set(ids)].filter((id) => known.get(id)?.workspaceId === workspaceId);
}
