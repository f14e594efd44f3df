// Compact device: what differs between devices as one short string; what they share is in their profile.
import type { Device } from '../../model/device.ts';
import { deviceFieldRows } from '../../model/device-fields.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import type { DeviceWithLabels } from '../../storage/records/rows/devices.ts';

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

export type SharedProperties = Pick<Device, (typeof sharedProperties)[number]>;

/** What a profile is known by: the shared properties and the labels of its devices. */
export interface ProfileContent {
  readonly shared: SharedProperties;
  readonly tagIds: readonly string[];
  /** Fields that the devices have a value of, in the order of the values in compact devices. */
  readonly fieldIds: readonly string[];
}

type OwnProperty = Exclude<keyof Device, keyof SharedProperties>;

/** Own properties that nearly every device leaves empty come last, where they are omitted. */
const rarelySet: readonly OwnProperty[] = [
  'updated',
  'version',
  'description',
  'properties',
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
export function isStringOf(string: string, deviceId: string): boolean {
  return (
    string.startsWith(deviceId, idStart) && string.charCodeAt(idStart + deviceId.length) === quote
  );
}

function isEmpty(name: OwnProperty | undefined, value: Json | undefined): boolean {
  const empty = (name && emptyValues[name]) ?? null;
  if (isJsonObject(empty)) return isJsonObject(value) && Object.keys(value).length === 0;
  return value === empty;
}

export interface ReadDevice {
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
export function bytesOfString(string: string): number {
  // One byte a character unless one of them needs two.
  const isWide = /[\u0100-\uffff]/.test(string);
  return 16 + (isWide ? 2 : 1) * string.length;
}
