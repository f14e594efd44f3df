// Who sends, and what becomes of it: devices by uplink secret and physical id, kept in memory until a record changes.
import type { DeviceConnector, OutputConnector } from '../model/connector.ts';
import type { DataFlow } from '../model/data-flow.ts';
import type { Device } from '../model/device.ts';
import type { DeviceType } from '../model/device-type.ts';
import type { JsonObject } from '../model/json.ts';
import { problem } from '../model/problem.ts';
import type { RecordChange } from '../model/record.ts';
import type { Tag } from '../model/tag.ts';
import { customFieldsOfDevices } from '../store/records/custom-fields.ts';
import { findDataFlow } from '../store/records/data-flows.ts';
import type { Records } from '../store/records/database.ts';
import { findDeviceConnector, findDeviceConnectorBySecret } from '../store/records/device-connectors.ts';
import { findDeviceType } from '../store/records/device-types.ts';
import { findDevice, findDeviceByDeviceId, findDeviceByEui } from '../store/records/devices.ts';
import { findOutputConnectors } from '../store/records/output-connectors.ts';
import { tagsOfDevices } from '../store/records/tags.ts';
import { customFieldMap } from './custom-field-values.ts';

const directoryLimits = { devicesMax: 100_000, flowsMax: 20_000, secretsMax: 20_000 } as const;

/** A data flow with everything it names. */
export interface FlowRoute {
  readonly flow: DataFlow;
  readonly connector: DeviceConnector;
  readonly type: DeviceType | null;
  readonly outputs: readonly { readonly connector: OutputConnector; readonly topic: string }[];
}

export interface UplinkRoute extends FlowRoute {
  readonly device: Device;
  readonly tags: readonly Tag[];
  /** Custom field name to value. */
  readonly customFields: JsonObject;
}

export interface UplinkDirectory {
  /** Throws Problem 401 for an unknown secret, 404 for an unknown device, 403 for a device of another connector. */
  bySecret(uplinkSecret: string, physicalDeviceId: string): UplinkRoute | Promise<UplinkRoute>;
  /** Throws Problem 401 for an unknown secret. */
  connector(uplinkSecret: string): DeviceConnector | Promise<DeviceConnector>;
  /** By the EUI, in lower case, that a network server knows a device by. Throws Problem 404 and 403 like `bySecret`. */
  byEui(connector: DeviceConnector, deviceEui: string): UplinkRoute | Promise<UplinkRoute>;
  /** Throws Problem 404 for an unknown device. */
  byDevice(serviceDeviceId: string): UplinkRoute | Promise<UplinkRoute>;
  /** Must be told every change of a record: what it concerns is read again. */
  recordChanged(change: RecordChange): void;
}

type TaggedDevice = Pick<UplinkRoute, 'device' | 'tags' | 'customFields'>;

/** A map that forgets the oldest entry beyond its limit. */
function remember<V>(map: Map<string, V>, key: string, value: V, max: number): V {
  if (map.size >= max && !map.has(key)) map.delete(map.keys().next().value!);
  map.set(key, value);
  return value;
}

export function uplinkDirectory(records: Records): UplinkDirectory {
  const connectors = new Map<string, DeviceConnector>();
  const flows = new Map<string, FlowRoute>();
  const routes = new Map<string, UplinkRoute>();
  const serviceIds = new Map<string, string>();
  let changes = 0;

  const physicalKey = (organizationId: string, deviceId: string) => `${organizationId} ${deviceId}`;

  const flowRoute = async (id: string): Promise<FlowRoute> => {
    const known = flows.get(id);
    if (known !== undefined) return known;
    const changesBefore = changes;
    const route = await readFlow(records, id);
    return changes === changesBefore ? remember(flows, id, route, directoryLimits.flowsMax) : route;
  };

  const routeOf = async (read: () => Promise<Device | undefined>, id: string): Promise<UplinkRoute> => {
    const changesBefore = changes;
    const device = await read();
    if (device === undefined) throw problem('notFound', { what: 'device', id });
    const tags = (await tagsOfDevices(records.db, [device.id])).get(device.id) ?? [];
    const values = (await customFieldsOfDevices(records.db, [device.id])).get(device.id) ?? [];
    const tagged: TaggedDevice = { device, tags, customFields: customFieldMap(values) };
    const route = { ...(await flowRoute(device.dataFlowId)), ...tagged };
    // What changed while it was read may be half old; it is used this once and not kept.
    if (changes !== changesBefore) return route;
    remember(routes, device.id, route, directoryLimits.devicesMax);
    const key = physicalKey(device.organizationId, device.deviceId);
    remember(serviceIds, key, device.id, directoryLimits.devicesMax);
    return route;
  };

  const connectorOf = async (secret: string): Promise<DeviceConnector> => {
    const changesBefore = changes;
    const connector = connectors.get(secret) ?? (await findDeviceConnectorBySecret(records, secret));
    if (connector === undefined) throw problem('uplinkSecretUnknown');
    if (changes === changesBefore) remember(connectors, secret, connector, directoryLimits.secretsMax);
    return connector;
  };

  const secondLook = async (secret: string, deviceId: string): Promise<UplinkRoute> => {
    const connector = await connectorOf(secret);
    const { organizationId } = connector;
    const route = await routeOf(() => findDeviceByDeviceId(records, organizationId, deviceId), deviceId);
    return ofConnector(route, connector);
  };

  const euiKey = ({ id }: DeviceConnector, deviceEui: string) => `${id} eui ${deviceEui}`;

  const lookForEui = async (connector: DeviceConnector, deviceEui: string): Promise<UplinkRoute> => {
    const changesBefore = changes;
    const device = await findDeviceByEui(records, connector, deviceEui);
    const route = await routeOf(async () => device, deviceEui);
    if (changes === changesBefore) {
      remember(serviceIds, euiKey(connector, deviceEui), route.device.id, directoryLimits.devicesMax);
    }
    return ofConnector(route, connector);
  };

  return {
    bySecret(secret, deviceId) {
      const connector = connectors.get(secret);
      const id = connector && serviceIds.get(physicalKey(connector.organizationId, deviceId));
      const route = id === undefined ? undefined : routes.get(id);
      // A device that was given another physical id may still be found under its old one here.
      if (connector === undefined || route?.device.deviceId !== deviceId) return secondLook(secret, deviceId);
      return ofConnector(route, connector);
    },
    connector(secret) {
      return connectors.get(secret) ?? connectorOf(secret);
    },
    byEui(connector, deviceEui) {
      const key = euiKey(connector, deviceEui);
      const route = routes.get(serviceIds.get(key) ?? '');
      if (route !== undefined && isNamed(route.device, deviceEui)) return ofConnector(route, connector);
      return lookForEui(connector, deviceEui);
    },
    byDevice(id) {
      return routes.get(id) ?? routeOf(() => findDevice(records, id), id);
    },
    recordChanged(change) {
      changes += 1;
      if (change.kind === 'device') return forgetDevice(change.id, routes, serviceIds);
      // Devices share these records; they change so rarely that everything is read again.
      const shared = ['dataFlow', 'deviceType', 'deviceConnector', 'outputConnector', 'tag', 'customFieldMeta'];
      if (!shared.includes(change.kind)) return;
      for (const map of [connectors, flows, routes, serviceIds]) map.clear();
    },
  };
}

function forgetDevice(id: string, routes: Map<string, UplinkRoute>, serviceIds: Map<string, string>): void {
  const known = routes.get(id);
  if (known === undefined) return;
  routes.delete(id);
  serviceIds.delete(`${known.device.organizationId} ${known.device.deviceId}`);
}

/** Whether the device still has the EUI, as its physical id or among its LoRa properties. */
function isNamed({ deviceId, loraProperties }: Device, deviceEui: string): boolean {
  const own = loraProperties?.['deviceEui'];
  return deviceId.toLowerCase() === deviceEui || (typeof own === 'string' && own.toLowerCase() === deviceEui);
}

function ofConnector(route: UplinkRoute, connector: DeviceConnector): UplinkRoute {
  const { deviceId } = route.device;
  if (route.connector.id !== connector.id) throw problem('deviceNotOnConnector', { deviceId });
  return route;
}

async function readFlow(records: Records, id: string): Promise<FlowRoute> {
  const flow = await findDataFlow(records.db, id);
  if (flow === undefined) throw new Error(`Data flow ${id} of a device is missing`);
  const connector = await findDeviceConnector(records, flow.deviceConnectorId);
  if (connector === undefined) throw new Error(`The device connector of data flow ${id} is missing`);
  const type = flow.deviceTypeId === null ? null : ((await findDeviceType(records.db, flow.deviceTypeId)) ?? null);
  const ids = [...new Set(flow.outputs.map((output) => output.outputConnectorId))];
  const found = new Map((await findOutputConnectors(records, ids)).map((output) => [output.id, output]));
  const outputs = flow.outputs.flatMap(({ outputConnectorId, topic }) => {
    const output = found.get(outputConnectorId);
    return output === undefined ? [] : [{ connector: output, topic }];
  });
  return { flow, connector, type, outputs };
}
