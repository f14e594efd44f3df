// Devices: create, read, update, delete (contract 4).
import type { Connectivity } from '../model/connector.ts';
import { type Device, onlineTimeoutSecondsDefault } from '../model/device.ts';
import { newId } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import { findDataFlow } from '../store/records/data-flows.ts';
import type { Records } from '../store/records/database.ts';
import { findDeviceConnector } from '../store/records/device-connectors.ts';
import { findDevice, findDeviceByDeviceId, insertDevice, removeDevice, saveDevice } from '../store/records/devices.ts';
import { findTags, saveDeviceTags } from '../store/records/tags.ts';
import { findWorkspace } from '../store/records/workspaces.ts';
import { change, firstVersion, found, nextVersion, orCurrent, type Step } from './change.ts';
import { deviceViews } from './device-view.ts';
import { loraPropertiesFrom } from './lora-properties.ts';

const tagsMax = 100;

type LoraDraft = Readonly<Record<string, unknown>> | null | undefined;

export interface DeviceUpdate {
  readonly name?: string | undefined;
  readonly deviceId?: string | undefined;
  readonly dataFlowId?: string | undefined;
  readonly connectivity?: Connectivity | null | undefined;
  readonly description?: string | null | undefined;
  readonly tags?: readonly { readonly id: string }[] | null | undefined;
  readonly customFields?: readonly unknown[] | null | undefined;
  readonly properties?: JsonObject | null | undefined;
  readonly onlineTimeout?: number | null | undefined;
  readonly excludeFromLifecycleReport?: boolean | null | undefined;
  readonly integrationId?: string | null | undefined;
  readonly loraProperties?: LoraDraft;
  /** The name one client uses in its create command. */
  readonly loRaProperties?: LoraDraft;
  readonly version?: number | null | undefined;
}

export interface DeviceDraft extends DeviceUpdate {
  readonly workspaceId: string;
  readonly name: string;
  readonly deviceId: string;
  readonly dataFlowId: string;
}

/** What a device names must be of its workspace; there are no integrations and no custom fields to name. */
async function checkReferences(step: Step, device: Device, sent: DeviceUpdate): Promise<void> {
  const flow = await findDataFlow(step.db, device.dataFlowId);
  if (flow?.workspaceId !== device.workspaceId) throw unknown('dataFlowId', 'data flow', device.dataFlowId);
  if (sent.integrationId) throw unknown('integrationId', 'integration', sent.integrationId);
  const field = sent.customFields?.[0];
  if (field !== undefined) {
    const id = typeof field === 'object' && field !== null && 'fieldMetaId' in field ? String(field.fieldMetaId) : '';
    throw unknown('customFields', 'custom field', id);
  }
  const other = await findDeviceByDeviceId(step, device.organizationId, device.deviceId);
  if (other !== undefined && other.id !== device.id) throw problem('deviceIdNotUnique', { deviceId: device.deviceId });
}

async function saveTags(step: Step, device: Device, sent: DeviceUpdate['tags']): Promise<void> {
  if (sent === undefined) return;
  const ids = [...new Set((sent ?? []).map((tag) => tag.id))];
  if (ids.length > tagsMax) throw problem('invalidRequest', { reason: `body tags: more than ${tagsMax}` });
  const own = (await findTags(step.db, ids)).filter((tag) => tag.workspaceId === device.workspaceId);
  const missing = ids.find((id) => !own.some((tag) => tag.id === id));
  if (missing !== undefined) throw unknown('tags', 'tag', missing);
  await saveDeviceTags(step.db, device.id, ids);
}

function unknown(field: string, what: string, id: string) {
  return problem('unknownReference', { field: `body ${field}`, what, id, place: 'workspace' });
}

/** Without one in the request a device has the connectivity of its data flow's connector. */
async function connectivityOfFlow(step: Step, dataFlowId: string): Promise<Connectivity> {
  const flow = await findDataFlow(step.db, dataFlowId);
  const connector = flow && (await findDeviceConnector(step, flow.deviceConnectorId));
  return connector?.connectivity ?? 'HTTP';
}

export async function createDevice(records: Records, principal: Principal, draft: DeviceDraft, now: number) {
  const record = await change(records, async (step) => {
    const { organizationId } = found(await findWorkspace(step.db, draft.workspaceId), 'workspace', draft.workspaceId);
    const device: Device = {
      id: newId('device'),
      deviceId: draft.deviceId,
      organizationId,
      workspaceId: draft.workspaceId,
      dataFlowId: draft.dataFlowId,
      name: draft.name,
      description: draft.description ?? null,
      connectivity: draft.connectivity ?? (await connectivityOfFlow(step, draft.dataFlowId)),
      onlineTimeoutSeconds: draft.onlineTimeout ?? onlineTimeoutSecondsDefault,
      properties: draft.properties ?? {},
      loraProperties: loraPropertiesFrom(null, draft.loraProperties ?? draft.loRaProperties),
      excludeFromLifecycleReport: draft.excludeFromLifecycleReport ?? false,
      ...firstVersion(now),
    };
    await checkReferences(step, device, draft);
    await insertDevice(step, device);
    await saveTags(step, device, draft.tags);
    step.announce({ kind: 'device', id: device.id, action: 'created' });
    return device;
  });
  return one(records, principal, record, now);
}

async function one(records: Records, principal: Principal, device: Device, now: number) {
  const [view] = await deviceViews(records, principal, [device], now);
  if (view === undefined) throw new Error('A device has no view');
  return view;
}

export async function readDevice(records: Records, principal: Principal, id: string, now: number) {
  return one(records, principal, found(await findDevice(records, id), 'device', id), now);
}

/** By the physical id; 404 in another organization, 403 in another workspace. */
export async function readDeviceByDeviceId(records: Records, principal: Principal, deviceId: string, now: number) {
  const device = found(await findDeviceByDeviceId(records, principal.organizationId, deviceId), 'device', deviceId);
  if (principal.workspaces !== 'all' && !principal.workspaces.has(device.workspaceId))
    throw problem('permissionDenied');
  return one(records, principal, device, now);
}

export async function updateDevice(
  records: Records,
  principal: Principal,
  id: string,
  sent: DeviceUpdate,
  now: number,
) {
  const saved = await change(records, async (step) => {
    const current = found(await findDevice(step, id), 'device', id);
    const lora = sent.loraProperties === undefined ? sent.loRaProperties : sent.loraProperties;
    const record: Device = {
      ...current,
      name: orCurrent(sent.name, current.name),
      deviceId: orCurrent(sent.deviceId, current.deviceId),
      dataFlowId: orCurrent(sent.dataFlowId, current.dataFlowId),
      connectivity: sent.connectivity ?? current.connectivity,
      description: orCurrent(sent.description, current.description),
      properties: orCurrent(sent.properties, current.properties) ?? {},
      onlineTimeoutSeconds: sent.onlineTimeout ?? current.onlineTimeoutSeconds,
      excludeFromLifecycleReport: sent.excludeFromLifecycleReport ?? current.excludeFromLifecycleReport,
      loraProperties: loraPropertiesFrom(current.loraProperties, lora),
      ...nextVersion(current, sent.version, now),
    };
    await checkReferences(step, record, sent);
    await saveDevice(step, record);
    await saveTags(step, record, sent.tags);
    step.announce({ kind: 'device', id, action: 'updated' });
    return record;
  });
  return one(records, principal, saved, now);
}

/** What it stored is dropped afterwards. */
export async function deleteDevice(records: Records, id: string, now: number): Promise<void> {
  await change(records, async (step) => {
    found(await findDevice(step, id), 'device', id);
    await removeDevice(step.db, id, now);
    step.announce({ kind: 'device', id, action: 'deleted' });
  });
}
