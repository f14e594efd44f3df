// Uplink route cache: devices with their flows by uplink secret and physical id, in memory until a record changes.
import type { DeviceConnector } from '../../model/connector.ts';
import type { Device, Tag } from '../../model/device.ts';
import { hasFormOfId, isLongName, longNameReason } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import { formatPath } from '../../model/place.ts';
import { problem, UnreadableRecord } from '../../model/problem.ts';
import type { ChangeFollower } from '../../model/record.ts';
import type { PlaceContext } from '../../model/template-context.ts';
import type { Records } from '../../storage/records/records.ts';
import {
  deviceConnectorRows,
  dataFlowRows,
  outputConnectorRows,
} from '../../storage/records/rows/data-flows.ts';
import {
  deviceRows,
  devicesPerBatch,
  type DeviceWithLabels,
  type FoundDevice,
} from '../../storage/records/rows/devices.ts';
import { placeRows } from '../../storage/records/rows/places.ts';
import { createBoundedMap, createCacheByPart, RecordChanges } from '../../structures/caches.ts';
import { atTurnEnd } from '../../structures/turns.ts';
import {
  DeviceProfiles,
  DeviceTable,
  type KnownDevice,
  type ProfileParts,
} from './device-table.ts';
import type { FlowRoute, FlowCache, SharedFlow } from './flow-route-cache.ts';
import { deviceTypeRows } from '../../storage/records/rows/device-types.ts';
import { workspaceRows } from '../../storage/records/rows/workspaces.ts';
import { defaultWorkspaceSettings } from '../../model/workspace.ts';

/** At most about 250 MB, with a million devices of 200 bytes. */
const cacheLimits = {
  devicesMax: 1_000_000,
  bytesMax: 200_000_000,
  profilesMax: 50_000,
  flowsMax: 50_000,
  objectsMax: 10_000,
  placesMax: 20_000,
  secretsMax: 20_000,
} as const;

export interface UplinkRoute extends FlowRoute {
  readonly device: Device;
  readonly tags: readonly Tag[];
  /** Custom field name to value. */
  readonly customFields: JsonObject;
  readonly place: PlaceContext | null;
}

/** After a change, the routes that contain the record are read again. */
export interface UplinkRouteCache extends ChangeFollower {
  /**
   * Throws Problem 401 for an unknown secret, 404 for an unknown device, 403 for a device of
   * another connector.
   */
  bySecret(uplinkSecret: string, physicalDeviceId: string): UplinkRoute | Promise<UplinkRoute>;
  /** Throws Problem 401 for an unknown secret. */
  connector(uplinkSecret: string): DeviceConnector | Promise<DeviceConnector>;
  /** Undefined when the connector, by id, is not in memory. */
  knownConnector(id: string): DeviceConnector | undefined;
  /** Throws Problem 404 for an unknown device, 403 for one of another connector, 400 for a long name. */
  byConnector(
    connector: DeviceConnector,
    physicalDeviceId: string,
  ): UplinkRoute | Promise<UplinkRoute>;
  /** By the EUI of a network server, in lower case. Throws Problem 404 and 403 like `bySecret`. */
  byEui(connector: DeviceConnector, deviceEui: string): UplinkRoute | Promise<UplinkRoute>;
  /** Throws Problem 404 for an unknown device. */
  byDevice(serviceDeviceId: string): UplinkRoute | Promise<UplinkRoute>;
  /** The organization of a device, by service id; undefined when the device is not in memory. */
  organizationOf(serviceDeviceId: string): string | undefined;
  /** The outputs of a data flow in memory; undefined when the records must be read. */
  cachedFlowOutputs(dataFlowId: string): FlowRoute['outputs'] | undefined;
  /** The outputs of the device's data flow; undefined when the records must be read to know them. */
  cachedOutputs(serviceDeviceId: string): FlowRoute['outputs'] | undefined;
  /**
   * The route of a device of the organization, by service or physical id, without a search of the
   * records. Undefined when the records must be read to know the device.
   */
  cached(organizationId: string, name: string): UplinkRoute | Promise<UplinkRoute> | undefined;
  /** Number of changes so far. A route found at another revision can be outdated. */
  readonly revision: number;
}

/** A route with its parts: when one of them changed, the route is outdated. */
interface MadeRoute {
  readonly parts: ProfileParts;
  readonly place: PlaceContext | null;
  readonly route: UplinkRoute;
}

type Known = KnownDevice<MadeRoute>;
type Found = UplinkRoute | Promise<UplinkRoute>;

/** Kinds of the records that a route contains. */
const routedKinds: ReadonlySet<string> = new Set([
  'device',
  'tag',
  'customFieldMeta',
  'dataFlow',
  'deviceType',
  'deviceConnector',
  'outputConnector',
  'workspace',
  'place',
]);

/** Places of devices with their paths, each in memory until a place of its path changes. */
class PlaceNames {
  readonly #records: Records;
  readonly #changes: RecordChanges;
  readonly #known = createCacheByPart<PlaceContext>(cacheLimits.placesMax);
  readonly #reading = new Map<string, Promise<PlaceContext | null>>();

  constructor(records: Records, changes: RecordChanges) {
    this.#records = records;
    this.#changes = changes;
  }

  /** Call when a place changed. */
  readonly placeChanged = (placeId: string): void => this.#known.deleteUsersOf(placeId);

  /** A promise when records must be read; null for a place that does not exist any more. */
  get(placeId: string | null): PlaceContext | null | Promise<PlaceContext | null> {
    if (placeId === null) return null;
    const known = this.#known.get(placeId);
    if (known !== undefined) return known;
    const key = `${this.#changes.revision} ${placeId}`;
    const before = this.#reading.get(key);
    if (before !== undefined) return before;
    const reading = this.#read(placeId);
    this.#reading.set(key, reading);
    const end = (): void => void this.#reading.delete(key);
    reading.then(end, end);
    return reading;
  }

  async #read(placeId: string): Promise<PlaceContext | null> {
    const { revision } = this.#changes;
    const path = (await placeRows.pathsOf(this.#records.db, [placeId])).get(placeId) ?? [];
    const own = path.at(-1);
    if (own === undefined) return null;
    const place = { ...own, path: formatPath(path.map(({ name }) => name)) };
    const ids = path.map(({ id }) => id);
    // A path that changed meanwhile is used once.
    if (!ids.some((id) => this.#changes.hasChanged(id, revision)))
      this.#known.set(placeId, place, ids);
    return place;
  }
}

/** Routes of devices; those that are not in memory are read in batches. */
function createDeviceRoutes(records: Records, changes: RecordChanges) {
  const flows = createFlowCache(records, cacheLimits.flowsMax, changes);
  const profiles = new DeviceProfiles(records, flows, changes);
  const devices = new DeviceTable<MadeRoute>(profiles, cacheLimits);
  const reads = new DeviceReads(records, changes);
  const places = new PlaceNames(records, changes);

  function routeOf(known: Known): Found {
    const { made, profile, device } = known;
    const parts = profiles.parts(profile);
    const place = places.get(device.placeId);
    if (parts instanceof Promise || place instanceof Promise)
      return Promise.all([parts, place]).then((read) => makeRoute(known, ...read));
    if (made?.parts === parts && made.place === place) return made.route;
    return makeRoute(known, parts, place);
  }

  async function store({ labeled, revision }: DeviceRead): Promise<UplinkRoute> {
    const known = devices.set(labeled);
    // A device that changed during the read is used once.
    if (changes.hasChanged(labeled.device.id, revision)) devices.delete(labeled.device.id);
    return routeOf(known);
  }

  return {
    flows,
    devices,
    labelChanged: profiles.labelChanged,
    placeChanged: places.placeChanged,
    deviceCreated: reads.deviceCreated,
    routeOf,
    store,
    outputsOf(id: string): FlowRoute['outputs'] | undefined {
      const flow = devices.profileOf(id)?.parts?.flow;
      return flow?.isStale === false ? flow.route.outputs : undefined;
    },
    byId(id: string): Found {
      const known = devices.byId(id);
      return known === undefined ? reads.byId(id).then(store) : routeOf(known);
    },
    byDeviceId(organizationId: string, deviceId: string): Found {
      const known = devices.byDeviceId(organizationId, deviceId);
      if (known !== undefined) return routeOf(known);
      return reads.byDeviceId(organizationId, deviceId).then(store);
    },
  };
}

function deleteRoutesOf(
  { devices, flows, labelChanged, placeChanged }: ReturnType<typeof createDeviceRoutes>,
  kind: string,
  id: string,
): void {
  if (kind === 'device') devices.delete(id);
  else if (kind === 'tag' || kind === 'customFieldMeta') labelChanged(id);
  else if (kind === 'place') placeChanged(id);
  else if (kind === 'dataFlow') flows.delete(id);
  else flows.deleteUsersOf(id);
}

function makeRoute(known: Known, parts: ProfileParts, place: PlaceContext | null): UplinkRoute {
  const { device, values } = known;
  const { flow, tags, fieldsOf } = parts;
  const route = { ...flow.route, device, tags, customFields: fieldsOf(values), place };
  known.made = { parts, place, route };
  return route;
}

/** Device connectors by their uplink secret. */
function createConnectorCache(records: Records, changes: RecordChanges) {
  const secrets = new Map<string, string>();
  const connectors = createBoundedMap<string, DeviceConnector>(
    cacheLimits.secretsMax,
    ({ id }) => void secrets.delete(id),
  );
  return {
    get: (secret: string) => connectors.get(secret),
    byId(id: string): DeviceConnector | undefined {
      const secret = secrets.get(id);
      return secret === undefined ? undefined : connectors.get(secret);
    },
    /** Throws 401 for an unknown secret. */
    async read(secret: string): Promise<DeviceConnector> {
      const { revision } = changes;
      const connector = await deviceConnectorRows.bySecret(records, secret);
      if (connector === undefined) throw problem('uplinkSecretUnknown');
      if (!changes.hasChanged(connector.id, revision)) {
        connectors.set(secret, connector);
        secrets.set(connector.id, secret);
      }
      return connector;
    },
    delete(id: string): void {
      const secret = secrets.get(id);
      if (secret === undefined) return;
      secrets.delete(id);
      connectors.delete(secret);
    },
  };
}

export function createUplinkRouteCache(records: Records): UplinkRouteCache {
  const changes = new RecordChanges();
  let connectors = createConnectorCache(records, changes);
  let routes = createDeviceRoutes(records, changes);

  return {
    bySecret(secret, deviceId) {
      refuseLongSecret(secret);
      const connector = connectors.get(secret);
      if (connector !== undefined) return byConnector(connector, deviceId);
      return connectors.read(secret).then((found) => byConnector(found, deviceId));
    },
    connector(secret) {
      refuseLongSecret(secret);
      return connectors.get(secret) ?? connectors.read(secret);
    },
    knownConnector: (id) => connectors.byId(id),
    byConnector,
    get revision() {
      return changes.revision;
    },
    byEui(connector, deviceEui) {
      refuseLongName('the device EUI', deviceEui);
      const isNamed = (device: Device) => hasEui(device, deviceEui);
      const known = routes.devices.byEui(connector.id, deviceEui, isNamed);
      if (known !== undefined) return checked(routes.routeOf(known), connector);
      return readByEui(records, changes, routes, connector, deviceEui);
    },
    byDevice: (id) => routes.byId(id),
    organizationOf: (id) => routes.devices.byId(id)?.device.organizationId,
    cachedOutputs: (id) => routes.outputsOf(id),
    cachedFlowOutputs: (id) => routes.flows.cached(id)?.route.outputs,
    cached(organizationId, name) {
      const { devices } = routes;
      const known = devices.byId(name);
      if (known?.device.organizationId === organizationId) return routes.routeOf(known);
      // A name in the form of a service id can also be the physical id of another device.
      if (hasFormOfId('device', name)) return undefined;
      const named = devices.byDeviceId(organizationId, name);
      return named && routes.routeOf(named);
    },
    recordChanged({ kind, id, action }) {
      if (kind === 'device' && action === 'created') routes.deviceCreated();
      // No route contains a new record yet. The record that will name it announces its own change.
      if (!routedKinds.has(kind) || action === 'created') return;
      changes.add(id);
      deleteRoutesOf(routes, kind, id);
      if (kind === 'deviceConnector') connectors.delete(id);
    },
    changesMissed() {
      changes.addAll();
      // Reads in progress store into the old ones.
      connectors = createConnectorCache(records, changes);
      routes = createDeviceRoutes(records, changes);
    },
  };

  function byConnector(connector: DeviceConnector, deviceId: string): Found {
    refuseLongName('deviceId', deviceId);
    return checked(routes.byDeviceId(connector.organizationId, deviceId), connector);
  }
}

function refuseLongSecret(secret: string): void {
  if (isLongName(secret)) throw problem('uplinkSecretUnknown');
}

async function readByEui(
  records: Records,
  changes: RecordChanges,
  routes: ReturnType<typeof createDeviceRoutes>,
  connector: DeviceConnector,
  eui: string,
): Promise<UplinkRoute> {
  const { revision } = changes;
  const device = await deviceRows.byEui(records, connector, eui);
  if (device === undefined) throw problem('notFound', { what: 'device', id: eui });
  const labeled = await deviceRows.labeled(records, device);
  const route = ofConnector(await routes.store({ labeled, revision }), connector);
  if (!changes.hasChanged(device.id, revision)) routes.devices.setEui(device.id, connector.id, eui);
  return route;
}

function checked(route: Found, connector: DeviceConnector): Found {
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

// Device reads: devices that are asked for in the same turn are read from the records together.

/** A device that was read, and the revision before the read. */
interface DeviceRead {
  readonly labeled: DeviceWithLabels;
  readonly revision: number;
}

interface Wanted {
  readonly name: string;
  readonly resolve: (read: DeviceRead) => void;
  readonly reject: (error: unknown) => void;
}

/** Devices that one statement can find: those of one organization, or all by service id. */
interface Batch {
  readonly find: (names: readonly string[]) => Promise<FoundDevice[]>;
  readonly nameOf: (found: FoundDevice) => string;
  readonly wanted: Wanted[];
}

/** Both reject with Problem 404 for an unknown device. */
class DeviceReads {
  readonly #records: Records;
  readonly #changes: RecordChanges;
  #batches = new Map<string, Batch>();
  readonly #reading = new Map<
    string,
    { readonly revision: number; readonly read: Promise<DeviceRead> }
  >();
  readonly #byIds: {
    find: (ids: readonly string[]) => Promise<FoundDevice[]>;
    nameOf: ({ id }: FoundDevice) => string;
  };

  constructor(records: Records, changes: RecordChanges) {
    this.#records = records;
    this.#changes = changes;
    this.#byIds = {
      find: (ids: readonly string[]) => deviceRows.byIds(records, ids),
      nameOf: ({ id }: FoundDevice) => id,
    };
  }

  /** To be called for each new device: reads in progress may miss it. */
  readonly deviceCreated = (): void => this.#reading.clear();

  byId(id: string): Promise<DeviceRead> {
    return this.#add('', this.#byIds, id);
  }

  byDeviceId(organizationId: string, deviceId: string): Promise<DeviceRead> {
    return this.#add(
      organizationId,
      {
        find: (deviceIds) => deviceRows.byDeviceIds(this.#records, organizationId, deviceIds),
        nameOf: (found) => found.deviceId,
      },
      deviceId,
    );
  }

  #add(key: string, newBatch: Omit<Batch, 'wanted'>, name: string): Promise<DeviceRead> {
    const { revision } = this.#changes;
    const id = `${key} ${name}`;
    // A read that began before the last change may be outdated.
    const before = this.#reading.get(id);
    if (before?.revision === revision) return before.read;
    if (this.#batches.size === 0) atTurnEnd(() => void this.#readAll());
    const batch = this.#batches.get(key) ?? { ...newBatch, wanted: [] };
    this.#batches.set(key, batch);
    const read = new Promise<DeviceRead>((resolve, reject) => {
      batch.wanted.push({ name, resolve, reject });
    });
    const started = { revision, read };
    this.#reading.set(id, started);
    const end = (): void => {
      if (this.#reading.get(id) === started) this.#reading.delete(id);
    };
    read.then(end, end);
    return read;
  }

  /** One batch after the other, so that each turn of the event loop stays short. */
  async #readAll(): Promise<void> {
    const taken = this.#batches;
    this.#batches = new Map();
    for (const batch of taken.values())
      for (let from = 0; from < batch.wanted.length; from += devicesPerBatch)
        await this.#readSome(batch, batch.wanted.slice(from, from + devicesPerBatch));
  }

  async #readSome({ find, nameOf }: Batch, wanted: readonly Wanted[]): Promise<void> {
    const { revision } = this.#changes;
    let found: Map<string, FoundDevice>;
    try {
      const devices = await find([...new Set(wanted.map(({ name }) => name))]);
      found = new Map(devices.map((device) => [nameOf(device), device]));
    } catch (error) {
      for (const { reject } of wanted) reject(error);
      return;
    }
    for (const { name, resolve, reject } of wanted) {
      try {
        const labeled = found.get(name)?.read();
        if (labeled === undefined) throw problem('notFound', { what: 'device', id: name });
        resolve({ labeled, revision });
      } catch (error) {
        reject(error);
      }
    }
  }
}

function createFlowCache(records: Records, flowsMax: number, changes: RecordChanges): FlowCache {
  const flows = createCacheByPart<SharedFlow>(flowsMax, (flow) => {
    flow.isStale = true;
  });
  const reading = new Map<string, { readonly revision: number; flow: Promise<SharedFlow> }>();
  return {
    cached: flows.get,
    async read(id) {
      const cached = flows.get(id);
      if (cached !== undefined) return cached;
      const { revision } = changes;
      const before = reading.get(id);
      // A read that began before the last change may be outdated.
      if (before?.revision === revision) return before.flow;
      const started = { revision, flow: readAndCache(id, revision) };
      reading.set(id, started);
      try {
        return await started.flow;
      } finally {
        if (reading.get(id) === started) reading.delete(id);
      }
    },
    delete: flows.delete,
    deleteUsersOf: flows.deleteUsersOf,
  };

  async function readAndCache(id: string, revision: number): Promise<SharedFlow> {
    const route = await readFlow(records, id);
    const { connector, type, outputs } = route;
    const used = [connector, ...outputs.map((output) => output.connector)].map((part) => part.id);
    used.push(route.flow.workspaceId);
    if (type !== null) used.push(type.id);
    // A flow that changed during the read can be outdated here: the result is used once.
    const isStale = [id, ...used].some((part) => changes.hasChanged(part, revision));
    const flow = { route, isStale };
    if (!isStale) flows.set(id, flow, used);
    return flow;
  }
}

async function readFlow(records: Records, id: string): Promise<FlowRoute> {
  const flow = await dataFlowRows.find(records.db, id);
  if (flow === undefined) throw new UnreadableRecord(`Data flow ${id} of a device is missing`);
  const connector = await deviceConnectorRows.find(records, flow.deviceConnectorId);
  if (connector === undefined)
    throw new UnreadableRecord(`The device connector of data flow ${id} is missing`);
  const type =
    flow.deviceTypeId === null
      ? null
      : ((await deviceTypeRows.find(records.db, flow.deviceTypeId)) ?? null);
  const ids = [...new Set(flow.outputs.map((output) => output.outputConnectorId))];
  const found = new Map(
    (await outputConnectorRows.findOpen(records.db, ids)).map((output) => [output.id, output]),
  );
  const outputs = flow.outputs.flatMap(({ outputConnectorId, topic }) => {
    const output = found.get(outputConnectorId);
    return output === undefined ? [] : [{ connector: output, topic }];
  });
  const workspace = await workspaceRows.find(records.db, flow.workspaceId);
  const keptDays = flow.retentionDays ?? workspace?.settings.retentionDays ?? null;
  const { implausibleTimes } = workspace?.settings ?? defaultWorkspaceSettings;
  return { flow, connector, type, outputs, keptDays, implausibleTimes };
}

/** Throws Problem 400 for a name that is too long. */
function refuseLongName(member: string, name: string): void {
  if (isLongName(name)) throw problem('nameTooLong', { reason: longNameReason(member, name) });
}
