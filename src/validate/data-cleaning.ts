// Data cleaning: removes invalid keys, too deep values and numbers that are not finite from data.
import { type Json, type JsonObject, isJsonObject } from '../model/json.ts';
import { isDataKey } from './data-key.ts';
import { shortName, validationLimits } from './validation-limits.ts';

export interface RemovedKey {
  /** Dotted path as in `foo.bar.list.0.key`, unique within the sample. */
  readonly path: string;
  readonly message: string;
  /** Null when the value nests too deep to be kept. */
  readonly value: Json;
}

export interface CleanedData {
  readonly data: JsonObject;
  readonly removed: readonly RemovedKey[];
  /** Keys removed beyond those in `removed`. */
  readonly removedMore: number;
  /** Paths whose number was not finite and is null now. */
  readonly notFinite: readonly string[];
}

interface Cleaning {
  readonly removed: Map<string, RemovedKey>;
  removedMore: number;
  readonly notFinite: string[];
}

/** Whether nothing has to be taken out. This is the hot path: it allocates nothing. */
export function isClean(value: Json, depth = 1): boolean {
  if (typeof value === 'number') return value - value === 0;
  if (typeof value !== 'object' || value === null) return true;
  if (depth > validationLimits.depthMax) return false;
  if (Array.isArray(value)) {
    for (const element of value as readonly Json[]) if (!isClean(element, depth + 1)) return false;
    return true;
  }
  const object = value as JsonObject;
  for (const key in object)
    if (!isDataKey(key) || !isClean(object[key] ?? null, depth + 1)) return false;
  return true;
}

/**
 * Whether objects and arrays nest no deeper than the limit, so that the value can be written as
 * JSON.
 */
export function isShallow(value: Json, depth = 1): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth > validationLimits.depthMax) return false;
  for (const inner of Object.values(value)) if (!isShallow(inner, depth + 1)) return false;
  return true;
}

/** A copy of the data without what must not be stored, and what was taken out. */
export function cleanData(data: JsonObject): CleanedData {
  const cleaning: Cleaning = { removed: new Map(), removedMore: 0, notFinite: [] };
  const cleaned = cleanObject(data, '', 1, cleaning);
  return {
    data: cleaned,
    removed: [...cleaning.removed.values()],
    removedMore: cleaning.removedMore,
    notFinite: cleaning.notFinite,
  };
}

function cleanObject(
  object: JsonObject,
  prefix: string,
  depth: number,
  cleaning: Cleaning,
): JsonObject {
  const cleaned: Record<string, Json> = {};
  for (const [key, value] of Object.entries(object)) {
    const path = shortName(prefix + key);
    if (!isDataKey(key)) remove(path, `invalid data key ${shortName(key)}`, value, cleaning);
    else if (isTooDeep(value, depth)) removeTooDeep(path, cleaning);
    else cleaned[key] = cleanValue(value, path, depth + 1, cleaning);
  }
  return cleaned;
}

function cleanValue(value: Json, path: string, depth: number, cleaning: Cleaning): Json {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    if (cleaning.notFinite.length < validationLimits.keyNotesMax) cleaning.notFinite.push(path);
    return null;
  }
  if (Array.isArray(value))
    return (value as readonly Json[]).map((element, i) =>
      cleanElement(element, `${path}.${i}`, depth, cleaning),
    );
  if (isJsonObject(value)) return cleanObject(value, `${path}.`, depth, cleaning);
  return value;
}

// An element cannot be left out without moving its neighbours, so a too deep one becomes null.
function cleanElement(element: Json, path: string, depth: number, cleaning: Cleaning): Json {
  if (!isTooDeep(element, depth)) return cleanValue(element, shortName(path), depth + 1, cleaning);
  removeTooDeep(shortName(path), cleaning);
  return null;
}

// `depth` is the level of the container that holds the value.
function isTooDeep(value: Json, depth: number): boolean {
  return typeof value === 'object' && value !== null && depth >= validationLimits.depthMax;
}

function removeTooDeep(path: string, cleaning: Cleaning): void {
  remove(path, `nested deeper than ${validationLimits.depthMax} levels`, null, cleaning);
}

// Two keys can have one path: `a.b!` beside `b!` in `a`. The later one gets a number, so that no
// value is lost.
function remove(path: string, message: string, value: Json, cleaning: Cleaning): void {
  const { removed } = cleaning;
  if (removed.size >= validationLimits.removedKeysMax) {
    cleaning.removedMore++;
    return;
  }
  let unique = path;
  for (let n = removed.size + 1; removed.has(unique); n++) unique = `${path} (${n})`;
  removed.set(unique, { path: unique, message, value: isShallow(value) ? value : null });
}
