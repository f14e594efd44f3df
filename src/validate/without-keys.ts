// Takes keys out of a sample's data, keeping what was taken out for `meta`.
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { hasKey } from '../model/key-paths.ts';
import type { RemovedKey } from './data-cleaning.ts';
import { cutName } from '../model/outside-name.ts';
import { validationLimits } from './validation-limits.ts';

export interface ReducedData {
  readonly data: JsonObject;
  /** At most `validationLimits.removedKeysMax`, with dotted paths. */
  readonly removed: readonly RemovedKey[];
  /** Keys removed beyond these. */
  readonly removedMore: number;
}

/**
 * A copy of the data without the values at these paths; objects that lose all their keys go with
 * them.
 */
export function withoutKeys(
  data: JsonObject,
  refused: ReadonlySet<string>,
  message: string,
): ReducedData {
  const removed: RemovedKey[] = [];
  let removedMore = 0;
  const reduced = (object: JsonObject, prefix: string): JsonObject | undefined => {
    const kept: Record<string, Json> = {};
    for (const key in object) {
      const value = object[key] ?? null;
      const path = prefix + key;
      if (isJsonObject(value) && hasKey(value)) {
        const inner = reduced(value, `${path}/`);
        if (inner !== undefined) kept[key] = inner;
      } else if (!refused.has(path)) kept[key] = value;
      else if (removed.length >= validationLimits.removedKeysMax) removedMore += 1;
      else removed.push({ path: cutName(path.replaceAll('/', '.')), message, value });
    }
    if (hasKey(kept)) return kept;
    return undefined;
  };
  if (refused.size === 0) return { data, removed, removedMore };
  return { data: reduced(data, '') ?? {}, removed, removedMore };
}
