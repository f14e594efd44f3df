// Data cleaning: removes invalid keys, too deep values and numbers that are not finite from data.
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { keysOfKnown, rememberLarge } from '../../model/json-keys.ts';
import { allSteps } from '../../structures/turns.ts';
import { cutName, isAlphanumeric, isLongName, outsideNameMax } from '../../model/ids.ts';

export interface RemovedKey {
  /** Dotted path as in `foo.bar.list.0.key`, unique within the sample. */
  readonly path: string;
  readonly message: string;
  /** Null when the value nests too deep to be kept. */
  readonly value: Json;
}

interface CleanedData {
  readonly data: JsonObject;
  readonly removed: readonly RemovedKey[];
  /** Keys removed beyond those in `removed`. */
  readonly removedMore: number;
  /** Paths whose number was not finite and is null now. */
  readonly notFinite: readonly string[];
}

/** Keys and elements of one step. */
const keysPerStep = 2_000;

interface Cleaning {
  readonly removed: Map<string, RemovedKey>;
  removedMore: number;
  readonly notFinite: string[];
}

/**
 * Whether nothing has to be taken out. This is the hot path: it allocates nothing. `prefixLength` is
 * that of the path to the value, with a separator behind it.
 */
function isClean(value: Json, depth = 1, prefixLength = 0): boolean {
  if (typeof value === 'number') return value - value === 0;
  if (typeof value !== 'object' || value === null) return true;
  if (depth > validationLimits.depthMax) return false;
  if (Array.isArray(value)) {
    for (const element of value as readonly Json[])
      if (!isClean(element, depth + 1, prefixLength)) return false;
    return true;
  }
  const object = value as JsonObject;
  for (const key in object) {
    const length = prefixLength + key.length;
    if (length > outsideNameMax || !isDataKey(key)) return false;
    if (!isClean(object[key] ?? null, depth + 1, length + 1)) return false;
  }
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

/** What was found of large data; undefined for what is clean. */
const known = new WeakMap<JsonObject, CleanedData | undefined>();

/**
 * A copy of the data without what must not be stored, and what was taken out. Undefined when nothing
 * has to be.
 */
export function cleanedOf(data: JsonObject): CleanedData | undefined {
  if (keysOfKnown(data) !== undefined && known.has(data)) return known.get(data);
  return isClean(data) ? undefined : allSteps(cleanData(data));
}

/** Does for large data in steps what `cleanedOf` then knows. */
export function* cleanInSteps(data: JsonObject): Generator<undefined, void> {
  known.set(data, (yield* isCleanInSteps(data)) ? undefined : yield* cleanData(data));
}

/** As `isClean`. Only objects that are known to be large take more than one step. */
function* isCleanInSteps(
  object: JsonObject,
  depth = 1,
  prefixLength = 0,
): Generator<undefined, boolean> {
  const keys = keysOfKnown(object);
  if (keys === undefined || depth > validationLimits.depthMax)
    return isClean(object, depth, prefixLength);
  // By place: in a generator, an iterator makes an object for each of thousands.
  for (let at = 0; at < keys.length; at++) {
    if (at % keysPerStep === keysPerStep - 1) yield;
    const key = keys[at] ?? '';
    const length = prefixLength + key.length;
    if (length > outsideNameMax || !isDataKey(key)) return false;
    const value = object[key] ?? null;
    const isGood = isJsonObject(value)
      ? yield* isCleanInSteps(value, depth + 1, length + 1)
      : isClean(value, depth + 1, length + 1);
    if (!isGood) return false;
  }
  return true;
}

function* cleanData(data: JsonObject): Generator<undefined, CleanedData> {
  const cleaning: Cleaning = { removed: new Map(), removedMore: 0, notFinite: [] };
  const cleaned = yield* cleanObject(data, { prefix: '', length: 0, depth: 1 }, cleaning);
  return {
    data: cleaned,
    removed: [...cleaning.removed.values()],
    removedMore: cleaning.removedMore,
    notFinite: cleaning.notFinite,
  };
}

/** Of a container: its path with a dot behind it, cut, the length of its keys, and its level. */
interface Place {
  readonly prefix: string;
  readonly length: number;
  readonly depth: number;
}

function* cleanObject(
  object: JsonObject,
  at: Place,
  cleaning: Cleaning,
): Generator<undefined, JsonObject> {
  const cleaned: Record<string, Json> = {};
  const isLarge = keysOfKnown(object) !== undefined;
  const cleanedKeys: string[] = [];
  for (const [i, key] of (keysOfKnown(object) ?? Object.keys(object)).entries()) {
    if (i % keysPerStep === keysPerStep - 1) yield;
    const value = object[key] ?? null;
    const path = cutName(at.prefix + key);
    const length = at.length + key.length;
    if (!isDataKey(key)) remove(path, `invalid data key ${cutName(key)}`, value, cleaning);
    else if (length > outsideNameMax)
      remove(path, `data key of more than ${outsideNameMax} characters`, value, cleaning);
    else if (isTooDeep(value, at.depth)) removeTooDeep(path, cleaning);
    else {
      const inner = { prefix: `${path}.`, length: length + 1, depth: at.depth + 1 };
      cleaned[key] = yield* cleanValue(value, path, inner, cleaning);
      if (isLarge) cleanedKeys.push(key);
    }
  }
  if (isLarge) rememberLarge(cleaned, cleanedKeys);
  return cleaned;
}

function* cleanValue(
  value: Json,
  path: string,
  inner: Place,
  cleaning: Cleaning,
): Generator<undefined, Json> {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    if (cleaning.notFinite.length < validationLimits.keyNotesMax) cleaning.notFinite.push(path);
    return null;
  }
  if (Array.isArray(value)) {
    const elements: Json[] = [];
    for (const [i, element] of (value as readonly Json[]).entries()) {
      if (i % keysPerStep === keysPerStep - 1) yield;
      elements.push(yield* cleanElement(element, cutName(`${path}.${i}`), inner, cleaning));
    }
    return elements;
  }
  if (isJsonObject(value)) return yield* cleanObject(value, inner, cleaning);
  return value;
}

// An element cannot be left out without moving its neighbours, so a too deep one becomes null.
function* cleanElement(
  element: Json,
  path: string,
  at: Place,
  cleaning: Cleaning,
): Generator<undefined, Json> {
  if (isTooDeep(element, at.depth)) {
    removeTooDeep(path, cleaning);
    return null;
  }
  const inner = { ...at, prefix: `${path}.`, depth: at.depth + 1 };
  return yield* cleanValue(element, path, inner, cleaning);
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

// The data key check of interface 2.3: alphanumeric runs joined by single separators. No colon, unlike topics.

/**
 * Whether the text may be a key of `data`, at any depth: `^[a-zA-Z0-9]+([._-][a-zA-Z0-9]+)*$`, in
 * linear time, with at most 500 characters (contract 42).
 */
export function isDataKey(text: string): boolean {
  if (isLongName(text)) return false;
  let afterAlphanumeric = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isAlphanumeric(code)) afterAlphanumeric = true;
    else if (afterAlphanumeric && (code === 46 || code === 95 || code === 45))
      afterAlphanumeric = false;
    else return false;
  }
  return afterAlphanumeric;
}

// Validation limits: values beyond them are removed from the sample and noted.

export const validationLimits = {
  /**
   * Levels of objects and arrays in `data` and in `meta`; a deeper value cannot be written as JSON
   * safely.
   */
  depthMax: 64,
  /** Removed keys kept in `meta` with their values; further ones are removed and counted. */
  removedKeysMax: 1_000,
  /** Processing log entries about keys of one sample; the last one counts the rest. */
  keyNotesMax: 20,
} as const;
