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
 * them. Steps of so many values.
 */
export function* withoutKeys(
  data: JsonObject,
  refused: ReadonlySet<string>,
  message: string,
  step: number,
): Generator<undefined, ReducedData> {
  const removed: RemovedKey[] = [];
  let removedMore = 0;
  let values = 0;
  function* reduced(
    object: JsonObject,
    prefix: string,
  ): Generator<undefined, JsonObject | undefined> {
    const kept: Record<string, Json> = {};
    let isEmpty = true;
    for (const key in object) {
      const value = object[key] ?? null;
      const path = prefix + key;
      if (isJsonObject(value) && hasKey(value)) {
        const inner = yield* reduced(value, `${path}/`);
        if (inner === undefined) continue;
        kept[key] = inner;
        isEmpty = false;
        continue;
      }
      if (++values % step === 0) yield;
      if (!refused.has(path)) {
        kept[key] = value;
        isEmpty = false;
      } else if (removed.length >= validationLimits.removedKeysMax) removedMore += 1;
      else removed.push({ path: cutName(path.replaceAll('/', '.')), message, value });
    }
    return isEmpty ? undefined : kept;
  }
  if (refused.size === 0) return { data, removed, removedMore };
  const kept = yield* reduced(data, '');
  return { data: kept ?? {}, removed, removedMore };
}
