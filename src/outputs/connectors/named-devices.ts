// Named devices: the service device ids in the properties of a connector.
import type { Json, JsonObject } from '../../model/json.ts';
import type { PropertyRules } from './connector-type.ts';

interface NamedDevice {
  /** The path of the id in the property object. */
  readonly member: string;
  readonly deviceId: string;
}

type DeviceRules = PropertyRules;

export function namedDevices({ deviceIds }: DeviceRules, properties: JsonObject): NamedDevice[] {
  return deviceIds.flatMap((member) => idsIn(member, properties[member]));
}

function idsIn(member: string, value: Json | undefined): NamedDevice[] {
  if (typeof value === 'string') return [{ member, deviceId: value }];
  if (!Array.isArray(value)) return [];
  return value.flatMap((element, i) => idsIn(`${member}.${i}`, element));
}

/** Returns the properties with other ids; an id without a new one stays. */
export function renamedDevices(
  { deviceIds }: DeviceRules,
  properties: JsonObject,
  newIds: ReadonlyMap<string, string>,
): JsonObject {
  const renamed: Record<string, Json> = { ...properties };
  for (const member of deviceIds) {
    const value = properties[member];
    if (value !== undefined) renamed[member] = renamedIds(value, newIds);
  }
  return renamed;
}

function renamedIds(value: Json, newIds: ReadonlyMap<string, string>): Json {
  if (Array.isArray(value)) return value.map((element) => renamedIds(element, newIds));
  if (typeof value === 'string') return newIds.get(value) ?? value;
  return value;
}
