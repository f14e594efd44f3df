// Custom field values of devices: read from requests, checked by the field's type, shown nested (contract 4, 5).
import {
  type CustomFieldMeta,
  type CustomFieldType,
  type CustomFieldValue,
  customFieldTypes,
} from '../../model/custom-field.ts';
import {
  formatInstant,
  formatInstantOrNull,
  isInstant,
  parseInstant,
} from '../../model/instant.ts';
import { isJsonObject, type Json, type JsonObject, objectOrEmpty } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';

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
