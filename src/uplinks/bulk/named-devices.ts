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
import { isLongName } from '../../model/ids.ts';
import type { Principal } from '../../model/principal.ts';
import { Problem } from '../../model/problem.ts';
import type { Place } from '../../model/record.ts';
import type { DevicePlace } from '../../storage/records/rows/devices.ts';
import { missing } from '../../structures/missing.ts';
import {
  backfillDevice,
  type BackfillDevice,
  type FoundDevice,
  sendingDevice,
} from './backfill-batches.ts';
import type { NamedRows } from './device-rows.ts';
import { type DeviceConnector, deviceCreationOf } from '../../model/connector.ts';

/** Names that a request keeps in memory. With more of them, all are looked up again. */
const namesMax = 20_000;

/** How bulk requests find devices, and whether their caller may write to them. */
export interface DeviceSearch {
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

/** Those of one request: the records are read once for each device. */
export class NamedDevices {
  readonly organizationId: string;
  readonly #on: DeviceSearch;
  readonly #known = new Map<string, FoundDevice>();
  readonly #mayWriteTo: (device: WrittenDevice) => boolean;

  constructor(principal: Principal, on: DeviceSearch) {
    this.organizationId = principal.organizationId;
    this.#on = on;
    this.#mayWriteTo = createWriteCheck(principal, on);
  }

  /** For each element its device, or why it is rejected. */
  async ofElements(elements: readonly Json[]): Promise<FoundDevice[]> {
    const names = elements.map(deviceNameOf);
    await this.#lookUp(names);
    return names.map((name) => this.#deviceOf(name));
  }

  /** The same for samples in columns; undefined when they do not name devices. */
  async ofColumns({ deviceIds, texts }: SampleColumns): Promise<NamedRows | undefined> {
    if (deviceIds === undefined) return undefined;
    // By the place of the name in `texts`, which has other strings too.
    const found: (FoundDevice | undefined)[] = Array.from({ length: texts.length });
    const unknown = new Set<number>();
    const kept = this.#on.known.of(this.organizationId);
    for (const place of deviceIds) {
      if (found[place] !== undefined) continue;
      const name = texts[place] ?? missing('name');
      const device = isLongName(name) ? undefined : kept.get(name);
      // Most devices of a fleet were named by an earlier request.
      if (device === undefined) unknown.add(place);
      else found[place] = this.#mayWriteTo(device) ? device : deviceRefusal(name);
    }
    if (unknown.size > 0) {
      const names = [...unknown].map((place) => deviceNameOf({ deviceId: texts[place] ?? '' }));
      await this.#lookUp(names);
      for (const [i, place] of [...unknown].entries())
        found[place] = this.#deviceOf(names[i] ?? missing('name'));
    }
    return { found, names: deviceIds };
  }

  /** The devices of the names of a group are known afterwards. */
  async #lookUp(names: readonly (string | SampleRefusal)[]): Promise<void> {
    const revision = this.#on.known.revision();
    // A group has fewer names than are kept.
    if (this.#known.size + names.length > namesMax) this.#known.clear();
    const unknown = new Set<string>();
    const reads: Promise<void>[] = [];
    for (const name of names) {
      if (typeof name !== 'string' || this.#known.has(name)) continue;
      const device = unknown.has(name) ? undefined : this.#cachedDevice(name);
      if (device === undefined) unknown.add(name);
      else if (device instanceof Promise)
        reads.push(device.then((read) => void this.#known.set(name, read)));
      else this.#known.set(name, device);
    }
    await Promise.all(reads);
    if (unknown.size > 0)
      for (const [name, device] of await this.#searched([...unknown]))
        this.#known.set(name, device);
    for (const name of names) this.#keep(name, revision);
  }

  /** For other requests. */
  #keep(name: string | SampleRefusal, revision: number): void {
    const device = typeof name === 'string' ? this.#known.get(name) : undefined;
    if (typeof name !== 'string' || device === undefined || isRefusal(device)) return;
    this.#on.known.set(name, device, revision);
  }

  #deviceOf(name: string | SampleRefusal): FoundDevice {
    return typeof name === 'string' ? (this.#known.get(name) ?? missing('device')) : name;
  }

  /** A promise only while the flow of the device is read. */
  #cachedDevice(name: string): FoundDevice | Promise<FoundDevice> | undefined {
    const route = this.#on.cached(this.organizationId, name);
    if (route instanceof Promise) return route.then((read) => this.#writable(name, read));
    return route && this.#writable(name, route);
  }

  /** All names together, so that the directory reads their devices by few statements. */
  async #searched(names: readonly string[]): Promise<readonly (readonly [string, FoundDevice])[]> {
    const places = await this.#on.placesByName(this.organizationId, names);
    return Promise.all(
      names.map(async (name) => {
        const place = places.get(name);
        return [name, place === undefined ? deviceRefusal(name) : await this.#routed(name, place)];
      }),
    );
  }

  async #routed(name: string, { id, workspaceId }: DevicePlace): Promise<FoundDevice> {
    if (!this.#mayWriteTo({ id, origin: { organizationId: this.organizationId, workspaceId } }))
      return deviceRefusal(name);
    try {
      return this.#writable(name, await this.#on.findRoute(id));
    } catch (error) {
      // It was deleted in between.
      if (error instanceof Problem && error.problem === 'notFound') return deviceRefusal(name);
      throw error;
    }
  }

  #writable(name: string, route: UplinkRoute): FoundDevice {
    const device = backfillDevice(route);
    return this.#mayWriteTo(device) ? device : deviceRefusal(name);
  }
}

interface WrittenDevice {
  readonly id: string;
  readonly origin: { readonly organizationId: string | null; readonly workspaceId: string | null };
}

/** Whether the principal may write to the device. */
function createWriteCheck(
  principal: Principal,
  { authorizeWrite }: DeviceSearch,
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

// Connector devices: those that the samples of bulk requests name, among the devices that are known.

export interface ConnectorDeviceStages {
  /** Throws Problem 404 for an unknown device, 403 for one of another connector. */
  readonly routeOf: (
    connector: DeviceConnector,
    physicalId: string,
  ) => UplinkRoute | Promise<UplinkRoute>;
  /**
   * Creates devices, at most as many as the connector permits. Returns why not, by name; a name that
   * is not in there has a device now.
   */
  readonly createDevices: (
    connector: DeviceConnector,
    names: readonly string[],
  ) => Promise<ReadonlyMap<string, SampleRefusal>>;
}

/** Those of one request, which has a limited number of samples. */
export class ConnectorDevices {
  readonly organizationId: string;
  readonly #connector: DeviceConnector;
  readonly #on: ConnectorDeviceStages;
  readonly #known = new Map<string, FoundDevice>();

  constructor(connector: DeviceConnector, on: ConnectorDeviceStages) {
    this.#connector = connector;
    this.#on = on;
    this.organizationId = connector.organizationId;
  }

  async ofElements(elements: readonly Json[]): Promise<readonly FoundDevice[]> {
    const names = elements.map(deviceNameOf);
    await this.#lookUp(names.filter((name) => typeof name === 'string'));
    return names.map((name) =>
      typeof name === 'string' ? (this.#known.get(name) ?? missing('device')) : name,
    );
  }

  async ofColumns({ deviceIds, texts }: SampleColumns): Promise<NamedRows | undefined> {
    if (deviceIds === undefined) return undefined;
    const places = new Set(deviceIds);
    await this.#lookUp(Array.from(places, (place) => texts[place] ?? missing('name')));
    const found: (FoundDevice | undefined)[] = Array.from({ length: texts.length });
    for (const place of places) found[place] = this.#known.get(texts[place] ?? missing('name'));
    return { found, names: deviceIds };
  }

  async #lookUp(names: Iterable<string>): Promise<void> {
    const unknown = [...new Set(names)].filter((name) => !this.#known.has(name));
    if (unknown.length === 0) return;
    const absent = await this.#search(unknown);
    if (absent.length === 0 || !deviceCreationOf(this.#connector)) return;
    const refused = await this.#on.createDevices(this.#connector, absent);
    await this.#search(absent.filter((name) => !refused.has(name)));
    for (const [name, refusal] of refused) this.#known.set(name, refusal);
  }

  /** All names together, so that the directory reads their devices by few statements. */
  async #search(names: readonly string[]): Promise<string[]> {
    const absent: string[] = [];
    await Promise.all(
      names.map(async (name) => {
        try {
          this.#known.set(name, sendingDevice(await this.#on.routeOf(this.#connector, name)));
        } catch (error) {
          if (!(error instanceof Problem) || error.status >= 500) throw error;
          if (error.problem === 'notFound') absent.push(name);
          this.#known.set(name, { errorCode: error.code, message: error.message });
        }
      }),
    );
    return absent;
  }
}

// Known devices: what bulk requests need of devices, by the names that they use, until a record changes.

/** About 200 bytes each. Further names are looked up in each request. */
const connectorNamesMax = 262_144;

export class KnownDevices {
  /** Number of changes of records so far. */
  readonly revision: () => number;
  readonly #max: number;
  readonly #byOrganization = new Map<string, Map<string, BackfillDevice>>();
  #count = 0;
  #keptAt: number;
  /** By data flow: devices share theirs, so that comparing them costs nothing. */
  readonly #origins = new Map<string, BackfillDevice['origin']>();

  constructor(revision: () => number, max: number = connectorNamesMax) {
    this.revision = revision;
    this.#max = max;
    this.#keptAt = revision();
  }

  /**
   * The devices of an organization by service or physical id, as they are in this turn. Whether a
   * caller may write to them, the caller's permissions say. Empty after each change: changes are
   * rare, and reading a device again is cheap.
   */
  of(id: string): Map<string, BackfillDevice> {
    if (this.#keptAt !== this.revision()) {
      this.#keptAt = this.revision();
      this.#byOrganization.clear();
      this.#origins.clear();
      this.#count = 0;
    }
    return this.#byOrganization.get(id) ?? new Map<string, BackfillDevice>();
  }

  /** Keeps the device of a service or physical id, unless a record changed since the revision. */
  set(name: string, device: BackfillDevice, foundAt: number): void {
    const { organizationId } = device.origin;
    const names = this.of(organizationId);
    if (foundAt !== this.#keptAt || this.#count >= this.#max) return;
    this.#byOrganization.set(organizationId, names);
    const before = names.size;
    const { id, storedTopics, keptDays, implausibleTimes, calculates } = device;
    const origin = this.#sharedOrigin(device.origin);
    names.set(name, { id, origin, storedTopics, keptDays, implausibleTimes, calculates });
    this.#count += names.size - before;
  }

  #sharedOrigin(origin: BackfillDevice['origin']): BackfillDevice['origin'] {
    const key = Object.values(origin).join(' ');
    const known = this.#origins.get(key) ?? origin;
    this.#origins.set(key, known);
    return known;
  }
}
