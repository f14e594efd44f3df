// The data keys of a sample as paths. A path is the keys from the root joined by `/`, which no data key contains; arrays are one value.
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { RemovedKey } from './data-cleaning.ts';
import { shortName, validationLimits } from './validation-limits.ts';

/** Paths of all values that are no objects, and of objects without a key, in their order. The data must be valid (interface 2.3). */
export function keyPaths(data: JsonObject): string[] {
  const paths: string[] = [];
  collect(data, '', paths);
  return paths;
}

function collect(object: JsonObject, prefix: string, into: string[]): void {
  for (const key in object) {
    const value = object[key]!;
    if (isJsonObject(value) && hasKey(value)) collect(value, `${prefix}${key}/`, into);
    else into.push(prefix + key);
  }
}

function hasKey(object: JsonObject): boolean {
  for (const _ in object) return true;
  return false;
}

export interface ReducedData {
  readonly data: JsonObject;
  /** At most `validationLimits.removedKeysMax`, with dotted paths. */
  readonly removed: readonly RemovedKey[];
  /** Keys removed beyond these. */
  readonly removedMore: number;
}

/** A copy of the data without the values at these paths; objects that lose all their keys go with them. */
export function withoutKeys(data: JsonObject, refused: ReadonlySet<string>, message: string): ReducedData {
  const removed: RemovedKey[] = [];
  let removedMore = 0;
  const reduced = (object: JsonObject, prefix: string): JsonObject | undefined => {
    const kept: Record<string, Json> = {};
    for (const key in object) {
      const value = object[key]!;
      const path = prefix + key;
      if (isJsonObject(value) && hasKey(value)) {
        const inner = reduced(value, `${path}/`);
        if (inner !== undefined) kept[key] = inner;
      } else if (!refused.has(path)) kept[key] = value;
      else if (removed.length >= validationLimits.removedKeysMax) removedMore += 1;
      else removed.push({ path: shortName(path.replaceAll('/', '.')), message, value });
    }
    return hasKey(kept) ? kept : undefined;
  };
  if (refused.size === 0) return { data, removed, removedMore };
  return { data: reduced(data, '') ?? {}, removed, removedMore };
}
