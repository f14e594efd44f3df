// Who sends, and what becomes of it: devices by uplink secret and physical id, kept in memory until a record changes.
import type { DeviceConnector } from '../../model/connector.ts';
import type { DataFlow } from '../../model/data-flow.ts';
import type { Device } from '../../model/device.ts';
import type { DeviceType } from '../../model/device-type.ts';
import type { JsonObject } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';
import type { RecordChange } from '../../model/record.ts';
import type { Tag } from '../../model/tag.ts';
import { UnreadableRecord } from '../../model/unreadable-record.ts';
import { customFieldsOfDevices } from '../../records/rows/custom-fields.ts';
import { findDataFlow } from '../../records/rows/data-flows.ts';
import type { Records } from '../../records/records.ts';
import {
  findDeviceConnector,
  findDeviceConnectorBySecret,
} from '../../records/rows/device-connectors.ts';
import { findDeviceType } from '../../records/rows/device-types.ts';
import { findDevice, findDeviceByDeviceId, findDeviceByEui } from '../../records/rows/devices.ts';
import {
  findOpenOutputConnectors,
  type OpenOutputConnector,
} from '../../records/rows/output-connectors.ts';
import { tagsOfDevices } from '../../records/rows/tags.ts';
import { cacheByPart } from '../cache-by-part.ts';
import { customFieldMap } from './custom-field-values.ts';
import { createBoundedMap } from '../../structures/bounded-map.ts';

/** As many flows as devices: a device is known only while its flow is. */
const directoryLimits = { devicesMax: 100_000, flowsMax: 100_000, secretsMax: 20_000 } as const;

/** A data flow with everything it names. */
export interface FlowRoute {
  readonly flow: DataFlow;
  readonly connector: DeviceConnector;
  readonly type: DeviceType | null;
  readonly outputs: readonly { readonly connector: OpenOutputConnector; readonly topic: string }[];
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
  /** Throws Problem 404 for an unknown device, 403 for a device of another connector. */
  byConnector(
    connector: DeviceConnector,
    physicalDeviceId: string,
  ): UplinkRoute | Promise<UplinkRoute>;
  /** By the EUI, in lower case, that a network server knows a device by. Throws Problem 404 and 403 like `bySecret`. */
  byEui(connector: DeviceConnector, deviceEui: string): UplinkRoute | Promise<UplinkRoute>;
  /** Throws Problem 404 for an unknown device. */
  byDevice(serviceDeviceId: string): UplinkRoute | Promise<UplinkRoute>;
  /** Number of changes so far: what was found at another revision may be outdated. */
  readonly revision: number;
  /** Must be told every change of a record: what it concerns is read again. */
  recordChanged(change: RecordChange): void;
}

type TaggedDevice = Pick<UplinkRoute, 'device' | 'tags' | 'customFields'>;

/** A flow as devices share it; a stale one is read again, and only it. */
interface SharedFlow {
  readonly route: FlowRoute;
  isStale: boolean;
}

interface KnownDevice {
  readonly tagged: TaggedDevice;
  /** Ids of its tags and of the fields it has values of. */
  readonly labels: readonly string[];
  readonly flow: SharedFlow;
  readonly route: UplinkRoute;
}

/** Kinds whose changes concern routes. */
const routedKinds: ReadonlySet<string> = new Set([
  'device',
  'tag',
  'customFieldMeta',
  'dataFlow',
  'deviceType',
  'deviceConnector',
  'outputConnector',
]);

export function uplinkDirectory(records: Records): UplinkDirectory {
  const connectors = createBoundedMap<string, DeviceConnector>(directoryLimits.secretsMax);
  const flows = cacheByPart<SharedFlow>(directoryLimits.flowsMax, (flow) => {
    flow.isStale = true;
  });
  const devices = cacheByPart<KnownDevice>(directoryLimits.devicesMax);
  const serviceIds = createBoundedMap<string, string>(directoryLimits.devicesMax);
  let changes = 0;

  const physicalKey = (organizationId: string, deviceId: string) => `${organizationId} ${deviceId}`;

  const sharedFlow = async (id: string): Promise<SharedFlow> => {
    const known = flows.get(id);
    if (known !== undefined) return known;
    const changesBefore = changes;
    const route = await readFlow(records, id);
    // What changed while it was read may be half old; it is used this once and not kept.
    const flow = { route, isStale: changes !== changesBefore };
    if (flow.isStale) return flow;
    // Whoever read it at the same time has the same; devices share the one that is kept.
    const since = flows.get(id);
    if (since !== undefined) return since;
    const parts = [route.connector.id, ...(route.type === null ? [] : [route.type.id])];
    flows.set(id, flow, [...parts, ...route.outputs.map(({ connector }) => connector.id)]);
    return flow;
  };

  const keep = async (
    tagged: TaggedDevice,
    labels: readonly string[],
    changesBefore: number,
  ): Promise<UplinkRoute> => {
    const { device } = tagged;
    const flow = await sharedFlow(device.dataFlowId);
    const route = { ...flow.route, ...tagged };
    if (changes !== changesBefore || flow.isStale) return route;
    devices.set(device.id, { tagged, labels, flow, route }, labels);
    serviceIds.set(physicalKey(device.organizationId, device.deviceId), device.id);
    return route;
  };

  const routeOf = async (
    read: () => Promise<Device | undefined>,
    id: string,
  ): Promise<UplinkRoute> => {
    const changesBefore = changes;
    const device = await read();
    if (device === undefined) throw problem('notFound', { what: 'device', id });
    const tags = (await tagsOfDevices(records.db, [device.id])).get(device.id) ?? [];
    const values = (await customFieldsOfDevices(records.db, [device.id])).get(device.id) ?? [];
    const labels = [...tags.map((tag) => tag.id), ...values.map(({ meta }) => meta.id)];
    return keep({ device, tags, customFields: customFieldMap(values) }, labels, changesBefore);
  };

  /** Only what changed is read again: the device itself, or the flow that it shares. */
  const renewed = (id: string): UplinkRoute | Promise<UplinkRoute> => {
    const known = devices.get(id);
    if (known === undefined) return routeOf(() => findDevice(records, id), id);
    return known.flow.isStale ? keep(known.tagged, known.labels, changes) : known.route;
  };

  const connectorOf = async (secret: string): Promise<DeviceConnector> => {
    const changesBefore = changes;
    const connector =
      connectors.get(secret) ?? (await findDeviceConnectorBySecret(records, secret));
    if (connector === undefined) throw problem('uplinkSecretUnknown');
    if (changes === changesBefore) connectors.set(secret, connector);
    return connector;
  };

  const lookForDevice = async (
    connector: DeviceConnector,
    deviceId: string,
  ): Promise<UplinkRoute> => {
    const { organizationId } = connector;
    const route = await routeOf(
      () => findDeviceByDeviceId(records, organizationId, deviceId),
      deviceId,
    );
    return ofConnector(route, connector);
  };

  const euiKey = ({ id }: DeviceConnector, deviceEui: string) => `${id} eui ${deviceEui}`;

  const lookForEui = async (
    connector: DeviceConnector,
    deviceEui: string,
  ): Promise<UplinkRoute> => {
    const changesBefore = changes;
    const device = await findDeviceByEui(records, connector, deviceEui);
    const route = await routeOf(async () => device, deviceEui);
    if (changes === changesBefore) serviceIds.set(euiKey(connector, deviceEui), route.device.id);
    return ofConnector(route, connector);
  };

  const byConnector: UplinkDirectory['byConnector'] = (connector, deviceId) => {
    const id = serviceIds.get(physicalKey(connector.organizationId, deviceId));
    // A device that was given another physical id may still be found under its old one here.
    const isKnown = id !== undefined && devices.get(id)?.tagged.device.deviceId === deviceId;
    if (!isKnown) return lookForDevice(connector, deviceId);
    const route = renewed(id);
    return route instanceof Promise
      ? route.then((found) => ofConnector(found, connector))
      : ofConnector(route, connector);
  };

  return {
    bySecret(secret, deviceId) {
      const connector = connectors.get(secret);
      if (connector !== undefined) return byConnector(connector, deviceId);
      return connectorOf(secret).then((found) => byConnector(found, deviceId));
    },
    connector(secret) {
      return connectors.get(secret) ?? connectorOf(secret);
    },
    byConnector,
    get revision() {
      return changes;
    },
    byEui(connector, deviceEui) {
      const id = serviceIds.get(euiKey(connector, deviceEui));
      const known = id === undefined ? undefined : devices.get(id);
      if (id === undefined || known === undefined || !isNamed(known.tagged.device, deviceEui)) {
        return lookForEui(connector, deviceEui);
      }
      const route = renewed(id);
      return route instanceof Promise
        ? route.then((one) => ofConnector(one, connector))
        : ofConnector(route, connector);
    },
    byDevice: renewed,
    recordChanged({ kind, id, action }) {
      // Nothing refers to what was just made; what will refer to it is told as a change of its own.
      if (!routedKinds.has(kind) || action === 'created') return;
      changes += 1;
      if (kind === 'device') devices.forget(id);
      else if (kind === 'tag' || kind === 'customFieldMeta') devices.forgetPart(id);
      else if (kind === 'dataFlow') flows.forget(id);
      else flows.forgetPart(id);
      if (kind !== 'deviceConnector') return;
      for (const [secret, connector] of connectors)
        if (connector.id === id) connectors.delete(secret);
    },
  };
}

/** Whether the device still has the EUI, as its physical id or among its LoRa properties. */
function isNamed({ deviceId, loraProperties }: Device, deviceEui: string): boolean {
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

async function readFlow(records: Records, id: string): Promise<FlowRoute> {
  const flow = await findDataFlow(records.db, id);
  if (flow === undefined) throw new UnreadableRecord(`Data flow ${id} of a device is missing`);
  const connector = await findDeviceConnector(records, flow.deviceConnectorId);
  if (connector === undefined)
    throw new UnreadableRecord(`The device connector of data flow ${id} is missing`);
  const type =
    flow.deviceTypeId === null
      ? null
      : ((await findDeviceType(records.db, flow.deviceTypeId)) ?? null);
  const ids = [...new Set(flow.outputs.map((output) => output.outputConnectorId))];
  const found = new Map(
    (await findOpenOutputConnectors(records.db, ids)).map((output) => [output.id, output]),
  );
  const outputs = flow.outputs.flatMap(({ outputConnectorId, topic }) => {
    const output = found.get(outputConnectorId);
    return output === undefined ? [] : [{ connector: output, topic }];
  });
  return { flow, connector, type, outputs };
}
