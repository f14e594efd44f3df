// Places of devices and tags: the workspace in which a request needs its permission.
import { placeOf } from '../inventory/resource-lookup.ts';
import type { UplinkRoute, UplinkRouteCache } from '../inventory/devices/uplink-route-cache.ts';
import type { JsonObject } from '../model/json.ts';
import type { Place } from '../model/record.ts';
import type { OpenRecords } from '../storage/records/records.ts';
import { devicesOfTag } from '../storage/records/rows/tags.ts';

export interface DevicePlaces {
  /** Throws Problem 404. */
  readonly placeOfDevice: (deviceId: string) => Place | Promise<Place>;
  /** Custom field name to value. Throws Problem 404. */
  readonly fieldsOfDevice: (deviceId: string) => JsonObject | Promise<JsonObject>;
  /** Throws Problem 404. */
  readonly placeOfTag: (tagId: string) => Promise<Place>;
  /** Throws Problem 404. The statement takes turns with those of other organizations. */
  readonly devicesOfTag: (tagId: string) => ReturnType<typeof devicesOfTag>;
}

function placeOfRoute({ device }: UplinkRoute): Place {
  const { id, organizationId, workspaceId } = device;
  return { organizationId, workspaceId, what: 'device', id };
}

export function createDevicePlaces(
  directory: Pick<UplinkRouteCache, 'byDevice'>,
  records: OpenRecords,
): DevicePlaces {
  const placeOfTag = (tagId: string) => placeOf(records, 'tag', tagId);
  return {
    placeOfTag,
    placeOfDevice(id) {
      const route = directory.byDevice(id);
      return route instanceof Promise ? route.then(placeOfRoute) : placeOfRoute(route);
    },
    fieldsOfDevice(id) {
      const route = directory.byDevice(id);
      return route instanceof Promise
        ? route.then(({ customFields }) => customFields)
        : route.customFields;
    },
    async devicesOfTag(tagId) {
      const { organizationId } = await placeOfTag(tagId);
      return devicesOfTag(records.elsewhere(organizationId ?? ''), tagId);
    },
  };
}
