// Device: the sender of uplinks, also called an asset; its fields, custom fields and tags (interface 2.1, contract 4, 5, 6).
import { connectivities, type Connectivity } from './connector.ts';
import type { EpochMs } from './instant.ts';
import type { Json, JsonObject } from './json.ts';
import type { PlanPosition } from './place.ts';
import type { AuditFields } from './record.ts';
import type { UplinkMetrics } from './uplink-metrics.ts';

export interface Device extends AuditFields {
  /** Service device id. */
  readonly id: string;
  /** Physical device id; unique within the organization. */
  readonly deviceId: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly dataFlowId: string;
  readonly name: string;
  readonly description: string | null;
  readonly connectivity: Connectivity;
  readonly onlineTimeoutSeconds: number;
  readonly properties: JsonObject;
  readonly loraProperties: JsonObject | null;
  /** The integration that registers the device with its network server; null without one. */
  readonly integrationId: string | null;
  readonly excludeFromLifecycleReport: boolean;
  /**
   * Whether its network server knows the device: null until the server agreed, and for other than
   * LoRa devices. See `isRegistered`.
   */
  readonly registered: boolean | null;
  /** Whether its network server serves the device; null for other than LoRa devices. */
  readonly active: boolean | null;
  /** Of its workspace. */
  readonly placeId: string | null;
  /** On the plan of the nearest place at or above its own that has one. */
  readonly planPosition: PlanPosition | null;
}

export const onlineStates = ['UNKNOWN', 'DE_REGISTERED', 'OFFLINE', 'ONLINE'] as const;
export type OnlineState = (typeof onlineStates)[number];

/**
 * LoRa and not registered: de-registered; never an uplink: unknown; one younger than the time-out,
 * which did not say that the device is gone: online; else offline (contract 4).
 */
export function onlineStateOf(
  registered: boolean | null,
  lastUplink: UplinkMetrics | null,
  onlineTimeoutSeconds: number,
  now: EpochMs,
): { readonly online: boolean | null; readonly onlineState: OnlineState } {
  if (registered === false) return { online: false, onlineState: 'DE_REGISTERED' };
  if (lastUplink === null) return { online: null, onlineState: 'UNKNOWN' };
  const { timestamp, isGone = false } = lastUplink;
  const online = !isGone && now - timestamp < onlineTimeoutSeconds * 1_000;
  return { online, onlineState: online ? 'ONLINE' : 'OFFLINE' };
}

// Device fields that clients set: one table for schemas, filters, columns, files and import checks (interface 2.1, contract 4).

// LoRa fields: the parts of a device's LoRa properties that lists can filter by, by dotted name (contract 4).

/** The parts of LoRa properties that a filter may look at: none of them is secret. */
export const loraFields = [
  'carrier',
  'activationMode',
  'loraVersion',
  'deviceClass',
  'deviceEui',
  'deviceAddress',
  'actilityProperties.connectivityPlanId',
  'actilityProperties.deviceProfileId',
  'actilityProperties.routingProfileId',
  'actilityProperties.motionIndicator',
] as const;
export type LoraField = (typeof loraFields)[number];

/** The type of a field's value, with its limits. A string without `lengthMin` can be empty. */
export type DeviceFieldType =
  | { readonly kind: 'name' }
  | { readonly kind: 'text'; readonly lengthMin?: number; readonly lengthMax: number }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  | { readonly kind: 'flag' }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'object' };

interface DeviceField {
  readonly type: DeviceFieldType;
  /** The label in filter forms. */
  readonly label: string;
  /** Shown in the OpenAPI document. */
  readonly description?: string;
  /** The name in requests, answers, filters and files, where it differs from the property's. */
  readonly wireName?: string;
  /** A request to create a device must set it. */
  readonly required?: true;
  /** The value of a new device when the request does not set one. */
  readonly initial?: Json;
  /** Null in an update resets the field to `initial`. Otherwise null leaves it unchanged. */
  readonly clearable?: true;
  /**
   * Filters can test it. A name or text then has a second column, `<property>Key`, in the form that
   * filters compare.
   */
  readonly filterable?: true;
  /** Lists can be sorted by it. */
  readonly sortable?: true;
  /** The list parameter `search` looks at it. */
  readonly searchable?: true;
  /** Device files have a column for it: an export writes it and an import reads it. */
  readonly inFiles?: true;
}

/**
 * Properties with rules of their own: identity, references to other records, and state of the
 * network server.
 */
type OtherProperty =
  | keyof AuditFields
  | 'id'
  | 'organizationId'
  | 'workspaceId'
  | 'dataFlowId'
  | 'integrationId'
  | 'loraProperties'
  | 'registered'
  | 'active'
  | 'placeId'
  | 'planPosition';

export type DeviceFieldName = Exclude<keyof Device, OtherProperty>;

const secondsPerDay = 86_400;

/** The order here is that of the columns of device files. */
export const deviceFields = {
  deviceId: {
    type: { kind: 'text', lengthMin: 1, lengthMax: 200 },
    label: 'Device id',
    description: 'Device ID, unique in the organization.',
    required: true,
    filterable: true,
    sortable: true,
    searchable: true,
    inFiles: true,
  },
  name: {
    type: { kind: 'name' },
    label: 'Name',
    required: true,
    filterable: true,
    sortable: true,
    searchable: true,
    inFiles: true,
  },
  description: {
    type: { kind: 'text', lengthMax: 10_000 },
    label: 'Description',
    initial: null,
    clearable: true,
    filterable: true,
    sortable: true,
    inFiles: true,
  },
  // Without `initial`: a new device gets the connectivity of its data flow's connector.
  connectivity: {
    type: { kind: 'choice', values: connectivities },
    label: 'Connectivity',
    filterable: true,
    sortable: true,
    inFiles: true,
  },
  onlineTimeoutSeconds: {
    type: { kind: 'integer', min: 1, max: 366 * secondsPerDay },
    label: 'Online time-out in seconds',
    description: 'Time without an uplink after which the device is offline, in seconds.',
    wireName: 'onlineTimeout',
    initial: secondsPerDay,
    filterable: true,
    inFiles: true,
  },
  excludeFromLifecycleReport: {
    type: { kind: 'flag' },
    label: 'Excluded from lifecycle reports',
    initial: false,
    filterable: true,
    inFiles: true,
  },
  properties: {
    type: { kind: 'object' },
    label: 'Properties',
    initial: {},
    clearable: true,
    inFiles: true,
  },
} as const satisfies Readonly<Record<DeviceFieldName, DeviceField>>;

type Table = typeof deviceFields;

/** The fields whose row has the flag. */
export type DeviceFieldWith<Flag extends keyof DeviceField> = {
  [Name in DeviceFieldName]: Table[Name] extends Readonly<Record<Flag, unknown>> ? Name : never;
}[DeviceFieldName];

/**
 * The fields that contain a name or a string and can be filtered by: those with a column
 * `<property>Key`.
 */
export type KeyedDeviceField = {
  [Name in DeviceFieldName]: Table[Name] extends {
    readonly type: { readonly kind: 'name' | 'text' };
    readonly filterable: true;
  }
    ? Name
    : never;
}[DeviceFieldName];

/** The name that requests, answers, filters and files use for the property. */
export type WireName<Name extends DeviceFieldName> = Name extends DeviceFieldName
  ? Table[Name] extends { readonly wireName: infer Wire extends string }
    ? Wire
    : Name
  : never;

export interface DeviceFieldRow<Name extends DeviceFieldName = DeviceFieldName>
  extends DeviceField {
  readonly property: Name;
  readonly wireName: WireName<Name>;
}

/** Every row of the table with its property and wire name, in the table's order. */
export const deviceFieldRows: readonly DeviceFieldRow[] = Object.entries<DeviceField>(
  deviceFields,
).map(([name, field]) => {
  const property = name as DeviceFieldName;
  return {
    ...field,
    property,
    wireName: (field.wireName ?? property) as WireName<typeof property>,
  };
});

/** The rows that have the flag. */
export function deviceFieldsWith<Flag extends keyof DeviceField>(
  flag: Flag,
): readonly DeviceFieldRow<DeviceFieldWith<Flag>>[] {
  return deviceFieldRows.filter(
    (row): row is DeviceFieldRow<DeviceFieldWith<Flag>> => row[flag] !== undefined,
  );
}

/** Whether names or strings of the field have a second column in the form that filters compare. */
export function isKeyed(row: DeviceFieldRow): row is DeviceFieldRow<KeyedDeviceField> {
  return row.filterable === true && (row.type.kind === 'name' || row.type.kind === 'text');
}

// Custom fields: additional fields that a workspace defines, and their values for a device (contract 5).

export const customFieldTypes = ['NUMBER', 'STRING', 'DATE', 'JSON', 'GPS_COORDINATES'] as const;
export type CustomFieldType = (typeof customFieldTypes)[number];

export interface CustomFieldMeta extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  /** Unique within the workspace. */
  readonly name: string;
  readonly description: string | null;
  readonly type: CustomFieldType;
  /** Every device of the workspace has a value. */
  readonly required: boolean;
  /** The only texts a STRING field takes; null for any. */
  readonly selectOptions: readonly string[] | null;
}

/**
 * A device's value: a number, a string, an ISO-8601 date-time, any JSON, or {latitude, longitude},
 * by the field's type.
 */
export interface CustomFieldValue {
  readonly meta: CustomFieldMeta;
  readonly value: Json;
  readonly created: EpochMs;
  readonly updated: EpochMs | null;
}

// Filter types: the kinds of values that a filterable field has, one or more (interface 2.9).

export const filterTypes = [
  'STRING',
  'NUMBER',
  'DATE',
  'BOOLEAN',
  'ENUM',
  'LIST',
  'CUSTOM_FIELD',
] as const;
export type FilterType = (typeof filterTypes)[number];

// Tag: a named group of devices of one workspace (contract 6).

export interface Tag extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly description: string | null;
  /** `#RRGGBB` */
  readonly color: string | null;
}

// Tag combinations: `AND:<id>,<id>` for devices with all of the tags, `OR:<id>,<id>` for those with any (contract 13).

interface TagCombination {
  readonly joined: 'AND' | 'OR';
  readonly tagIds: readonly string[];
}

export const tagCombinationMax = 20;

/** Undefined when the combination is invalid, has no tag or more than `tagCombinationMax`. */
export function parseTagCombination(text: string): TagCombination | undefined {
  const match = /^\s*(AND|OR)\s*:(.*)$/is.exec(text);
  if (match === null) return undefined;
  const [, joined = '', ids = ''] = match;
  const tagIds = [...new Set(ids.split(',').map((id) => id.trim()))];
  if (tagIds.includes('') || tagIds.length > tagCombinationMax) return undefined;
  return { joined: joined.toUpperCase() === 'AND' ? 'AND' : 'OR', tagIds };
}

export function combinationHolds(
  { joined, tagIds }: TagCombination,
  tags: ReadonlySet<string>,
): boolean {
  if (joined === 'AND') return tagIds.every((id) => tags.has(id));
  return tagIds.some((id) => tags.has(id));
}
