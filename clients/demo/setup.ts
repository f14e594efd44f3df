// Setup of the demo workspace through the public REST interface. Existing records are found and kept.
import { join } from 'node:path';
import { databaseConnectorId } from '../../src/model/ids.ts';
import type { JsonObject } from '../../src/model/json.ts';
import {
  demoWorkspaceDraft,
  simulatedConnectorName,
  simulatedMark,
} from '../../src/model/workspace.ts';
import { demoDeviceTypes, readDeviceType } from './device-type-folder.ts';
import type { DemoDevice, DeviceKind } from './devices/device-kind.ts';
import type { Platform } from './platform.ts';

/** A simulated device with its record on the platform. */
export interface EnrolledDevice {
  /** Service device id. */
  readonly id: string;
  readonly kind: DeviceKind;
  readonly device: DemoDevice;
}

export interface DemoWorkspace {
  readonly id: string;
  readonly uplinkSecret: string;
  readonly devices: readonly EnrolledDevice[];
  /** The tag that every device of the demo has. */
  readonly tagId: string;
  /** Device types that did not exist before. */
  readonly deviceTypeIds: readonly string[];
}

interface DemoPlace {
  readonly organizationId: string;
  /** By default the one that was marked before, or a new one. */
  readonly workspaceId?: string;
}

const everyDeviceTag = 'Demo';
const listSize = '1000';

interface NamedRecord {
  readonly id: string;
  readonly name: string;
}

interface RecordPage<T> {
  readonly content: readonly T[];
}

/**
 * Creates what is missing of workspace, device types, connector, tags, flows and devices (contract
 * 3, 4, 6 to 8, 10).
 */
export async function setUpDemo(
  platform: Platform,
  place: DemoPlace,
  kinds: readonly DeviceKind[],
): Promise<DemoWorkspace> {
  const { organizationId } = place;
  const workspaceId = place.workspaceId ?? (await demoWorkspace(platform, organizationId));
  const uplinkSecret = await deviceConnector(platform, workspaceId);
  const tagIds = await namedTags(platform, workspaceId, kinds);
  const { connectorId } = uplinkSecret;
  const owner = { organizationId, workspaceId, connectorId };
  const deviceTypeIds: string[] = [];
  const flowIds = await dataFlows(platform, owner, kinds, (id) => void deviceTypeIds.push(id));
  const known = await platform.get<RecordPage<{ id: string; deviceId: string }>>('/v3/assets', {
    workspaceId,
    size: listSize,
  });
  const devices: EnrolledDevice[] = [];
  for (const kind of kinds) {
    for (const device of kind.devices) {
      const record =
        known.content.find((one) => one.deviceId === device.deviceId) ??
        (await platform.post<NamedRecord>('/v3/devices', {
          deviceId: device.deviceId,
          name: device.name,
          description: device.description,
          type: 'DEVICE',
          connectivity: 'HTTP',
          organizationId,
          workspaceId,
          dataFlowId: flowIds.get(kind)!,
          onlineTimeout: kind.onlineTimeoutS,
          tags: [...device.tags, everyDeviceTag].map((name) => ({ id: tagIds.get(name)! })),
        }));
      devices.push({ id: record.id, kind, device });
    }
  }
  return {
    id: workspaceId,
    uplinkSecret: uplinkSecret.secret,
    devices,
    tagId: tagIds.get(everyDeviceTag)!,
    deviceTypeIds,
  };
}

async function demoWorkspace(platform: Platform, organizationId: string): Promise<string> {
  const page = await platform.get<RecordPage<NamedRecord & { properties?: JsonObject | null }>>(
    '/v3/workspaces',
    {
      organizationId,
      size: listSize,
    },
  );
  const marked = page.content.find(
    (one) => one.properties?.['simulated'] === simulatedMark.simulated,
  );
  if (marked !== undefined) return marked.id;
  const created = await platform.post<NamedRecord>('/v3/workspaces', {
    ...demoWorkspaceDraft,
    organizationId,
    properties: simulatedMark,
  });
  return created.id;
}

async function deviceConnector(
  platform: Platform,
  workspaceId: string,
): Promise<{ connectorId: string; secret: string }> {
  type Connector = NamedRecord & { uplinkSecret: string | null };
  const found = await byName<Connector>(
    platform,
    '/v3/device-connectors',
    { workspaceId },
    simulatedConnectorName,
  );
  const connector =
    found ??
    (await platform.post<Connector>('/v3/device-connectors', {
      name: simulatedConnectorName,
      description: 'Takes the payloads of the simulated devices',
      workspaceId,
      connectivity: 'HTTP',
      authType: 'BASIC',
      decodingType: 'NONE',
    }));
  if (connector.uplinkSecret === null) {
    throw new Error('The API key cannot read uplink secrets: the demo needs dataFlow update');
  }
  return { connectorId: connector.id, secret: connector.uplinkSecret };
}

const tagColors = [
  '#2563EB',
  '#0D9488',
  '#16A34A',
  '#CA8A04',
  '#EA580C',
  '#DC2626',
  '#9333EA',
  '#475569',
];

async function namedTags(
  platform: Platform,
  workspaceId: string,
  kinds: readonly DeviceKind[],
): Promise<ReadonlyMap<string, string>> {
  const names = kinds.flatMap((kind) => kind.devices.flatMap((device) => device.tags));
  const page = await platform.get<RecordPage<NamedRecord>>('/v3/tags', {
    workspaceId,
    size: listSize,
  });
  const ids = new Map(page.content.map((tag) => [tag.name, tag.id]));
  for (const [i, name] of [...new Set([everyDeviceTag, ...names])].entries()) {
    if (ids.has(name)) continue;
    const body = { workspaceId, name, color: tagColors[i % tagColors.length]! };
    ids.set(name, (await platform.post<NamedRecord>('/v3/tags', body)).id);
  }
  return ids;
}

async function dataFlows(
  platform: Platform,
  owner: {
    readonly organizationId: string;
    readonly workspaceId: string;
    readonly connectorId: string;
  },
  kinds: readonly DeviceKind[],
  typeCreated: (id: string) => void,
): Promise<ReadonlyMap<DeviceKind, string>> {
  const { organizationId, workspaceId, connectorId } = owner;
  const flowIds = new Map<DeviceKind, string>();
  for (const kind of kinds) {
    const found = await byName(platform, '/v3/data-flows', { workspaceId }, kind.flowName);
    const flow =
      found ??
      (await platform.post<NamedRecord>('/v3/data-flows', {
        name: kind.flowName,
        workspaceId,
        deviceConnector: { id: connectorId },
        deviceType: { id: await deviceType(platform, organizationId, kind, typeCreated) },
        outputConnectors: [{ id: databaseConnectorId, topic: '*' }],
        isPassThrough: false,
      }));
    flowIds.set(kind, flow.id);
  }
  return flowIds;
}

async function deviceType(
  platform: Platform,
  organizationId: string,
  kind: DeviceKind,
  typeCreated: (id: string) => void,
): Promise<string> {
  const draft = await readDeviceType(join(demoDeviceTypes, kind.folder));
  const found = await byName(
    platform,
    '/v3/device-types',
    { organizationId, types: 'manual' },
    draft.name,
  );
  if (found !== undefined) return found.id;
  const { id } = await platform.post<NamedRecord>('/v3/device-types', { ...draft, organizationId });
  typeCreated(id);
  return id;
}

async function byName<T extends NamedRecord = NamedRecord>(
  platform: Platform,
  path: string,
  query: Readonly<Record<string, string>>,
  name: string,
): Promise<T | undefined> {
  const page = await platform.get<RecordPage<T>>(path, { ...query, size: listSize });
  return page.content.find((one) => one.name === name);
}
