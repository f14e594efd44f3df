// Key paths: the data keys of a sample from the root, joined by `/`. An array is one value.
import { isJsonObject, type JsonObject } from './json.ts';

/**
 * Paths of all values that are not objects, and of objects without a key, in their order. The data
 * must be valid (interface 2.3).
 */
export function keyPaths(data: JsonObject): string[] {
  const paths: string[] = [];
  collect(data, '', paths, Infinity);
  return paths;
}

/** Undefined when there are more. */
export function keyPathsUpTo(data: JsonObject, max: number): string[] | undefined {
  const paths: string[] = [];
  return collect(data, '', paths, max) ? paths : undefined;
}

function collect(object: JsonObject, prefix: string, into: string[], max: number): boolean {
  for (const key in object) {
    const value = object[key];
    if (isJsonObject(value) && hasKey(value)) {
      if (!collect(value, `${prefix}${key}/`, into, max)) return false;
    } else if (into.push(prefix + key) > max) return false;
  }
  return true;
}

/**
 * The same for data with very many keys, in steps of so many. Returns the paths at the end of the
 * last step.
 */
export function* keyPathsInSteps(data: JsonObject, step: number): Generator<undefined, string[]> {
  const paths: string[] = [];
  yield* collectInSteps(data, '', paths, step);
  return paths;
}

function* collectInSteps(
  object: JsonObject,
  prefix: string,
  into: string[],
  step: number,
): Generator<undefined, void> {
  for (const key in object) {
    const value = object[key];
    if (isJsonObject(value) && hasKey(value))
      yield* collectInSteps(value, `${prefix}${key}/`, into, step);
    else if (into.push(prefix + key) % step === 0) yield;
  }
}

/** Whether the object has any key. */
export function hasKey(object: JsonObject): boolean {
  for (const _ in object) return true;
  return false;
}
