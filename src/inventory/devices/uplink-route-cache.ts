// Uplink route cache: devices with their flows by uplink secret and physical id, in memory until a record changes.
import type { DeviceConnector } from '../../model/connector.ts';
import type { Device } from '../../model/device.ts';
import { hasFormOfId } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';
import type { RecordChange } from '../../model/record.ts';
import type { Tag } from '../../model/tag.ts';
import { customFieldsOfDevices } from '../../records/rows/custom-fields.ts';
import type { Records } from '../../records/records.ts';
import { findDeviceConnectorBySecret } from '../../records/rows/device-connectors.ts';
import { findDevice, findDeviceByDeviceId, findDeviceByEui } from '../../records/rows/devices.ts';
import { tagsOfDevices } from '../../records/rows/tags.ts';
import { createCacheByPart } from '../cache-by-part.ts';
import {
  createFlowCache,
  type FlowCache,
  type FlowRoute,
  type SharedFlow,
} from './flow-route-cache.ts';
import { customFieldMap } from './custom-field-values.ts';
import { createBoundedMap } from '../../structures/bounded-map.ts';

/** As many flows as devices, because each cached device refers to a cached flow. */
const cacheLimits = { devicesMax: 100_000, flowsMax: 100_000, secretsMax: 20_000 } as const;

export interface UplinkRoute extends FlowRoute {
  readonly device: Device;
  readonly tags: readonly Tag[];
  /** Custom field name to value. */
  readonly customFields: JsonObject;
}

export interface UplinkRouteCache {
  /**
   * Throws Problem 401 for an unknown secret, 404 for an unknown device, 403 for a device of
   * another connector.
   */
  bySecret(uplinkSecret: string, physicalDeviceId: string): UplinkRoute | Promise<UplinkRoute>;
  /** Throws Problem 401 for an unknown secret. */
  connector(uplinkSecret: string): DeviceConnector | Promise<DeviceConnector>;
  /** Throws Problem 404 for an unknown device, 403 for a device of another connector. */
  byConnector(
    connector: DeviceConnector,
    physicalDeviceId: string,
  ): UplinkRoute | Promise<UplinkRoute>;
  /** By the EUI of a network server, in lower case. Throws Problem 404 and 403 like `bySecret`. */
  byEui(connector: DeviceConnector, deviceEui: string): UplinkRoute | Promise<UplinkRoute>;
  /** Throws Problem 404 for an unknown device. */
  byDevice(serviceDeviceId: string): UplinkRoute | Promise<UplinkRoute>;
  /**
   * The route of a device of the organization, by service or physical id, without a search of the
   * records. Undefined when the records must be read to know the device.
   */
  cached(organizationId: string, name: string): UplinkRoute | Promise<UplinkRoute> | undefined;
  /** Number of changes so far. A route found at another revision can be outdated. */
  readonly revision: number;
  /** Call for every record change: the routes that contain the record are read again. */
  recordChanged(change: RecordChange): void;
}

type TaggedDevice = Pick<UplinkRoute, 'device' | 'tags' | 'customFields'>;

interface KnownDevice {
  readonly tagged: TaggedDevice;
  /** Ids of its tags and of its custom fields with a value. */
  readonly labels: readonly string[];
  readonly flow: SharedFlow;
  readonly route: UplinkRoute;
}

/** Kinds of the records that a route contains. */
const routedKinds: ReadonlySet<string> = new Set([
  'device',
  'tag',
  'customFieldMeta',
  'dataFlow',
  'deviceType',
  'deviceConnector',
  'outputConnector',
]);

/** Routes of devices by service id, and their service ids by physical id and EUI. */
interface DeviceRoutes {
  /** The route of a device that `read` finds. Throws 404 with `id`. */
  load(read: () => Promise<Device | undefined>, id: string): Promise<UplinkRoute>;
  /** Reads only what changed: the device, or the flow that it shares. */
  readonly current: (serviceDeviceId: string) => UplinkRoute | Promise<UplinkRoute>;
  /** The service id that a key leads to, if its device is cached and `isNamed` is true for it. */
  serviceIdOf(key: string, isNamed: (device: Device) => boolean): string | undefined;
  setServiceId(key: string, serviceDeviceId: string): void;
  /** Whether the device is cached and belongs to the organization. */
  isCachedOf(organizationId: string, serviceDeviceId: string): boolean;
  delete(serviceDeviceId: string): void;
  /** Deletes the devices that have the tag or the custom field. */
  deleteUsersOf(labelId: string): void;
}

function createDeviceRoutes(
  records: Records,
  flows: FlowCache,
  revision: () => number,
): DeviceRoutes {
  const devices = createCacheByPart<KnownDevice>(cacheLimits.devicesMax);
  const serviceIds = createBoundedMap<string, string>(cacheLimits.devicesMax);
  return {
    load,
    current,
    serviceIdOf(key, isNamed) {
      const id = serviceIds.get(key);
      if (id === undefined) return undefined;
      const cached = devices.get(id);
      if (cached === undefined || !isNamed(cached.tagged.device)) return undefined;
      return id;
    },
    setServiceId: (key, id) => serviceIds.set(key, id),
    isCachedOf: (organizationId, id) =>
      devices.get(id)?.tagged.device.organizationId === organizationId,
    delete: devices.delete,
    deleteUsersOf: devices.deleteUsersOf,
  };

  async function load(read: () => Promise<Device | undefined>, id: string): Promise<UplinkRoute> {
    const revisionBefore = revision();
    const device = await read();
    if (device === undefined) throw problem('notFound', { what: 'device', id });
    const tags = (await tagsOfDevices(records.db, [device.id])).get(device.id) ?? [];
    const values = (await customFieldsOfDevices(records.db, [device.id])).get(device.id) ?? [];
    const labels = [...tags.map((tag) => tag.id), ...values.map(({ meta }) => meta.id)];
    return store({ device, tags, customFields: customFieldMap(values) }, labels, revisionBefore);
  }

  function current(id: string): UplinkRoute | Promise<UplinkRoute> {
    const cached = devices.get(id);
    if (cached === undefined) return load(() => findDevice(records, id), id);
    if (cached.flow.isStale) return store(cached.tagged, cached.labels, revision());
    return cached.route;
  }

  async function store(
    tagged: TaggedDevice,
    labels: readonly string[],
    revisionBefore: number,
  ): Promise<UplinkRoute> {
    const { device } = tagged;
    const flow = await flows.read(device.dataFlowId);
    const route = { ...flow.route, ...tagged };
    if (revision() !== revisionBefore || flow.isStale) return route;
    devices.set(device.id, { tagged, labels, flow, route }, labels);
    serviceIds.set(physicalKey(device.organizationId, device.deviceId), device.id);
    return route;
  }
}

/** Device connectors by their uplink secret. */
function createConnectorCache(records: Records, revision: () => number) {
  const connectors = createBoundedMap<string, DeviceConnector>(cacheLimits.secretsMax);
  return {
    get: (secret: string) => connectors.get(secret),
    /** Throws 401 for an unknown secret. */
    async read(secret: string): Promise<DeviceConnector> {
      const revisionBefore = revision();
      const connector =
        connectors.get(secret) ?? (await findDeviceConnectorBySecret(records, secret));
      if (connector === undefined) throw problem('uplinkSecretUnknown');
      if (revision() === revisionBefore) connectors.set(secret, connector);
      return connector;
    },
    delete(id: string): void {
      for (const [secret, connector] of connectors)
        if (connector.id === id) connectors.delete(secret);
    },
  };
}

export function createUplinkRouteCache(records: Records): UplinkRouteCache {
  let changes = 0;
  const revision = () => changes;
  const connectors = createConnectorCache(records, revision);
  const flows = createFlowCache(records, cacheLimits.flowsMax, revision);
  const devices = createDeviceRoutes(records, flows, revision);

  return {
    bySecret(secret, deviceId) {
      const connector = connectors.get(secret);
      if (connector !== undefined) return byConnector(connector, deviceId);
      return connectors.read(secret).then((found) => byConnector(found, deviceId));
    },
    connector: (secret) => connectors.get(secret) ?? connectors.read(secret),
    byConnector,
    get revision() {
      return changes;
    },
    byEui(connector, deviceEui) {
      const key = `${connector.id} eui ${deviceEui}`;
      const id = devices.serviceIdOf(key, (device) => hasEui(device, deviceEui));
      if (id === undefined) return readByEui(connector, deviceEui, key);
      return checked(devices.current(id), connector);
    },
    byDevice: devices.current,
    cached: (organizationId, name) => cachedRoute(devices, organizationId, name),
    recordChanged({ kind, id, action }) {
      // No route contains a new record yet. The record that will name it announces its own change.
      if (!routedKinds.has(kind) || action === 'created') return;
      changes += 1;
      if (kind === 'device') devices.delete(id);
      else if (kind === 'tag' || kind === 'customFieldMeta') devices.deleteUsersOf(id);
      else if (kind === 'dataFlow') flows.delete(id);
      else flows.deleteUsersOf(id);
      if (kind === 'deviceConnector') connectors.delete(id);
    },
  };

  function byConnector(
    connector: DeviceConnector,
    deviceId: string,
  ): UplinkRoute | Promise<UplinkRoute> {
    const { organizationId } = connector;
    // The key of a device whose physical id has changed can still be cached.
    const id = cachedServiceId(devices, organizationId, deviceId);
    if (id !== undefined) return checked(devices.current(id), connector);
    const read = () => findDeviceByDeviceId(records, organizationId, deviceId);
    return checked(devices.load(read, deviceId), connector);
  }

  async function readByEui(connector: DeviceConnector, eui: string, key: string) {
    const revisionBefore = revision();
    const device = await findDeviceByEui(records, connector, eui);
    const route = await devices.load(async () => device, eui);
    if (revision() === revisionBefore) devices.setServiceId(key, route.device.id);
    return ofConnector(route, connector);
  }
}

/**
 * A name in the form of a service id can be an unknown one, and a physical id of another device.
 */
function cachedRoute(
  devices: DeviceRoutes,
  organizationId: string,
  name: string,
): UplinkRoute | Promise<UplinkRoute> | undefined {
  if (devices.isCachedOf(organizationId, name)) return devices.current(name);
  if (hasFormOfId('device', name)) return undefined;
  const id = cachedServiceId(devices, organizationId, name);
  return id === undefined ? undefined : devices.current(id);
}

function cachedServiceId(
  devices: DeviceRoutes,
  organizationId: string,
  deviceId: string,
): string | undefined {
  return devices.serviceIdOf(
    physicalKey(organizationId, deviceId),
    (device) => device.deviceId === deviceId,
  );
}

function physicalKey(organizationId: string, deviceId: string): string {
  return `${organizationId} ${deviceId}`;
}

function checked(
  route: UplinkRoute | Promise<UplinkRoute>,
  connector: DeviceConnector,
): UplinkRoute | Promise<UplinkRoute> {
  if (route instanceof Promise) return route.then((found) => ofConnector(found, connector));
  return ofConnector(route, connector);
}

/** Whether the device still has the EUI, as its physical id or among its LoRa properties. */
function hasEui({ deviceId, loraProperties }: Device, deviceEui: string): boolean {
  const own = loraProperties?.['deviceEui'];
  return (
    deviceId.toLowerCase() === deviceEui ||
    (typeof own === 'string' && own.toLowerCase() === deviceEui)
  );
}

function ofConnector(route: UplinkRoute, connector: DeviceConnector): UplinkRoute {
  const { deviceId } = route.device;
  if (route.connector.id !== connector.id) throw problem('deviceNotOnConnector', { deviceId });
  return route;
}
