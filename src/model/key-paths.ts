// Key paths: the data keys of a sample from the root, joined by `/`. An array is one value.
import { isJsonObject, type JsonObject } from './json.ts';

/**
 * Paths of all values that are not objects, and of objects without a key, in their order. The data
 * must be valid (interface 2.3).
 */
export function keyPaths(data: JsonObject): string[] {
  const paths: string[] = [];
  collect(data, '', paths);
  return paths;
}

function collect(object: JsonObject, prefix: string, into: string[]): void {
  for (const key in object) {
    const value = object[key];
    if (isJsonObject(value) && hasKey(value)) collect(value, `${prefix}${key}/`, into);
    else into.push(prefix + key);
  }
}

/** Whether the object has any key. */
export function hasKey(object: JsonObject): boolean {
  for (const _ in object) return true;
  return false;
}
