// Items of ThingsBoard: devices, attributes and values in the forms of its exports and of its REST API.
import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { MovedDevice, Place } from './moved.ts';
import { textAt } from './source-fields.ts';

/** A device with the attributes by scope; undefined without a name. */
export function deviceFrom(
  place: Place,
  device: JsonObject,
  attributes: JsonObject,
): MovedDevice | undefined {
  const name = textAt(device, 'name');
  if (name === undefined) return undefined;
  const type = textAt(device, 'type');
  return {
    place,
    deviceId: name,
    lora: null,
    type: null,
    name: textAt(device, 'label') ?? name,
    description: textAt(device, 'additionalInfo.description') ?? null,
    tags: type === undefined || type === 'default' ? [] : [type],
    customFields: attributesFrom(attributes),
  };
}

/** Scopes in order of their weight: what the server set counts most. */
export const scopes = ['CLIENT_SCOPE', 'SHARED_SCOPE', 'SERVER_SCOPE'] as const;

/** Attributes that the server itself keeps of each device. */
const stateNames: ReadonlySet<string> = new Set([
  'active',
  'lastActivityTime',
  'lastConnectTime',
  'lastDisconnectTime',
  'inactivityAlarmTime',
  'inactivityTimeout',
]);

function attributesFrom(attributes: JsonObject): JsonObject {
  const values: Record<string, Json> = {};
  for (const scope of scopes)
    for (const one of objectsIn(attributes[scope])) {
      const key = textAt(one, 'key');
      if (key !== undefined && !stateNames.has(key)) values[key] = attributeValue(one);
    }
  return values;
}

const valueNames = ['booleanValue', 'strValue', 'longValue', 'doubleValue', 'jsonValue'];

/** Exports name the type of the value, the REST API has `value`. */
function attributeValue(attribute: JsonObject): Json {
  const name = valueNames.find((one) => attribute[one] !== undefined && attribute[one] !== null);
  const value = name === undefined ? attribute['value'] : attribute[name];
  if (name !== 'jsonValue' || typeof value !== 'string') return value ?? null;
  try {
    return JSON.parse(value) as Json;
  } catch {
    return value;
  }
}

export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((one) => isJsonObject(one)) : [];
}

/** Values of all keys by their time, in its order. */
export function rowsOf(
  series: JsonObject,
): readonly (readonly [number, Readonly<Record<string, Json>>])[] {
  const byTime = new Map<number, Record<string, Json>>();
  for (const [key, list] of Object.entries(series))
    for (const one of objectsIn(list)) {
      const data = byTime.get(Number(one['ts'])) ?? {};
      data[key] = seriesValue(one['value'] ?? null);
      byTime.set(Number(one['ts']), data);
    }
  return [...byTime].toSorted(([one], [other]) => one - other);
}

const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Without strict data types the server writes all values as strings. */
function seriesValue(value: Json): Json {
  if (typeof value !== 'string') return value;
  if (numberPattern.test(value) && Number.isFinite(Number(value))) return Number(value);
  return value === 'true' || value === 'false' ? value === 'true' : value;
}
