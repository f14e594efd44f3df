// Devices: create, read, update, delete, for requests and for the items of operations (contract 4).
import type { DeviceDraft, DeviceUpdate } from '../../contract/devices.ts';
import { type DeviceConnector, fitsConnector } from '../../model/connector.ts';
import type { CustomFieldMeta } from '../../model/custom-field.ts';
import { type Device, firstRegistration } from '../../model/device.ts';
import { newId } from '../../model/ids.ts';
import type { Json } from '../../model/json.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import {
  customFieldsOfDevices,
  findCustomFields,
  saveCustomFieldValues,
} from '../../storage/records/rows/custom-fields.ts';
import { dataFlowRows } from '../../storage/records/rows/data-flows.ts';
import { deviceConnectorRows } from '../../storage/records/rows/device-connectors.ts';
import {
  deviceRows,
  findDeviceByDeviceId,
  removeDevice,
} from '../../storage/records/rows/devices.ts';
import { findPlace } from '../../storage/records/rows/resource-refs.ts';
import {
  findTagsNamed,
  saveDeviceTags,
  tagRows,
  tagsOfDevices,
} from '../../storage/records/rows/tags.ts';
import {
  change,
  firstVersion,
  found,
  nextVersion,
  orCurrent,
  type Step,
} from '../record-change.ts';
import { placeIn } from '../record-crud.ts';
import { checkRecordQuota } from '../workspaces/usage.ts';
import {
  checkRequired,
  customFieldsFrom,
  loraPropertiesFrom,
  newFieldValues,
  updatedFieldValues,
} from './device-field-values.ts';
import { deviceViews } from './device-view.ts';

export async function createDevice(records: Records, principal: Principal, draft: DeviceDraft) {
  const record = await change(records, (step) => createDeviceStep(step, draft));
  return one(records, principal, record);
}

async function one(records: Records, principal: Principal, device: Device) {
  const [view] = await deviceViews(records, principal, [device]);
  if (view === undefined) throw new Error('A device has no view');
  return view;
}

export async function readDevice(records: Records, principal: Principal, id: string) {
  return one(records, principal, found(await deviceRows.find(records, id), 'device', id));
}

/** By the physical id; 404 in another organization, 403 in another workspace. */
export async function readDeviceByDeviceId(
  records: Records,
  principal: Principal,
  deviceId: string,
) {
  const device = found(
    await findDeviceByDeviceId(records, principal.organizationId, deviceId),
    'device',
    deviceId,
  );
  if (principal.workspaces !== 'all' && !principal.workspaces.has(device.workspaceId))
    throw problem('permissionDenied');
  return one(records, principal, device);
}

export async function updateDevice(
  records: Records,
  principal: Principal,
  id: string,
  sent: DeviceUpdate,
) {
  const saved = await change(records, (step) => updateDeviceStep(step, id, sent));
  return one(records, principal, saved);
}

/** What it stored is dropped afterwards. */
export async function deleteDevice(records: Records, id: string): Promise<void> {
  await change(records, (step) => deleteDeviceStep(step, id));
}

// Changes of one device within a transaction, for requests and for the items of operations (contract 4).

const tagsMax = 100;

/**
 * Records that many devices of one transaction refer to, read once. The transaction must not change
 * them.
 */
export class DeviceLookups {
  readonly #step: Step;
  readonly #places = new Map<string, ReturnType<typeof placeIn>>();
  readonly #flows = new Map<string, ReturnType<typeof dataFlowRows.find>>();
  readonly #connectors = new Map<string, Promise<DeviceConnector | undefined>>();
  readonly #fields = new Map<string, ReturnType<typeof findCustomFields>>();

  constructor(step: Step) {
    this.#step = step;
  }

  place(workspaceId: string): ReturnType<typeof placeIn> {
    return readOnce(this.#places, workspaceId, () => placeIn(this.#step, workspaceId));
  }

  flow(id: string): ReturnType<typeof dataFlowRows.find> {
    return readOnce(this.#flows, id, () => dataFlowRows.find(this.#step.db, id));
  }

  /** The connector of the data flow, which gives a device its connectivity and integration. */
  connectorOfFlow(id: string): Promise<DeviceConnector | undefined> {
    return readOnce(this.#connectors, id, async () => {
      const flow = await this.flow(id);
      return flow && (await deviceConnectorRows.find(this.#step, flow.deviceConnectorId));
    });
  }

  customFields({ organizationId, workspaceId }: Device) {
    const of = { organizationId, workspaceIds: [workspaceId] };
    return readOnce(this.#fields, workspaceId, () => findCustomFields(this.#step.db, of));
  }
}

function readOnce<T>(known: Map<string, Promise<T>>, id: string, read: () => Promise<T>) {
  const before = known.get(id);
  if (before !== undefined) return before;
  const now = read();
  known.set(id, now);
  return now;
}

/**
 * A device references records of its workspace, and its connectivity fits that of its data flow.
 */
async function checkReferences(
  step: Step,
  device: Device,
  before: Device | null,
  lookups: DeviceLookups,
): Promise<void> {
  const flow = await lookups.flow(device.dataFlowId);
  if (flow?.workspaceId !== device.workspaceId)
    throw unknown('dataFlowId', 'data flow', device.dataFlowId);
  if (device.integrationId !== null) {
    const integration = await findPlace(step.db, 'integration', device.integrationId);
    if (integration?.workspaceId !== device.workspaceId) {
      throw unknown('integrationId', 'integration', device.integrationId);
    }
  }
  const other = await findDeviceByDeviceId(step, device.organizationId, device.deviceId);
  if (other !== undefined && other.id !== device.id)
    throw problem('deviceIdNotUnique', { deviceId: device.deviceId });
  await checkConnectivity(device, before, lookups);
}

/** Checks changes alone: a device that does not fit can still be changed in everything else. */
async function checkConnectivity(
  device: Device,
  before: Device | null,
  lookups: DeviceLookups,
): Promise<void> {
  const { dataFlowId, connectivity } = device;
  if (dataFlowId === before?.dataFlowId && connectivity === before.connectivity) return;
  const connector = (await lookups.connectorOfFlow(dataFlowId))?.connectivity;
  if (connector === undefined || fitsConnector(connectivity, connector)) return;
  throw problem('connectivityMismatch', { connectivity, connector });
}

async function saveTags(step: Step, device: Device, sent: DeviceUpdate['tags']): Promise<void> {
  if (sent === undefined) return;
  const ids = [...new Set((sent ?? []).map((tag) => tag.id))];
  if (ids.length > tagsMax)
    throw problem('invalidRequest', { reason: `body tags: must have at most ${tagsMax} items` });
  const own = (await tagRows.findAll(step.db, ids)).filter(
    (tag) => tag.workspaceId === device.workspaceId,
  );
  const missing = ids.find((id) => !own.some((tag) => tag.id === id));
  if (missing !== undefined) throw unknown('tags', 'tag', missing);
  await saveDeviceTags(step.db, device.id, ids);
}

/** Sets the sent values; a new device needs one in every required field. */
async function saveCustomFields(
  step: Step,
  device: Device,
  sent: DeviceUpdate,
  isNew: boolean,
  lookups: DeviceLookups,
): Promise<void> {
  if (!isNew && !sent.customFields) return;
  const { id } = device;
  const fields = await lookups.customFields(device);
  const values = customFieldsFrom(sent.customFields, fields);
  checkRequired(fields, values, isNew);
  await saveCustomFieldValues(step.db, id, values, device.updated ?? device.created);
}

function unknown(field: string, what: string, id: string) {
  return problem('unknownReference', { field: `body ${field}`, what, id, place: 'workspace' });
}

/** Throws 400 or 409 for an invalid draft. */
export async function createDeviceStep(
  step: Step,
  draft: DeviceDraft,
  lookups = new DeviceLookups(step),
): Promise<Device> {
  const place = await lookups.place(draft.workspaceId);
  const connector = await lookups.connectorOfFlow(draft.dataFlowId);
  const connectivity = draft.connectivity ?? connector?.connectivity ?? 'HTTP';
  const device: Device = {
    id: newId('device'),
    ...place,
    dataFlowId: draft.dataFlowId,
    ...newFieldValues(draft),
    connectivity,
    loraProperties: loraPropertiesFrom(null, draft.loraProperties ?? draft.loRaProperties),
    integrationId: draft.integrationId ?? connector?.integrationId ?? null,
    ...firstRegistration(connectivity),
    ...firstVersion(step.now()),
  };
  await checkReferences(step, device, null, lookups);
  await checkRecordQuota(step, place.organizationId, 'devices');
  await deviceRows.insert(step, device);
  await saveTags(step, device, draft.tags);
  await saveCustomFields(step, device, draft, true, lookups);
  step.announce({ kind: 'device', id: device.id, action: 'created' });
  return device;
}

/** The sent one; without any, that of a new data flow's connector. */
async function integrationAfter(
  lookups: DeviceLookups,
  current: Device,
  sent: DeviceUpdate,
): Promise<string | null> {
  if (sent.integrationId) return sent.integrationId;
  const isMoved = sent.dataFlowId !== undefined && sent.dataFlowId !== current.dataFlowId;
  if (!isMoved && sent.integrationId === undefined) return current.integrationId;
  return (
    (await lookups.connectorOfFlow(sent.dataFlowId ?? current.dataFlowId))?.integrationId ?? null
  );
}

/** Throws 404, 400 or 409. */
export async function updateDeviceStep(
  step: Step,
  id: string,
  sent: DeviceUpdate,
): Promise<Device> {
  const current = found(await deviceRows.find(step, id), 'device', id);
  const connectivity = sent.connectivity ?? current.connectivity;
  const { loraProperties = sent.loRaProperties } = sent;
  const lookups = new DeviceLookups(step);
  const record: Device = {
    ...current,
    ...updatedFieldValues(sent),
    dataFlowId: orCurrent(sent.dataFlowId, current.dataFlowId),
    integrationId: await integrationAfter(lookups, current, sent),
    ...(connectivity !== current.connectivity && firstRegistration(connectivity)),
    loraProperties: loraPropertiesFrom(current.loraProperties, loraProperties),
    ...nextVersion(current, sent.version, step.now()),
  };
  await checkReferences(step, record, current, lookups);
  await deviceRows.save(step, record);
  await saveTags(step, record, sent.tags);
  await saveCustomFields(step, record, sent, false, lookups);
  step.announce({ kind: 'device', id, action: 'updated' });
  return record;
}

/** The caller or periodic maintenance then drops its samples. */
export async function deleteDeviceStep(step: Step, id: string): Promise<Device> {
  const device = found(await deviceRows.find(step, id), 'device', id);
  await removeDevice(step.db, id, step.now());
  step.announce({ kind: 'device', id, action: 'deleted' });
  return device;
}

/** Adds and removes tags of the device's workspace. */
export async function tagDeviceStep(
  step: Step,
  id: string,
  tagIds: { readonly add: readonly string[]; readonly remove: readonly string[] },
): Promise<Device> {
  const current = ((await tagsOfDevices(step.db, [id])).get(id) ?? []).map((tag) => tag.id);
  const tags = [...new Set([...current, ...tagIds.add])].filter(
    (tag) => !tagIds.remove.includes(tag),
  );
  return updateDeviceStep(step, id, { tags: tags.map((tag) => ({ id: tag })) });
}

/**
 * Keeps the tags and custom fields that the other workspace has by name, and removes the others.
 */
export async function moveDeviceStep(
  step: Step,
  id: string,
  target: { readonly workspaceId: string; readonly dataFlowId: string },
): Promise<Device> {
  const now = step.now();
  const current = found(await deviceRows.find(step, id), 'device', id);
  const { workspaceId, dataFlowId } = target;
  const lookups = new DeviceLookups(step);
  const integrationId = (await lookups.connectorOfFlow(dataFlowId))?.integrationId ?? null;
  const record: Device = {
    ...current,
    workspaceId,
    dataFlowId,
    integrationId,
    ...nextVersion(current, undefined, now),
  };
  await checkReferences(step, record, current, lookups);
  const names = ((await tagsOfDevices(step.db, [id])).get(id) ?? []).map((tag) => tag.name);
  const kept = (await customFieldsOfDevices(step.db, [id])).get(id) ?? [];
  const { organizationId } = record;
  const fields = await findCustomFields(step.db, {
    organizationId,
    workspaceIds: [target.workspaceId],
  });
  const values = new Map<CustomFieldMeta, Json>();
  for (const { meta, value } of kept) {
    const field = fields.find(({ name, type }) => name === meta.name && type === meta.type);
    if (field !== undefined) values.set(field, value);
  }
  checkRequired(fields, values, true);
  await deviceRows.save(step, record);
  const left = new Map(kept.map(({ meta }) => [meta, null] as const));
  await saveCustomFieldValues(step.db, id, left, now);
  await saveCustomFieldValues(step.db, id, values, now);
  const tags = await findTagsNamed(step.db, target.workspaceId, names);
  await saveDeviceTags(
    step.db,
    id,
    tags.map((tag) => tag.id),
  );
  step.announce({ kind: 'device', id, action: 'updated' });
  return record;
}
