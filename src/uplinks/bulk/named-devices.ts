// Named devices: those of a request's samples, by service or physical id, where its caller may write (contract 37).
import {
  deviceNameOf,
  deviceRefusal,
  isRefusal,
  type SampleRefusal,
} from '../../transports/http/backfill-sample.ts';
import type { SampleColumns } from '../../transports/http/sample-scanner.ts';
import type { UplinkRoute, UplinkRouteCache } from '../../inventory/devices/uplink-route-cache.ts';
import type { Json } from '../../model/json.ts';
import { isLongName } from '../../model/outside-name.ts';
import type { Principal } from '../../model/principal.ts';
import { Problem } from '../../model/problem.ts';
import type { Place } from '../../model/record.ts';
import type { DevicePlace } from '../../storage/records/rows/devices.ts';
import { missing } from '../../structures/missing.ts';
import { type BackfillDevice, backfillDevice, type FoundDevice } from './backfill-batches.ts';
import type { NamedRows } from './device-rows.ts';
import type { KnownDevices } from './connector-devices.ts';

/** Names that a request keeps in memory. With more of them, all are looked up again. */
const namesMax = 20_000;

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
  /** Shared by all requests. */
  readonly known: KnownDevices;
}

interface NamedDevices {
  readonly organizationId: string;
  /** For each element its device, or why it is rejected. */
  readonly ofElements: (elements: readonly Json[]) => Promise<readonly FoundDevice[]>;
  /** The same for samples in columns; undefined when they do not name devices. */
  readonly ofColumns: (samples: SampleColumns) => Promise<NamedRows | undefined>;
}

/** Those of one request: the records are read once for each device. */
export function createNamedDevices(principal: Principal, on: NamedDeviceStages): NamedDevices {
  const { organizationId } = principal;
  const known = new Map<string, FoundDevice>();
  const mayWriteTo = createWriteCheck(principal, on);

  /** The devices of the names of a group are known afterwards. */
  async function lookUp(names: readonly (string | SampleRefusal)[]): Promise<void> {
    const revision = on.known.revision();
    // A group has fewer names than are kept.
    if (known.size + names.length > namesMax) known.clear();
    const unknown = new Set<string>();
    const reads: Promise<void>[] = [];
    for (const name of names) {
      if (typeof name !== 'string' || known.has(name)) continue;
      const device = unknown.has(name) ? undefined : cachedDevice(name);
      if (device === undefined) unknown.add(name);
      else if (device instanceof Promise)
        reads.push(device.then((read) => void known.set(name, read)));
      else known.set(name, device);
    }
    await Promise.all(reads);
    if (unknown.size > 0)
      for (const [name, device] of await searched([...unknown])) known.set(name, device);
    for (const name of names) keep(name, revision);
  }

  /** For other requests. */
  function keep(name: string | SampleRefusal, revision: number): void {
    const device = typeof name === 'string' ? known.get(name) : undefined;
    if (typeof name !== 'string' || device === undefined || isRefusal(device)) return;
    on.known.set(name, device, revision);
  }

  function deviceOf(name: string | SampleRefusal): FoundDevice {
    return typeof name === 'string' ? (known.get(name) ?? missing('device')) : name;
  }

  async function ofElements(elements: readonly Json[]): Promise<FoundDevice[]> {
    const names = elements.map(deviceNameOf);
    await lookUp(names);
    return names.map(deviceOf);
  }

  async function ofColumns({ deviceIds, texts }: SampleColumns): Promise<NamedRows | undefined> {
    if (deviceIds === undefined) return undefined;
    // By the place of the name in `texts`, which has other strings too.
    const found: (FoundDevice | undefined)[] = Array.from({ length: texts.length });
    const unknown = new Set<number>();
    const kept = on.known.of(organizationId);
    for (const place of deviceIds) {
      if (found[place] !== undefined) continue;
      const name = texts[place] ?? missing('name');
      const device = isLongName(name) ? undefined : kept.get(name);
      // Most devices of a fleet were named by an earlier request.
      if (device === undefined) unknown.add(place);
      else found[place] = mayWriteTo(device) ? device : deviceRefusal(name);
    }
    if (unknown.size > 0) {
      const names = [...unknown].map((place) => deviceNameOf({ deviceId: texts[place] ?? '' }));
      await lookUp(names);
      for (const [i, place] of [...unknown].entries())
        found[place] = deviceOf(names[i] ?? missing('name'));
    }
    return { found, names: deviceIds };
  }

  return { organizationId, ofElements, ofColumns };

  /** A promise only while the flow of the device is read. */
  function cachedDevice(name: string): FoundDevice | Promise<FoundDevice> | undefined {
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
    if (!mayWriteTo({ id, origin: { organizationId, workspaceId } })) return deviceRefusal(name);
    try {
      return writable(name, await on.findRoute(id));
    } catch (error) {
      // It was deleted in between.
      if (error instanceof Problem && error.problem === 'notFound') return deviceRefusal(name);
      throw error;
    }
  }

  function writable(name: string, route: UplinkRoute): FoundDevice {
    const device = backfillDevice(route);
    return mayWriteTo(device) ? device : deviceRefusal(name);
  }
}

interface WrittenDevice extends Pick<BackfillDevice, 'id'> {
  readonly origin: Pick<Place, 'organizationId' | 'workspaceId'>;
}

/** Whether the principal may write to the device. */
function createWriteCheck(
  principal: Principal,
  { authorizeWrite }: NamedDeviceStages,
): (device: WrittenDevice) => boolean {
  let last: { readonly origin: WrittenDevice['origin']; readonly may: boolean } | undefined;

  return ({ id, origin }) => {
    // Most devices of a request are in one workspace: the answer is the same for each of them.
    if (last !== undefined && isSamePlace(last.origin, origin)) return last.may;
    const { organizationId, workspaceId } = origin;
    const may = isPermitted({ organizationId, workspaceId, what: 'device', id });
    last = { origin, may };
    return may;
  };

  function isPermitted(place: Place): boolean {
    try {
      authorizeWrite(principal, place);
      return true;
    } catch (error) {
      if (error instanceof Problem && error.status < 500) return false;
      throw error;
    }
  }
}

function isSamePlace(one: WrittenDevice['origin'], other: WrittenDevice['origin']): boolean {
  if (one === other) return true;
  return one.workspaceId === other.workspaceId && one.organizationId === other.organizationId;
}
