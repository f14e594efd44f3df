// Named devices: those of a request's samples, by service or physical id, where its caller may write (contract 37).
import { deviceNameOf, deviceRefusal } from '../ingest/http/backfill-sample.ts';
import type { UplinkRoute, UplinkRouteCache } from '../inventory/devices/uplink-route-cache.ts';
import type { Json } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import { Problem } from '../model/problem.ts';
import type { Place } from '../model/resource-ref.ts';
import type { DevicePlace } from '../records/rows/named-devices.ts';
import { createBoundedMap } from '../structures/bounded-map.ts';
import { backfillDevice, type FoundDevice } from './backfill-batches.ts';

/** Names that a request keeps in memory. The oldest of more names are looked up again. */
const namesMax = 20_000;
/** No device has a longer physical id. */
const nameLengthMax = 256;

export interface NamedDeviceStages {
  readonly cached: UplinkRouteCache['cached'];
  /**
   * The devices of the organization by the service or physical ids that are known in it; the
   * service id wins.
   */
  readonly placesByName: (
    organizationId: string,
    names: readonly string[],
  ) => Promise<ReadonlyMap<string, DevicePlace>>;
  /** Throws Problem 404. */
  readonly findRoute: (deviceId: string) => UplinkRoute | Promise<UplinkRoute>;
  /**
   * Throws Problem 403 unless the principal has `asset` `update` in the place, 404 in another
   * organization.
   */
  readonly authorizeWrite: (principal: Principal, place: Place) => void;
  readonly newId: () => string;
}

/**
 * Returns a function that returns for each element its device, or why it is rejected. It reads the
 * records once for each device.
 */
export function createNamedDevices(principal: Principal, on: NamedDeviceStages) {
  const { organizationId } = principal;
  const known = createBoundedMap<string, FoundDevice>(namesMax);

  return async (elements: readonly Json[]): Promise<FoundDevice[]> => {
    const names = elements.map(deviceNameOf);
    // The names of this group stay here when the map evicts them.
    const found = new Map<string, FoundDevice>();
    const unknown: string[] = [];
    const reads: Promise<void>[] = [];
    for (const name of new Set(names)) {
      if (typeof name !== 'string') continue;
      const device = known.get(name) ?? cachedDevice(name);
      if (device === undefined) unknown.push(name);
      else if (device instanceof Promise)
        reads.push(device.then((read) => void found.set(name, read)));
      else found.set(name, device);
    }
    await Promise.all(reads);
    if (unknown.length > 0)
      for (const [name, device] of await searched(unknown)) found.set(name, device);
    for (const [name, device] of found) if (!known.has(name)) known.set(name, device);
    return names.map((name) => (typeof name === 'string' ? deviceIn(found, name) : name));
  };

  /** A promise only while the flow of the device is read. */
  function cachedDevice(name: string): FoundDevice | Promise<FoundDevice> | undefined {
    if (name.length > nameLengthMax) return deviceRefusal(name);
    const route = on.cached(organizationId, name);
    if (route instanceof Promise) return route.then((read) => writable(name, read));
    return route && writable(name, route);
  }

  /** All names together, so that the directory reads their devices by few statements. */
  async function searched(
    names: readonly string[],
  ): Promise<readonly (readonly [string, FoundDevice])[]> {
    const places = await on.placesByName(organizationId, names);
    return Promise.all(
      names.map(async (name) => {
        const place = places.get(name);
        return [name, place === undefined ? deviceRefusal(name) : await routed(name, place)];
      }),
    );
  }

  async function routed(name: string, { id, workspaceId }: DevicePlace): Promise<FoundDevice> {
    if (!mayWrite({ organizationId, workspaceId, what: 'device', id })) return deviceRefusal(name);
    try {
      return writable(name, await on.findRoute(id));
    } catch (error) {
      // It was deleted in between.
      if (error instanceof Problem && error.problem === 'notFound') return deviceRefusal(name);
      throw error;
    }
  }

  function writable(name: string, route: UplinkRoute): FoundDevice {
    const { id, organizationId: organization, workspaceId } = route.device;
    const place = { organizationId: organization, workspaceId, what: 'device', id };
    return mayWrite(place) ? backfillDevice(route, on.newId()) : deviceRefusal(name);
  }

  function mayWrite(place: Place): boolean {
    try {
      on.authorizeWrite(principal, place);
      return true;
    } catch (error) {
      if (error instanceof Problem && error.status < 500) return false;
      throw error;
    }
  }
}

function deviceIn(found: ReadonlyMap<string, FoundDevice>, name: string): FoundDevice {
  const device = found.get(name);
  if (device === undefined) throw new Error('A name of the group was not looked up');
  return device;
}
