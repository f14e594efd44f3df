// Device table: devices in memory in less than 200 bytes each, found by service id, physical id and EUI.
import { randomInt } from 'node:crypto';
import { type Device, deviceFieldRows, type Tag } from '../../model/device.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Records } from '../../storage/records/records.ts';
import { customFieldRows } from '../../storage/records/rows/custom-fields.ts';
import type { DeviceWithLabels } from '../../storage/records/rows/devices.ts';
import { tagRows } from '../../storage/records/rows/tags.ts';
import { type BoundedMap, createBoundedMap, type RecordChanges } from '../../structures/caches.ts';
import { createStringHash, SlotIndex } from '../../structures/hash-tables.ts';
import type { FlowCache, SharedFlow } from './flow-route-cache.ts';

export interface DeviceTableLimits {
  readonly devicesMax: number;
  /** Of their strings. */
  readonly bytesMax: number;
  readonly profilesMax: number;
  /** Devices that are also kept as objects: those that were used last. */
  readonly objectsMax: number;
}

/** A device of the table as an object. */
export interface KnownDevice<Made> extends ReadDevice {
  readonly profile: DeviceProfile;
  /** What the caller derived from the device, kept as long as the object. */
  made: Made | undefined;
}

/** Devices that are removed for one that is added, before that one is not kept. */
const removedMax = 16;
/** Slots that are tried to find a device to remove. */
const triesMax = 64;
const random32 = () => randomInt(2 ** 32);

export class DeviceTable<Made> {
  readonly #profiles: DeviceProfiles;
  readonly #limits: DeviceTableLimits;
  readonly #hashOf = createStringHash(random32(), random32());
  readonly #ids = new SlotIndex();
  readonly #deviceIds = new SlotIndex();
  readonly #euis = new SlotIndex();
  /** By slot. An empty slot has no string. */
  readonly #strings: (string | undefined)[] = [];
  readonly #profileOfSlot: (DeviceProfile | undefined)[] = [];
  /** Only devices of network servers have one; 0 for the others. */
  #euiHashes = new Uint32Array(0);
  readonly #emptySlots: number[] = [];
  readonly #objects: BoundedMap<number, KnownDevice<Made>>;
  #bytes = 0;

  constructor(profiles: DeviceProfiles, limits: DeviceTableLimits) {
    this.#profiles = profiles;
    this.#limits = limits;
    this.#objects = createBoundedMap(limits.objectsMax);
  }

  get size(): number {
    return this.#ids.size;
  }

  /** Bytes of the strings. */
  get bytes(): number {
    return this.#bytes;
  }

  byId(id: string): KnownDevice<Made> | undefined {
    const slot = this.#slotOf(id);
    return slot === undefined ? undefined : this.#read(slot);
  }

  /** The profile of the device, which takes no object for the device. */
  profileOf(id: string): DeviceProfile | undefined {
    const slot = this.#slotOf(id);
    return slot === undefined ? undefined : this.#profileOfSlot[slot];
  }

  byDeviceId(organizationId: string, deviceId: string): KnownDevice<Made> | undefined {
    const slot = this.#deviceIds.find(this.#hashOf(organizationId, deviceId), (found) => {
      const device = this.#read(found)?.device;
      return device?.deviceId === deviceId && device.organizationId === organizationId;
    });
    return slot === undefined ? undefined : this.#read(slot);
  }

  /** The device that `setEui` named last with this EUI; `isNamed` checks that it still has it. */
  byEui(
    connectorId: string,
    eui: string,
    isNamed: (device: ReadDevice['device']) => boolean,
  ): KnownDevice<Made> | undefined {
    const slot = this.#euis.find(this.#euiHash(connectorId, eui), (found) => {
      const known = this.#read(found);
      return known !== undefined && isNamed(known.device);
    });
    return slot === undefined ? undefined : this.#read(slot);
  }

  /** Adds or replaces the device. At a limit, devices chosen at random make room. */
  set(labeled: DeviceWithLabels): KnownDevice<Made> {
    const { device } = labeled;
    this.delete(device.id);
    const profile = this.#profiles.hold(profileContentOf(labeled));
    const string = compactString(labeled, profile);
    const values = profile.fieldIds.map((id) => labeled.values.get(id) ?? null);
    const added = { device, values, profile, made: undefined };
    const size = bytesOfString(string);
    if (!this.#makeRoom(size)) {
      this.#profiles.release(profile);
      return added;
    }
    this.#bytes += size;
    const slot = this.#emptySlots.pop() ?? this.#strings.length;
    this.#strings[slot] = string;
    this.#profileOfSlot[slot] = profile;
    this.#ids.add(this.#hashOf(device.id), slot);
    this.#deviceIds.add(this.#hashOf(device.organizationId, device.deviceId), slot);
    this.#objects.set(slot, added);
    return added;
  }

  setEui(id: string, connectorId: string, eui: string): void {
    const slot = this.#slotOf(id);
    if (slot === undefined) return;
    this.#removeEui(slot);
    const hash = this.#euiHash(connectorId, eui);
    this.#euis.add(hash, slot);
    if (slot >= this.#euiHashes.length)
      this.#euiHashes = extended(this.#euiHashes, this.#strings.length);
    this.#euiHashes[slot] = hash;
  }

  delete(id: string): void {
    const slot = this.#slotOf(id);
    if (slot !== undefined) this.#remove(slot);
  }

  #euiHash(connectorId: string, eui: string): number {
    return this.#hashOf(connectorId, eui) || 1;
  }

  #slotOf(id: string): number | undefined {
    return this.#ids.find(this.#hashOf(id), (slot) => isStringOf(this.#strings[slot] ?? '', id));
  }

  #read(slot: number): KnownDevice<Made> | undefined {
    const known = this.#objects.get(slot);
    if (known !== undefined) return known;
    const string = this.#strings[slot];
    const profile = this.#profileOfSlot[slot];
    if (string === undefined || profile === undefined) return undefined;
    const made = { ...readCompactString(string, profile), profile, made: undefined };
    this.#objects.set(slot, made);
    return made;
  }

  #remove(slot: number): void {
    const known = this.#read(slot);
    if (known === undefined) return;
    const { device, profile } = known;
    this.#ids.delete(this.#hashOf(device.id), slot);
    this.#deviceIds.delete(this.#hashOf(device.organizationId, device.deviceId), slot);
    this.#removeEui(slot);
    this.#bytes -= bytesOfString(this.#strings[slot] ?? '');
    this.#strings[slot] = undefined;
    this.#profileOfSlot[slot] = undefined;
    this.#objects.delete(slot);
    this.#emptySlots.push(slot);
    this.#profiles.release(profile);
  }

  #removeEui(slot: number): void {
    const hash = this.#euiHashes[slot] ?? 0;
    if (hash === 0) return;
    this.#euis.delete(hash, slot);
    this.#euiHashes[slot] = 0;
  }

  #hasRoom(added: number): boolean {
    return (
      this.#ids.size < this.#limits.devicesMax &&
      this.#bytes + added <= this.#limits.bytesMax &&
      this.#profiles.size <= this.#limits.profilesMax
    );
  }

  /** A fleet that sends in turn finds most devices here: the oldest are as likely to be next. */
  #makeRoom(added: number): boolean {
    for (let i = 0; i < removedMax && !this.#hasRoom(added); i++) this.#removeAny();
    return this.#hasRoom(added);
  }

  #removeAny(): void {
    for (let i = 0; i < triesMax && this.#strings.length > 0; i++) {
      const slot = randomInt(this.#strings.length);
      if (this.#strings[slot] === undefined) continue;
      this.#remove(slot);
      return;
    }
  }
}

function extended(numbers: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const longer = new Uint32Array(Math.max(length, numbers.length * 2));
  longer.set(numbers);
  return longer;
}

// Device profiles: data flow, tags, custom fields and common properties of devices, each kept once for all its devices.

/** The records that a profile names, as they are now. */
export interface ProfileParts {
  readonly flow: SharedFlow;
  /** In order of name. */
  readonly tags: readonly Tag[];
  /** The custom fields of these values, which are in the order of the profile's fields. */
  readonly fieldsOf: (values: readonly Json[]) => JsonObject;
}

interface DeviceProfile extends ProfileContent {
  readonly key: string;
  /** Number of devices that have the profile, and of reads that use it. */
  holders: number;
  /** Undefined until it is read, and after a change of a tag or field. */
  parts: ProfileParts | undefined;
  /** The read in progress, for callers that came before a further change. */
  reading: { readonly revision: number; readonly parts: Promise<ProfileParts> } | undefined;
}

export class DeviceProfiles {
  readonly #records: Records;
  readonly #flows: FlowCache;
  readonly #changes: RecordChanges;
  readonly #profiles = new Map<string, DeviceProfile>();
  readonly #usersOf = new Map<string, Set<DeviceProfile>>();

  constructor(records: Records, flows: FlowCache, changes: RecordChanges) {
    this.#records = records;
    this.#flows = flows;
    this.#changes = changes;
  }

  /** Call when a tag or custom field changed. */
  readonly labelChanged = (labelId: string): void => {
    for (const profile of this.#usersOf.get(labelId) ?? []) profile.parts = undefined;
  };

  get size(): number {
    return this.#profiles.size;
  }

  /** The profile with this content, held once more. */
  hold(content: ProfileContent): DeviceProfile {
    const { shared, tagIds, fieldIds } = content;
    const key = JSON.stringify([...Object.values(shared), tagIds, fieldIds]);
    const profile = this.#profiles.get(key) ?? this.#add(key, content);
    profile.holders += 1;
    return profile;
  }

  /** Drops the profile with its last holder. */
  release(profile: DeviceProfile): void {
    profile.holders -= 1;
    if (profile.holders > 0) return;
    this.#profiles.delete(profile.key);
    for (const label of this.#labelsOf(profile)) {
      const users = this.#usersOf.get(label);
      if (users?.delete(profile) === true && users.size === 0) this.#usersOf.delete(label);
    }
  }

  /** A promise when records must be read. Rejects when a record cannot be read. */
  parts(profile: DeviceProfile): ProfileParts | Promise<ProfileParts> {
    if (profile.parts !== undefined && !profile.parts.flow.isStale) return profile.parts;
    const { revision } = this.#changes;
    if (profile.reading?.revision === revision) return profile.reading.parts;
    const reading = { revision, parts: this.#read(profile) };
    profile.reading = reading;
    const end = (): void => {
      if (profile.reading === reading) profile.reading = undefined;
    };
    reading.parts.then(end, end);
    return reading.parts;
  }

  #labelsOf({ tagIds, fieldIds }: ProfileContent) {
    return [...tagIds, ...fieldIds];
  }

  #add(key: string, content: ProfileContent): DeviceProfile {
    const profile = { ...content, key, holders: 0, parts: undefined, reading: undefined };
    this.#profiles.set(key, profile);
    for (const label of this.#labelsOf(content)) {
      const users = this.#usersOf.get(label);
      if (users === undefined) this.#usersOf.set(label, new Set([profile]));
      else users.add(profile);
    }
    return profile;
  }

  async #read(profile: DeviceProfile): Promise<ProfileParts> {
    const { revision } = this.#changes;
    const { tagIds, fieldIds, parts: before, shared } = profile;
    const flow = await this.#flows.read(shared.dataFlowId);
    // Only the flow changed: the tags and fields are still those of the records.
    if (before !== undefined && profile.parts === before) {
      profile.parts = { ...before, flow };
      return profile.parts;
    }
    const tags = await tagRows.inOrder(this.#records.db, tagIds);
    const fields = await customFieldRows.inOrder(this.#records.db, fieldIds);
    const places = fields.map(({ id, name }) => [name, fieldIds.indexOf(id)] as const);
    const fieldsOf = (values: readonly Json[]): JsonObject =>
      Object.fromEntries(places.map(([name, place]) => [name, values[place] ?? null]));
    const parts = { flow, tags, fieldsOf };
    const isOutdated = this.#labelsOf(profile).some((id) => this.#changes.hasChanged(id, revision));
    // Parts that changed meanwhile are used once.
    if (!isOutdated) profile.parts = parts;
    return parts;
  }
}

// Compact device: what differs between devices as one short string; what they share is in their profile.

/** Properties that many devices have in common. */
const sharedProperties = [
  'organizationId',
  'workspaceId',
  'dataFlowId',
  'integrationId',
  'connectivity',
  'onlineTimeoutSeconds',
  'excludeFromLifecycleReport',
  'registered',
  'active',
] as const satisfies readonly (keyof Device)[];

type SharedProperties = Pick<Device, (typeof sharedProperties)[number]>;

/** What a profile is known by: the shared properties and the labels of its devices. */
interface ProfileContent {
  readonly shared: SharedProperties;
  readonly tagIds: readonly string[];
  /** Fields that the devices have a value of, in the order of the values in compact devices. */
  readonly fieldIds: readonly string[];
}

type OwnProperty = Exclude<keyof Device, keyof SharedProperties>;

/** Own properties that nearly every device leaves empty come last, where they are omitted. */
const rarelySet: readonly OwnProperty[] = [
  'placeId',
  'updated',
  'version',
  'description',
  'properties',
  'planPosition',
  'loraProperties',
];
/** The id is the first of all, before the values of fields. */
const always: readonly OwnProperty[] = ['id', 'deviceId', 'name', 'created'];
/** Behind the bracket and the quote. */
const idStart = 2;
const quote = 0x22;
const isShared = new Set<string>(sharedProperties);
const others = deviceFieldRows
  .map(({ property }) => property)
  .filter(
    (name) => !isShared.has(name) && ![...always, ...rarelySet].includes(name as OwnProperty),
  );
const ownProperties = [...always, ...(others as readonly OwnProperty[]), ...rarelySet];

/** An omitted property has this value, null without one. */
const emptyValues: Readonly<Partial<Record<OwnProperty, Json>>> = { version: 0, properties: {} };

export function profileContentOf({ device, tagIds, values }: DeviceWithLabels): ProfileContent {
  const shared: Record<string, unknown> = {};
  for (const name of sharedProperties) shared[name] = device[name];
  return {
    shared: shared as unknown as SharedProperties,
    tagIds: [...tagIds].sort(),
    fieldIds: [...values.keys()].sort(),
  };
}

/** The string of the device under a profile with these fields. */
export function compactString(
  { device, values }: DeviceWithLabels,
  { fieldIds }: ProfileContent,
): string {
  const parts = ownProperties.map((name) => device[name] as Json);
  while (isEmpty(ownProperties[parts.length - 1], parts.at(-1))) parts.pop();
  const [id, ...rest] = parts;
  return JSON.stringify([id, ...fieldIds.map((field) => values.get(field) ?? null), ...rest]);
}

/** Whether the compact string is that of the device. This service creates ids, without escapes. */
function isStringOf(string: string, deviceId: string): boolean {
  return (
    string.startsWith(deviceId, idStart) && string.charCodeAt(idStart + deviceId.length) === quote
  );
}

function isEmpty(name: OwnProperty | undefined, value: Json | undefined): boolean {
  const empty = (name && emptyValues[name]) ?? null;
  if (isJsonObject(empty)) return isJsonObject(value) && Object.keys(value).length === 0;
  return value === empty;
}

interface ReadDevice {
  readonly device: Device;
  /** In the order of the profile's fields. */
  readonly values: readonly Json[];
}

/** The device as it was before `compactString`. */
export function readCompactString(
  string: string,
  { shared, fieldIds }: ProfileContent,
): ReadDevice {
  const parts = JSON.parse(string) as Json[];
  const device: Record<string, Json> = { ...shared };
  const [id, ...rest] = parts;
  const values = rest.splice(0, fieldIds.length);
  for (const [i, name] of ownProperties.entries())
    device[name] = (i === 0 ? id : rest[i - 1]) ?? emptyValues[name] ?? null;
  return { device: device as unknown as Device, values };
}

/** Bytes of a string in memory, with its header. */
function bytesOfString(string: string): number {
  // One byte a character unless one of them needs two.
  const isWide = /[\u0100-\uffff]/.test(string);
  return 16 + (isWide ? 2 : 1) * string.length;
}
