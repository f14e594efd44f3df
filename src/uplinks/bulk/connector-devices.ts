// Connector devices: those that the samples of bulk requests name, among the devices that are known.
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import { type DeviceConnector, deviceCreationOf } from '../../model/connector.ts';
import type { Json } from '../../model/json.ts';
import { Problem } from '../../model/problem.ts';
import { missing } from '../../structures/missing.ts';
import { deviceNameOf, type SampleRefusal } from '../../transports/http/backfill-sample.ts';
import type { SampleColumns } from '../../transports/http/sample-scanner.ts';
import { type BackfillDevice, type FoundDevice, sendingDevice } from './backfill-batches.ts';
import type { NamedRows } from './device-rows.ts';

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
const namesMax = 262_144;

export class KnownDevices {
  /** Number of changes of records so far. */
  readonly revision: () => number;
  readonly #max: number;
  readonly #byOrganization = new Map<string, Map<string, BackfillDevice>>();
  #count = 0;
  #keptAt: number;
  /** By data flow: devices share theirs, so that comparing them costs nothing. */
  readonly #origins = new Map<string, BackfillDevice['origin']>();

  constructor(revision: () => number, max: number = namesMax) {
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
