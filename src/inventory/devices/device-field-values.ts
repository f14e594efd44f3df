// Values of a device's fields, custom fields and LoRa properties: read from requests, and as answers show them (contract 4, 5).
import type { DeviceDraft, DeviceUpdate } from '../../contract/devices.ts';
import {
  type CustomFieldMeta,
  type CustomFieldType,
  customFieldTypes,
  type CustomFieldValue,
  type Device,
  type DeviceFieldName,
  deviceFieldRows,
  type DeviceFieldWith,
  type WireName,
} from '../../model/device.ts';
import {
  formatInstant,
  formatInstantOrNull,
  isInstant,
  parseInstant,
} from '../../model/instant.ts';
import type { Carrier } from '../../model/connector.ts';
import { isJsonObject, type Json, type JsonObject, objectOrEmpty } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';
import type { CustomFieldDraft, CustomFieldUpdate } from '../../contract/tags.ts';
import { type Page, pageOf, type PageRequest } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { customFieldRows } from '../../storage/records/rows/custom-fields.ts';
import type { Records } from '../../storage/records/records.ts';
import { auditView, Crud, orCurrent, placeIn, type Step, usersNamedMax } from '../record-crud.ts';
import { listReach, type ListScope } from '../list-scope.ts';

type RequiredField = DeviceFieldWith<'required'>;

type NewValues = Pick<Device, RequiredField | DeviceFieldWith<'initial'>>;

/** The sent values or the initial ones, of every field that has either. */
export function newFieldValues(draft: DeviceDraft): NewValues {
  const values = deviceFieldRows
    .filter((row) => row.required ?? row.initial !== undefined)
    .map(({ property, wireName, initial }) => [property, draft[wireName] ?? initial]);
  return Object.fromEntries(values) as NewValues;
}

/** The values that the update sets; a field that it leaves unchanged is absent. */
export function updatedFieldValues(update: DeviceUpdate): Partial<Pick<Device, DeviceFieldName>> {
  const values = deviceFieldRows.flatMap(({ property, wireName, initial, clearable }) => {
    const sent = update[wireName];
    if (sent === null && clearable) return [[property, initial]];
    if (sent === undefined || sent === null) return [];
    return [[property, sent]];
  });
  return Object.fromEntries(values) as Partial<Pick<Device, DeviceFieldName>>;
}

type FieldView = { readonly [Name in DeviceFieldName as WireName<Name>]: Device[Name] };

/** The fields under the names that answers use. */
export function fieldView(device: Device): FieldView {
  const values = deviceFieldRows.map(({ property, wireName }) => [wireName, device[property]]);
  return Object.fromEntries(values) as FieldView;
}

// LoRa properties of a device: from requests, and in answers (contract 4).

const openFields = [
  'carrier',
  'activationMode',
  'loraVersion',
  'deviceClass',
  'deviceEui',
  'deviceAddress',
] as const;
const identityFields = ['applicationEui', 'joinEui'] as const;
const keyFields = [
  'applicationKey',
  'applicationSessionKey',
  'networkSessionKey',
  'forwardingNetworkSessionIntegrityKey',
  'networkSessionEncryptionKey',
  'servingNetworkSessionIntegrityKey',
] as const;
const objectFields = ['actilityProperties', 'ttnProperties'] as const;
const fields: readonly string[] = [...openFields, ...identityFields, ...keyFields, ...objectFields];

/**
 * The known members over the current ones. Null clears all; unknown members are ignored. Throws 400
 * for a wrong type.
 */
export function loraPropertiesFrom(
  current: JsonObject | null,
  sent: Readonly<Record<string, unknown>> | null | undefined,
): JsonObject | null {
  if (sent === undefined) return current;
  if (sent === null) return null;
  const properties: Record<string, Json> = { ...current };
  for (const [name, value] of Object.entries(sent)) {
    // Clients also send members of their own.
    if (!fields.includes(name)) continue;
    const wanted = typeOf(name);
    if (value !== null && (typeof value !== wanted || Array.isArray(value))) {
      throw problem('invalidRequest', {
        reason: `body loraProperties.${name}: must be of type ${wanted}`,
      });
    }
    properties[name] = value as Json;
  }
  return properties;
}

function typeOf(name: string): 'object' | 'string' {
  if ((objectFields as readonly string[]).includes(name)) return 'object';
  return 'string';
}

const actilityDefaults = {
  actilityId: '',
  connectivityPlanId: '',
  deviceProfileId: '',
  motionIndicator: 'NEAR_STATIC',
  routingProfileId: '',
};
const ttnDefaults = {
  deviceId: '',
  phyLoraVersion: '',
  networkServer: '',
  networkServerLabel: '',
  applicationServer: '',
  applicationServerId: '',
  applicationServerLabel: '',
  joinServer: '',
  networkId: '',
  frequencyPlan: '',
  multicast: false,
  support32BitFrameCount: false,
  disablePayloadEncryption: false,
};
/** Strict clients need a value; most devices have these. */
const loraDefaults = { activationMode: 'OTAA', deviceClass: 'A', loraVersion: '1.0.2' } as const;

/**
 * Every member for a LoRa device, so that strict clients can read it (contract 36): `carrier` is
 * that of its connector where none is stored. Keys only for those who may change the device. Null
 * for other devices without any.
 */
export function loraPropertiesView(
  device: Device,
  carrier: Carrier | null,
  keysShown: boolean,
): JsonObject | null {
  if (device.loraProperties === null && device.connectivity !== 'LORA') return null;
  const stored = device.loraProperties ?? {};
  const shown: Record<string, Json> = Object.fromEntries(
    fields.map((name) => [name, stored[name] ?? null]),
  );
  if (!keysShown) for (const name of keyFields) shown[name] = null;
  if (device.connectivity !== 'LORA') return shown;
  const known = shown['carrier'] ?? carrier;
  const isActility = known === 'GENERIC_ACTILITY' || known === 'SWISSCOM_ACTILITY';
  return {
    ...shown,
    carrier: known,
    deviceEui: shown['deviceEui'] || device.deviceId,
    activationMode: shown['activationMode'] || loraDefaults.activationMode,
    deviceClass: shown['deviceClass'] || loraDefaults.deviceClass,
    loraVersion: shown['loraVersion'] || loraDefaults.loraVersion,
    actilityProperties: filled(shown['actilityProperties'], actilityDefaults, isActility),
    ttnProperties: filled(shown['ttnProperties'], ttnDefaults, known === 'TTN'),
  };
}

/** The stored object over the defaults; null when there is none and none is needed. */
function filled(
  stored: Json | undefined,
  defaults: JsonObject,
  isNeeded: boolean,
): JsonObject | null {
  if (!isJsonObject(stored) && !isNeeded) return null;
  const given = Object.entries(objectOrEmpty(stored)).filter(([, value]) => value !== null);
  return { ...defaults, ...Object.fromEntries(given) };
}

// Custom field values of devices: read from requests, checked by the field's type, shown nested (contract 4, 5).

const textLengthMax = 10_000;
const jsonLengthMax = 64 * 1024;

/**
 * The sent values by field; null for those that are cleared. `fields` are those of the device's
 * workspace. Throws 400.
 */
export function customFieldsFrom(
  sent: readonly unknown[] | null | undefined,
  fields: readonly CustomFieldMeta[],
): Map<CustomFieldMeta, Json> {
  const values = new Map<CustomFieldMeta, Json>();
  for (const item of sent ?? []) {
    if (!isJsonObject(item))
      throw problem('customFieldInvalid', { field: 'every item', reason: 'must be an object' });
    const field = fieldOf(item, fields);
    const value = item[field.type] ?? null;
    if (value !== null) values.set(field, valueOf(field, value));
    else {
      refuseOtherType(item, field);
      values.set(field, null);
    }
  }
  return values;
}

/**
 * Rejects a value under another type's name, which would be lost. Older clients send null and `{}`
 * there.
 */
function refuseOtherType(item: JsonObject, field: CustomFieldMeta): void {
  const isFilled = (value: Json | undefined) =>
    value !== undefined &&
    value !== null &&
    !(isJsonObject(value) && Object.keys(value).length === 0);
  const other = customFieldTypes.find((type) => type !== field.type && isFilled(item[type]));
  if (other === undefined) return;
  const reason = `has type ${field.type}: send the value in ${field.type}, not ${other}`;
  throw problem('customFieldInvalid', { field: field.name, reason });
}

/**
 * Throws 400 when a required field has no value. Unless `areAll`, fields without a new value keep
 * theirs.
 */
export function checkRequired(
  fields: readonly CustomFieldMeta[],
  values: ReadonlyMap<CustomFieldMeta, Json>,
  areAll: boolean,
): void {
  for (const field of fields) {
    const value = values.get(field);
    const isMissing = value === null || (areAll && value === undefined);
    if (field.required && isMissing)
      throw problem('customFieldInvalid', { field: field.name, reason: 'is required' });
  }
}

/** Clients name the field by `fieldMetaId`, or send back what they read. */
function fieldOf(item: JsonObject, fields: readonly CustomFieldMeta[]): CustomFieldMeta {
  const { fieldMetaId, fieldMetaName, meta } = item as Readonly<Record<string, Json | undefined>>;
  const read = objectOrEmpty(meta) as Readonly<Record<string, Json | undefined>>;
  const id = fieldMetaId ?? read['id'] ?? null;
  const name = fieldMetaName ?? read['name'];
  const isMeant = (field: CustomFieldMeta) =>
    field.id === id || (id === null && field.name === name);
  const found = fields.find(isMeant);
  if (found !== undefined) return found;
  throw problem('unknownReference', {
    field: 'body customFields',
    what: 'custom field',
    id: String(id ?? name ?? ''),
    place: 'workspace',
  });
}

function valueOf(field: CustomFieldMeta, value: Json): Json {
  const refuse = (reason: string) => problem('customFieldInvalid', { field: field.name, reason });
  switch (field.type) {
    case 'NUMBER':
      if (typeof value !== 'number') throw refuse('must be a number');
      return value;
    case 'STRING':
      return textOf(field, value, refuse);
    case 'DATE': {
      const ms = typeof value === 'string' ? parseInstant(value) : value;
      if (typeof ms !== 'number' || !isInstant(ms)) throw refuse('must be an ISO-8601 date-time');
      return formatInstant(ms);
    }
    case 'JSON':
      if (JSON.stringify(value).length > jsonLengthMax)
        throw refuse(`must be at most ${jsonLengthMax} characters`);
      return value;
    case 'GPS_COORDINATES':
      return coordinatesOf(value, refuse);
  }
}

type Refuse = (reason: string) => Error;

function textOf(field: CustomFieldMeta, value: Json, refuse: Refuse): string {
  if (typeof value !== 'string') throw refuse('must be a string');
  if (value.length > textLengthMax) throw refuse(`must be at most ${textLengthMax} characters`);
  if (value.includes('\0')) throw refuse('must not contain U+0000');
  const { selectOptions } = field;
  if (selectOptions !== null && !selectOptions.includes(value)) {
    throw refuse(`must be one of ${selectOptions.join(', ')}`);
  }
  return value;
}

function coordinatesOf(value: Json, refuse: Refuse): JsonObject {
  const { latitude, longitude } = objectOrEmpty(value);
  const within = (degrees: Json | undefined, max: number): degrees is number =>
    typeof degrees === 'number' && Math.abs(degrees) <= max;
  if (!within(latitude, 90) || !within(longitude, 180)) {
    throw refuse('must be {latitude, longitude} in degrees, within ±90 and ±180');
  }
  return { latitude, longitude };
}

interface CustomFieldView {
  readonly meta: {
    readonly id: string;
    readonly workspaceId: string;
    readonly name: string;
    readonly type: CustomFieldType;
    readonly created: string;
    readonly updated: string | null;
  };
  readonly fieldMetaId: string;
  readonly fieldMetaName: string;
  readonly created: string;
  readonly updated: string | null;
  readonly STRING?: string;
  readonly NUMBER?: number;
  readonly DATE?: string;
  readonly JSON?: Json;
  readonly GPS_COORDINATES?: JsonObject;
}

/** The field, and the value under the name of its type. */
export function customFieldValueView({
  meta,
  value,
  created,
  updated,
}: CustomFieldValue): CustomFieldView {
  const { id, workspaceId, name, type } = meta;
  return {
    meta: {
      id,
      workspaceId,
      name,
      type,
      created: formatInstant(meta.created),
      updated: formatInstantOrNull(meta.updated),
    },
    fieldMetaId: id,
    fieldMetaName: name,
    created: formatInstant(created),
    updated: formatInstantOrNull(updated),
    [type]: value,
  };
}

// Custom fields of a workspace: create, read, list, update, delete (contract 5).

const fieldsPerWorkspaceMax = 500;
const optionsMax = 500;

function view(record: CustomFieldMeta) {
  const { organizationId: _, ...meta } = record;
  return { ...meta, ...auditView(record) };
}

function optionsFrom(
  type: CustomFieldType,
  sent: readonly string[] | null,
): readonly string[] | null {
  if (sent === null || sent.length === 0) return null;
  if (type !== 'STRING') {
    throw problem('invalidRequest', {
      reason: 'body selectOptions: only valid for type STRING',
    });
  }
  const options = [...new Set(sent)];
  if (options.length > optionsMax) {
    throw problem('invalidRequest', {
      reason: `body selectOptions: must have at most ${optionsMax} items`,
    });
  }
  return options;
}

async function checkName(step: Step, record: CustomFieldMeta): Promise<void> {
  const { organizationId, workspaceId, name } = record;
  const fields = await customFieldRows.ofWorkspaces(step.db, {
    organizationId,
    workspaceIds: [workspaceId],
  });
  if (fields.some((field) => field.name === name && field.id !== record.id)) {
    throw problem('nameNotUnique', { what: 'custom field', name });
  }
  if (fields.length >= fieldsPerWorkspaceMax && !fields.some((field) => field.id === record.id)) {
    throw problem('invalidRequest', {
      reason: `A workspace can have at most ${fieldsPerWorkspaceMax} custom fields`,
    });
  }
}

const crud = new Crud<CustomFieldMeta>(
  'customFieldMeta',
  'custom field',
  () => customFieldRows,
  checkName,
);

/** Custom fields of workspaces as callers make and read them. */
export class CustomFields {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async create(draft: CustomFieldDraft) {
    const record = await crud.create(this.#records, async (step, fields) => ({
      ...fields,
      ...(await placeIn(step, draft.workspaceId)),
      name: draft.name,
      description: draft.description ?? null,
      type: draft.type,
      required: draft.required ?? false,
      selectOptions: optionsFrom(draft.type, draft.selectOptions ?? null),
    }));
    return view(record);
  }

  async read(id: string) {
    return view(await crud.read(this.#records, id));
  }

  async list(
    principal: Principal,
    filter: ListScope & {
      readonly search?: string | undefined;
      readonly types?: readonly string[] | undefined;
    },
    page: PageRequest,
  ): Promise<Page<ReturnType<typeof view>>> {
    const reach = await listReach(this.#records, principal, filter);
    const types = filter.types?.map((type) => type.toUpperCase());
    const unknown = types?.find((type) => !(customFieldTypes as readonly string[]).includes(type));
    if (unknown !== undefined) {
      throw problem('invalidRequest', {
        reason: `query type: unknown type ${unknown}; valid types: ${customFieldTypes.join(', ')}`,
      });
    }
    const { rows, total } = await customFieldRows.list(
      this.#records.db,
      { ...reach, search: filter.search, types },
      page,
    );
    return pageOf(rows.map(view), total, page);
  }

  /** The type is fixed: the request can repeat it, another type is rejected. */
  async update(id: string, sent: CustomFieldUpdate) {
    const record = await crud.update(this.#records, id, sent, (current) => {
      const { type, required, selectOptions } = current;
      if (sent.type && sent.type !== type) {
        throw problem('invalidRequest', {
          reason: `body type: cannot be changed (it is ${type})`,
        });
      }
      return {
        required: sent.required ?? required,
        selectOptions: optionsFrom(type, orCurrent(sent.selectOptions, selectOptions)),
      };
    });
    return view(record);
  }

  /** A field with values is a 409 that names some of the devices; `force` removes the values too. */
  async remove(id: string, force: boolean): Promise<void> {
    await crud.remove(this.#records, id, async ({ db }) => {
      if (force) return [];
      return customFieldRows.devicesUsing(db, id, usersNamedMax);
    });
  }
}
