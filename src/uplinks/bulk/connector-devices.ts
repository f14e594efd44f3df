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

export interface ConnectorDevices {
  readonly organizationId: string;
  readonly ofElements: (elements: readonly Json[]) => Promise<readonly FoundDevice[]>;
  readonly ofColumns: (samples: SampleColumns) => Promise<NamedRows | undefined>;
}

/** Those of one request, which has a limited number of samples. */
export function createConnectorDevices(
  connector: DeviceConnector,
  on: ConnectorDeviceStages,
): ConnectorDevices {
  const known = new Map<string, FoundDevice>();

  async function lookUp(names: Iterable<string>): Promise<void> {
    const unknown = [...new Set(names)].filter((name) => !known.has(name));
    if (unknown.length === 0) return;
    const absent = await search(unknown);
    if (absent.length === 0 || !deviceCreationOf(connector)) return;
    const refused = await on.createDevices(connector, absent);
    await search(absent.filter((name) => !refused.has(name)));
    for (const [name, refusal] of refused) known.set(name, refusal);
  }

  /** All names together, so that the directory reads their devices by few statements. */
  async function search(names: readonly string[]): Promise<string[]> {
    const absent: string[] = [];
    await Promise.all(
      names.map(async (name) => {
        try {
          known.set(name, sendingDevice(await on.routeOf(connector, name)));
        } catch (error) {
          if (!(error instanceof Problem) || error.status >= 500) throw error;
          if (error.problem === 'notFound') absent.push(name);
          known.set(name, { errorCode: error.code, message: error.message });
        }
      }),
    );
    return absent;
  }

  return {
    organizationId: connector.organizationId,
    async ofElements(elements) {
      const names = elements.map(deviceNameOf);
      await lookUp(names.filter((name) => typeof name === 'string'));
      return names.map((name) =>
        typeof name === 'string' ? (known.get(name) ?? missing('device')) : name,
      );
    },
    async ofColumns({ deviceIds, texts }) {
      if (deviceIds === undefined) return undefined;
      const places = new Set(deviceIds);
      await lookUp(Array.from(places, (place) => texts[place] ?? missing('name')));
      const found: (FoundDevice | undefined)[] = Array.from({ length: texts.length });
      for (const place of places) found[place] = known.get(texts[place] ?? missing('name'));
      return { found, names: deviceIds };
    },
  };
}

// Known devices: what bulk requests need of devices, by the names that they use, until a record changes.

/** About 200 bytes each. Further names are looked up in each request. */
const namesMax = 262_144;

export interface KnownDevices {
  /**
   * The devices of an organization by service or physical id, as they are in this turn. Whether a
   * caller may write to them, the caller's permissions say.
   */
  readonly of: (organizationId: string) => ReadonlyMap<string, BackfillDevice>;
  /** Keeps the device of a service or physical id, unless a record changed since the revision. */
  readonly set: (name: string, device: BackfillDevice, revision: number) => void;
  /** Number of changes of records so far. */
  readonly revision: () => number;
}

export function createKnownDevices(revision: () => number, max: number = namesMax): KnownDevices {
  const byOrganization = new Map<string, Map<string, BackfillDevice>>();
  let count = 0;
  let keptAt = revision();
  /** By data flow: devices share theirs, so that comparing them costs nothing. */
  const origins = new Map<string, BackfillDevice['origin']>();

  /** Empty after each change: changes are rare, and reading a device again is cheap. */
  function namesOf(id: string): Map<string, BackfillDevice> {
    if (keptAt !== revision()) {
      keptAt = revision();
      byOrganization.clear();
      origins.clear();
      count = 0;
    }
    return byOrganization.get(id) ?? new Map<string, BackfillDevice>();
  }

  function sharedOrigin(origin: BackfillDevice['origin']): BackfillDevice['origin'] {
    const key = Object.values(origin).join(' ');
    const known = origins.get(key) ?? origin;
    origins.set(key, known);
    return known;
  }

  return {
    revision,
    of: namesOf,
    set(name, device, foundAt) {
      const { organizationId } = device.origin;
      const names = namesOf(organizationId);
      if (foundAt !== keptAt || count >= max) return;
      byOrganization.set(organizationId, names);
      const before = names.size;
      const { id, storedTopics, keptDays } = device;
      names.set(name, { id, origin: sharedOrigin(device.origin), storedTopics, keptDays });
      count += names.size - before;
    },
  };
}
