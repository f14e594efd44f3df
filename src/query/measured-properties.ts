// Which keys samples have, with the types of their values, nested objects included.
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';

export interface MeasuredProperty {
  /** JSON Schema names: number, boolean, string, object, array, null. */
  readonly types: ReadonlySet<string>;
  /** Of values that are objects. */
  readonly properties: ReadonlyMap<string, MeasuredProperty>;
}

interface Growing {
  readonly types: Set<string>;
  readonly properties: Map<string, Growing>;
}

const depthMax = 8;

/** The keys of all the objects together, in the order in which they first occur. */
export function measuredProperties(objects: readonly JsonObject[]): ReadonlyMap<string, MeasuredProperty> {
  const properties = new Map<string, Growing>();
  for (const object of objects) collect(object, properties, 1);
  return properties;
}

function collect(object: JsonObject, into: Map<string, Growing>, depth: number): void {
  for (const [key, value] of Object.entries(object)) {
    let property = into.get(key);
    if (property === undefined) into.set(key, (property = { types: new Set(), properties: new Map() }));
    property.types.add(typeName(value));
    if (isJsonObject(value) && depth < depthMax) collect(value, property.properties, depth + 1);
  }
}

function typeName(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
