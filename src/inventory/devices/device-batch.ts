// Device batches: changes of many devices in one transaction, checked one after the other and written together (contract 4, 19).
import type { DeviceDraft, DeviceUpdate } from '../../contract/devices.ts';
import {
  type DeviceConnector,
  deviceCreationOf,
  fitsConnector,
  type Connectivity,
} from '../../model/connector.ts';
import type { CustomFieldMeta, Device, Tag } from '../../model/device.ts';
import { idSequence } from '../../model/ids.ts';
import type { Json } from '../../model/json.ts';
import type { NetworkWork } from '../../model/operation.ts';
import type { PlanPosition } from '../../model/place.ts';
import { problem, Problem, type ProblemName } from '../../model/problem.ts';
import { customFieldRows, type SavedFieldValue } from '../../storage/records/rows/custom-fields.ts';
import { annotationRows } from '../../storage/records/rows/annotations.ts';
import { dataFlowRows, deviceConnectorRows } from '../../storage/records/rows/data-flows.ts';
import {
  deviceRows,
  devicesPerBatch,
  type DeviceWithLabels,
  type FoundDevice,
} from '../../storage/records/rows/devices.ts';
import { organizationRows } from '../../storage/records/rows/workspaces.ts';
import { placeRows } from '../../storage/records/rows/places.ts';
import { findPlace } from '../../storage/records/rows/search.ts';
import { type DeviceTag, tagRows } from '../../storage/records/rows/tags.ts';
import {
  change,
  firstVersion,
  found,
  nextVersion,
  orCurrent,
  placeIn,
  type Step,
} from '../record-crud.ts';
import { refuseAtQuota } from '../workspaces/organizations.ts';
import {
  checkRequired,
  customFieldsFrom,
  loraPropertiesFrom,
  newFieldValues,
  updatedFieldValues,
} from './device-field-values.ts';
import { registeredDevice } from './registration.ts';
import type { Records } from '../../storage/records/records.ts';
import { createSerialQueue, type SerialQueue } from '../../structures/work-queues.ts';

export type DeviceChange =
  | { readonly work: 'create'; readonly draft: DeviceDraft }
  | { readonly work: 'update'; readonly id: string; readonly sent: DeviceUpdate }
  | { readonly work: 'delete'; readonly id: string }
  | ({ readonly work: 'move'; readonly id: string } & MoveTarget)
  | ({ readonly work: 'tag'; readonly id: string } & TagIds)
  | PlaceChange
  /** Without the consent of its network server, of a device to register nothing is known. */
  | { readonly work: NetworkWork; readonly id: string; readonly isAgreed: boolean };

interface MoveTarget {
  readonly workspaceId: string;
  readonly dataFlowId: string;
}

/** `stay` and `remove` ask that the device is at the place, `stay` also below it. */
interface PlaceChange {
  readonly work: 'place';
  readonly id: string;
  readonly placeId: string;
  readonly does: 'add' | 'remove' | 'stay';
  readonly position?: PlanPosition;
}

interface TagIds {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

/**
 * Makes the changes in their order, in the open transaction. Each has the device as it is
 * afterwards (a deleted one as it was), or the Problem that refused it: it changes nothing then,
 * and stops no other. With a workspace, devices of others are not found.
 */
export async function changeDevices(
  step: Step,
  changes: readonly DeviceChange[],
  workspaceId?: string,
): Promise<(Device | Problem)[]> {
  const outcomes: (Device | Problem)[] = [];
  for (const some of batchesOf(changes))
    outcomes.push(...(await new DeviceBatch(step, some, workspaceId).run()));
  return outcomes;
}

/** The same for one; throws its Problem. */
export async function changeDevice(step: Step, one: DeviceChange): Promise<Device> {
  const [outcome] = await changeDevices(step, [one]);
  if (outcome === undefined) throw new Error('A change of a device has no outcome');
  if (outcome instanceof Problem) throw outcome;
  return outcome;
}

/** A device is in a batch once, so that its row is written once. */
function* batchesOf(changes: readonly DeviceChange[]): Iterable<readonly DeviceChange[]> {
  let batch: DeviceChange[] = [];
  const ids = new Set<string>();
  for (const one of changes) {
    const id = 'id' in one ? one.id : undefined;
    if (batch.length === devicesPerBatch || (id !== undefined && ids.has(id))) {
      yield batch;
      batch = [];
      ids.clear();
    }
    batch.push(one);
    if (id !== undefined) ids.add(id);
  }
  if (batch.length > 0) yield batch;
}

const tagsMax = 100;

class DeviceBatch {
  readonly #step: Step;
  readonly #changes: readonly DeviceChange[];
  /** Devices of others are not found; undefined: of all. */
  readonly #workspaceId: string | undefined;
  readonly #references: References;
  readonly #newId = idSequence('device');
  #devices: ReadonlyMap<string, FoundDevice> = new Map();
  #tags: ReadonlyMap<string, Tag> = new Map();
  /** By organization: physical id to the service id of the device that has it, if any has. */
  readonly #holders = new Map<string, Promise<Map<string, string>>>();
  /** By organization: how many devices it has. */
  readonly #counts = new Map<string, number>();
  readonly #created: Device[] = [];
  readonly #saved: Device[] = [];
  /** Ids by the workspace that they are in now. */
  readonly #moved = new Map<string, string[]>();
  readonly #deleted: string[] = [];
  readonly #addedTags: DeviceTag[] = [];
  readonly #removedTags: DeviceTag[] = [];
  readonly #values: SavedFieldValue[] = [];

  constructor(step: Step, changes: readonly DeviceChange[], workspaceId: string | undefined) {
    this.#step = step;
    this.#changes = changes;
    this.#workspaceId = workspaceId;
    this.#references = new References(step);
  }

  async run(): Promise<(Device | Problem)[]> {
    const ids = this.#changes.flatMap((one) => ('id' in one ? [one.id] : []));
    const devices = ids.length > 0 ? await deviceRows.byIds(this.#step, ids) : [];
    this.#devices = new Map(devices.map((device) => [device.id, device]));
    this.#tags = await tagRows.byId(this.#step.db, [...new Set(this.#changes.flatMap(tagsNamed))]);
    const outcomes: (Device | Problem)[] = [];
    for (const one of this.#changes) outcomes.push(await this.#outcomeOf(one));
    await this.#write();
    return outcomes;
  }

  async #outcomeOf(one: DeviceChange): Promise<Device | Problem> {
    try {
      return await this.#make(one);
    } catch (error) {
      // A full or failing disk is not an error of the device.
      if (error instanceof Problem && error.status < 500) return error;
      throw error;
    }
  }

  /** Everything is checked before anything is noted. */
  #make(one: DeviceChange): Promise<Device> | Device {
    if (one.work === 'create') return this.#create(one.draft);
    const current = this.#find(one.id);
    switch (one.work) {
      case 'update':
        return this.#update(current, one.sent);
      case 'tag': {
        const kept = [...new Set([...current.tagIds, ...one.add])];
        const tags = kept.filter((id) => !one.remove.includes(id)).map((id) => ({ id }));
        return this.#update(current, { tags });
      }
      case 'place':
        return this.#changePlace(current, one);
      case 'move':
        return this.#move(current, one);
      case 'delete':
        return this.#delete(current.device);
      default:
        return this.#register(current.device, one.work, one.isAgreed);
    }
  }

  #find(id: string): DeviceWithLabels {
    const device = this.#devices.get(id)?.read();
    const isOutside =
      this.#workspaceId !== undefined && device?.device.workspaceId !== this.#workspaceId;
    return found(isOutside ? undefined : device, 'device', id);
  }

  async #create(draft: DeviceDraft): Promise<Device> {
    const place = await this.#references.place(draft.workspaceId);
    const connector = await this.#references.connectorOfFlow(draft.dataFlowId);
    const connectivity = draft.connectivity ?? connector?.connectivity ?? 'HTTP';
    const device: Device = {
      id: this.#newId(),
      ...place,
      dataFlowId: draft.dataFlowId,
      ...newFieldValues(draft),
      connectivity,
      loraProperties: loraPropertiesFrom(null, draft.loraProperties ?? draft.loRaProperties),
      integrationId: draft.integrationId ?? connector?.integrationId ?? null,
      ...firstRegistration(connectivity),
      placeId: draft.placeId ?? null,
      planPosition: null,
      ...firstVersion(this.#step.now()),
    };
    await this.#checkReferences(device, null);
    const count = await this.#countOf(place.organizationId);
    refuseAtQuota(this.#step.quotas, 'devices', count);
    const tagIds = this.#sentTags(device, draft.tags, []);
    const values = await this.#sentValues(device, draft, true);
    this.#counts.set(place.organizationId, count + 1);
    this.#created.push(device);
    await this.#note(device, { tagIds: [], values: new Map() }, { tagIds, values });
    this.#step.announce({ kind: 'device', id: device.id, action: 'created' });
    return device;
  }

  async #update(before: DeviceWithLabels, sent: DeviceUpdate): Promise<Device> {
    const { device: current } = before;
    const connectivity = sent.connectivity ?? current.connectivity;
    const { loraProperties = sent.loRaProperties } = sent;
    const device: Device = {
      ...current,
      ...updatedFieldValues(sent),
      dataFlowId: orCurrent(sent.dataFlowId, current.dataFlowId),
      integrationId: await this.#integrationAfter(current, sent),
      ...(connectivity !== current.connectivity && firstRegistration(connectivity)),
      loraProperties: loraPropertiesFrom(current.loraProperties, loraProperties),
      ...placeAfter(current, orCurrent(sent.placeId, current.placeId)),
      ...nextVersion(current, sent.version, this.#step.now()),
    };
    await this.#checkReferences(device, current);
    const tagIds = this.#sentTags(device, sent.tags, before.tagIds);
    const values = await this.#sentValues(device, sent, false);
    return this.#save(device, before, { tagIds, values });
  }

  /**
   * Keeps the tags and custom fields that the other workspace has by name, and removes the others.
   * The device is at no place of the other workspace.
   */
  async #move(before: DeviceWithLabels, { workspaceId, dataFlowId }: MoveTarget): Promise<Device> {
    const { device: current } = before;
    const connector = await this.#references.connectorOfFlow(dataFlowId);
    const device: Device = {
      ...current,
      workspaceId,
      dataFlowId,
      integrationId: connector?.integrationId ?? null,
      placeId: null,
      planPosition: null,
      ...nextVersion(current, undefined, this.#step.now()),
    };
    await this.#checkReferences(device, current);
    const own = await this.#references.customFields(current);
    const fields = await this.#references.customFields(device);
    // All of them are removed, and those that the fields of the other workspace take are added.
    const values = new Map<CustomFieldMeta, Json>();
    for (const meta of own) if (before.values.has(meta.id)) values.set(meta, null);
    const kept = new Map<CustomFieldMeta, Json>();
    for (const { id, name, type } of values.keys()) {
      const field = fields.find((each) => each.name === name && each.type === type);
      if (field !== undefined) kept.set(field, before.values.get(id) ?? null);
    }
    checkRequired(fields, kept, true);
    const tagIds = await this.#references.tagsOfSameName(workspaceId, before.tagIds);
    const moved = this.#moved.get(workspaceId) ?? [];
    moved.push(device.id);
    this.#moved.set(workspaceId, moved);
    return this.#save(device, before, { tagIds, values: new Map([...values, ...kept]) });
  }

  /** A position stays with its plan: a device that changes its place loses it. */
  async #changePlace(before: DeviceWithLabels, change: PlaceChange): Promise<Device> {
    const { device: current, tagIds } = before;
    const { placeId, does, position } = change;
    const isHere =
      current.placeId === placeId ||
      (does === 'stay' && (await this.#references.path(current.placeId)).includes(placeId));
    if (does !== 'add' && !isHere)
      throw problem('invalidRequest', {
        reason: `device ${current.id} is not at place ${placeId}`,
      });
    const after = does === 'add' ? placeId : does === 'remove' ? null : current.placeId;
    const moved = { ...current, ...placeAfter(current, after) };
    const planPosition = position ?? moved.planPosition;
    const device: Device = {
      ...moved,
      planPosition: after === null ? null : planPosition,
      ...nextVersion(current, undefined, this.#step.now()),
    };
    await this.#checkReferences(device, current);
    return this.#save(device, before, { tagIds, values: new Map() });
  }

  async #delete(device: Device): Promise<Device> {
    const { id, organizationId, deviceId } = device;
    (await this.#holdersIn(organizationId)).delete(storedForm(deviceId));
    this.#counts.set(organizationId, (await this.#countOf(organizationId)) - 1);
    this.#deleted.push(id);
    this.#step.announce({ kind: 'device', id, action: 'deleted' });
    return device;
  }

  #register(current: Device, work: NetworkWork, isAgreed: boolean): Device {
    const device = registeredDevice(current, work, isAgreed, this.#step.now());
    if (device === current) return device;
    this.#saved.push(device);
    this.#step.announce({ kind: 'device', id: device.id, action: 'updated' });
    return device;
  }

  async #save(device: Device, before: DeviceWithLabels, labels: Labels): Promise<Device> {
    this.#saved.push(device);
    await this.#note(device, before, labels);
    this.#step.announce({ kind: 'device', id: device.id, action: 'updated' });
    return device;
  }

  /** For those that follow in the batch, and to be written. */
  async #note(
    device: Device,
    before: {
      readonly tagIds: readonly string[];
      readonly values: ReadonlyMap<string, Json>;
      readonly device?: Device;
    },
    { tagIds, values }: Labels,
  ): Promise<void> {
    if (before.device?.deviceId !== device.deviceId) {
      const holders = await this.#holdersIn(device.organizationId);
      if (before.device !== undefined) holders.delete(storedForm(before.device.deviceId));
      holders.set(storedForm(device.deviceId), device.id);
    }
    const { id: deviceId } = device;
    for (const tagId of tagIds)
      if (!before.tagIds.includes(tagId)) this.#addedTags.push({ deviceId, tagId });
    for (const tagId of before.tagIds)
      if (!tagIds.includes(tagId)) this.#removedTags.push({ deviceId, tagId });
    const at = device.updated ?? device.created;
    for (const [meta, value] of values)
      if (value !== null || before.values.has(meta.id))
        this.#values.push({ deviceId, meta, value, at });
  }

  /** In this order, because devices can get physical ids that others before them gave up. */
  async #write(): Promise<void> {
    const { db } = this.#step;
    await deviceRows.removeAll(db, this.#deleted, this.#step.now());
    await deviceRows.saveAll(this.#step, this.#saved);
    for (const [workspaceId, ids] of this.#moved) await annotationRows.move(db, ids, workspaceId);
    await deviceRows.insertAll(this.#step, this.#created);
    await tagRows.changeDevices(db, this.#addedTags, this.#removedTags);
    await customFieldRows.saveValues(db, this.#values);
  }

  /**
   * A device references records of its workspace, and its connectivity fits that of its data flow.
   */
  async #checkReferences(device: Device, before: Device | null): Promise<void> {
    const { id, organizationId, workspaceId, dataFlowId, integrationId, deviceId } = device;
    const { placeId } = device;
    if (placeId !== null && placeId !== before?.placeId) {
      const place = await this.#references.placeRecord(placeId);
      if (place?.workspaceId !== workspaceId) throw unknown('placeId', 'place', placeId);
    }
    const flow = await this.#references.flow(dataFlowId);
    if (flow?.workspaceId !== workspaceId) throw unknown('dataFlowId', 'data flow', dataFlowId);
    if (integrationId !== null) {
      const integration = await this.#references.integration(integrationId);
      if (integration?.workspaceId !== workspaceId)
        throw unknown('integrationId', 'integration', integrationId);
    }
    if (deviceId !== before?.deviceId) {
      const holder = (await this.#holdersIn(organizationId)).get(storedForm(deviceId));
      if (holder !== undefined && holder !== id) throw problem('deviceIdNotUnique', { deviceId });
    }
    await this.#checkConnectivity(device, before);
  }

  /** Checks changes alone: a device that does not fit can still be changed in everything else. */
  async #checkConnectivity(device: Device, before: Device | null): Promise<void> {
    const { dataFlowId, connectivity } = device;
    if (dataFlowId === before?.dataFlowId && connectivity === before.connectivity) return;
    const connector = (await this.#references.connectorOfFlow(dataFlowId))?.connectivity;
    if (connector === undefined || fitsConnector(connectivity, connector)) return;
    throw problem('connectivityMismatch', { connectivity, connector });
  }

  /** The sent integration; without any, that of a new data flow's connector. */
  async #integrationAfter(current: Device, sent: DeviceUpdate): Promise<string | null> {
    if (sent.integrationId) return sent.integrationId;
    const isMoved = sent.dataFlowId !== undefined && sent.dataFlowId !== current.dataFlowId;
    if (!isMoved && sent.integrationId === undefined) return current.integrationId;
    const connector = await this.#references.connectorOfFlow(sent.dataFlowId ?? current.dataFlowId);
    return connector?.integrationId ?? null;
  }

  /** Null is an empty list. */
  #sentTags(
    { workspaceId }: Device,
    sent: DeviceUpdate['tags'],
    current: readonly string[],
  ): readonly string[] {
    if (sent === undefined) return current;
    const ids = [...new Set((sent ?? []).map((tag) => tag.id))];
    if (ids.length > tagsMax)
      throw problem('invalidRequest', { reason: `body tags: must have at most ${tagsMax} items` });
    const isOwn = (id: string) =>
      current.includes(id) || this.#tags.get(id)?.workspaceId === workspaceId;
    const missing = ids.find((id) => !isOwn(id));
    if (missing !== undefined) throw unknown('tags', 'tag', missing);
    return ids;
  }

  /** Of a new device, every required field needs a value. */
  async #sentValues(device: Device, sent: DeviceUpdate, isNew: boolean) {
    if (!isNew && !sent.customFields) return new Map<CustomFieldMeta, Json>();
    const fields = await this.#references.customFields(device);
    const values = customFieldsFrom(sent.customFields, fields);
    checkRequired(fields, values, isNew);
    return values;
  }

  /** Reads those of all physical ids that the batch sets. */
  #holdersIn(organizationId: string): Promise<Map<string, string>> {
    return readOnce(this.#holders, organizationId, async () => {
      const ids = this.#changes.flatMap(physicalIdSet);
      const known = await deviceRows.serviceIdsOf(this.#step.db, organizationId, ids);
      return new Map([...known.values()].map(({ id, deviceId }) => [storedForm(deviceId), id]));
    });
  }

  async #countOf(organizationId: string): Promise<number> {
    return (
      this.#counts.get(organizationId) ??
      (await organizationRows.countOf(this.#step.db, organizationId, 'devices'))
    );
  }
}

/** What a device has afterwards; a value of null is removed, and one that is absent stays. */
interface Labels {
  readonly tagIds: readonly string[];
  readonly values: ReadonlyMap<CustomFieldMeta, Json>;
}

function physicalIdSet(one: DeviceChange): readonly string[] {
  if (one.work === 'create') return [one.draft.deviceId];
  return one.work === 'update' && one.sent.deviceId !== undefined ? [one.sent.deviceId] : [];
}

function tagsNamed(one: DeviceChange): readonly string[] {
  if (one.work === 'tag') return one.add;
  if (one.work === 'create') return (one.draft.tags ?? []).map(({ id }) => id);
  return one.work === 'update' ? (one.sent.tags ?? []).map(({ id }) => id) : [];
}

/** Databases replace what is no Unicode, and one of them NUL too. */
function storedForm(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

function placeAfter(
  current: Device,
  placeId: string | null,
): { readonly placeId: string | null; readonly planPosition: PlanPosition | null } {
  return { placeId, planPosition: placeId === current.placeId ? current.planPosition : null };
}

function unknown(field: string, what: string, id: string) {
  return problem('unknownReference', { field: `body ${field}`, what, id, place: 'workspace' });
}

/** Records that many devices of a batch refer to, read once. */
class References {
  readonly #step: Step;
  readonly #places = new Map<string, ReturnType<typeof placeIn>>();
  readonly #flows = new Map<string, ReturnType<typeof dataFlowRows.find>>();
  readonly #connectors = new Map<string, Promise<DeviceConnector | undefined>>();
  readonly #integrations = new Map<string, ReturnType<typeof findPlace>>();
  readonly #placeRecords = new Map<string, ReturnType<typeof placeRows.find>>();
  readonly #paths = new Map<string, ReturnType<typeof placeRows.pathsOf>>();
  readonly #fields = new Map<string, ReturnType<typeof customFieldRows.ofWorkspaces>>();
  readonly #tags = new Map<string, ReturnType<typeof tagRows.named>>();
  readonly #named = new Map<string, ReturnType<typeof tagRows.find>>();

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

  integration(id: string): ReturnType<typeof findPlace> {
    return readOnce(this.#integrations, id, () => findPlace(this.#step.db, 'integration', id));
  }

  placeRecord(id: string): ReturnType<typeof placeRows.find> {
    return readOnce(this.#placeRecords, id, () => placeRows.find(this.#step.db, id));
  }

  /** The ids of the place and all above it. */
  async path(id: string | null): Promise<readonly string[]> {
    if (id === null) return [];
    const paths = await readOnce(this.#paths, id, () => placeRows.pathsOf(this.#step.db, [id]));
    return paths.get(id)?.map((place) => place.id) ?? [];
  }

  customFields({
    organizationId,
    workspaceId,
  }: Device): ReturnType<typeof customFieldRows.ofWorkspaces> {
    const of = { organizationId, workspaceIds: [workspaceId] };
    return readOnce(this.#fields, workspaceId, () =>
      customFieldRows.ofWorkspaces(this.#step.db, of),
    );
  }

  /** The tags of the workspace that are named like these of any workspace. */
  async tagsOfSameName(workspaceId: string, ids: readonly string[]): Promise<readonly string[]> {
    const same: string[] = [];
    for (const id of ids) {
      const tag = await readOnce(this.#named, id, () => tagRows.find(this.#step.db, id));
      if (tag === undefined) continue;
      const { name } = tag;
      const tags = await readOnce(this.#tags, `${workspaceId} ${name}`, () =>
        tagRows.named(this.#step.db, workspaceId, [name]),
      );
      same.push(...tags.map((one) => one.id));
    }
    return [...new Set(same)];
  }
}

function readOnce<T>(known: Map<string, Promise<T>>, id: string, read: () => Promise<T>) {
  const before = known.get(id);
  if (before !== undefined) return before;
  const now = read();
  known.set(id, now);
  return now;
}

// Created devices: those that a device connector creates for senders that name them first.

/** Why a name has no device. */
interface CreationRefusal {
  readonly errorCode: string;
  readonly message: string;
}

type CreateDevices = (
  connector: DeviceConnector,
  names: readonly string[],
) => Promise<ReadonlyMap<string, CreationRefusal>>;

/**
 * Creates a device for each name in the oldest data flow of the connector, up to `devicesMax`
 * devices. Returns the names that have none afterwards. Requests of one connector take turns, so
 * that they do not pass the limit together.
 */
export function createDeviceCreation(records: Records): CreateDevices {
  const queues = new Map<string, { readonly queue: SerialQueue; waiting: number }>();

  return async (connector, names) => {
    const own = queues.get(connector.id) ?? { queue: createSerialQueue(), waiting: 0 };
    queues.set(connector.id, own);
    own.waiting++;
    try {
      return await own.queue.run(() => createAll(records, connector, names));
    } finally {
      own.waiting--;
      if (own.waiting === 0) queues.delete(connector.id);
    }
  };
}

async function createAll(
  records: Records,
  connector: DeviceConnector,
  names: readonly string[],
): Promise<ReadonlyMap<string, CreationRefusal>> {
  const { id, organizationId, workspaceId } = connector;
  const devicesMax = deviceCreationOf(connector)?.devicesMax ?? 0;
  const flow = await dataFlowRows.oldestOf(records.db, id);
  if (flow === undefined) return refusedAll(names, problem('createdDevicesWithoutFlow'));
  const refused = new Map<string, CreationRefusal>();
  // Counted first: what another node creates after it exists below, and is not refused.
  const room = Math.max(0, devicesMax - (await dataFlowRows.devicesOf(records.db, flow.id)));
  // A request before this one may have created some.
  const existing = await deviceRows.placesByName(records.db, organizationId, names);
  const absent = names.filter((one) => !existing.has(one));
  const drafts = absent.map((name) => ({ name, deviceId: name, workspaceId, dataFlowId: flow.id }));
  let failure: Problem | undefined;
  for (let at = 0, created = 0; at < drafts.length; ) {
    if (created >= room) failure ??= problem('createdDevicesMax', { devicesMax });
    // What refuses one refuses the others, such as a quota.
    if (failure !== undefined) {
      for (const { name } of drafts.slice(at)) refused.set(name, refusalOf(failure));
      break;
    }
    const some = drafts.slice(at, at + Math.min(devicesPerTransaction, room - created));
    at += some.length;
    const changes = some.map((draft) => ({ work: 'create', draft }) as const);
    const outcomes = await change(records, (step) => changeDevices(step, changes));
    for (const [i, outcome] of outcomes.entries()) {
      if (!(outcome instanceof Problem)) created++;
      else if (outcome.problem !== 'deviceIdNotUnique')
        refused.set(some[i]?.name ?? '', refusalOf(outcome));
      if (outcome instanceof Problem && !ofOneName.has(outcome.problem)) failure = outcome;
    }
  }
  return refused;
}

/** More would hold the records for longer than other changes should wait. */
const devicesPerTransaction = 50;

/** Problems of a name: the next one can be good. */
const ofOneName: ReadonlySet<ProblemName> = new Set(['invalidRequest', 'deviceIdNotUnique']);

function refusedAll(names: readonly string[], failure: Problem) {
  return new Map(names.map((name) => [name, refusalOf(failure)]));
}

function refusalOf({ code, message }: Problem): CreationRefusal {
  return { errorCode: code, message };
}

/**
 * The state of a device that is new or has a new connectivity: whether the network server of a LoRa
 * device knows it is unknown.
 */
function firstRegistration(connectivity: Connectivity): {
  readonly registered: boolean | null;
  readonly active: boolean | null;
} {
  return { registered: null, active: connectivity === 'LORA' ? true : null };
}
