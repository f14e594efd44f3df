// Sample: one stored measurement of a device, and its values by data key (interface 2.3).
import type { EpochMs } from './instant.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { keysOfKnown } from './json-keys.ts';

export const defaultTopic = 'default';

/** A sample as decoders and backfills produce it, after validation. */
export interface Sample {
  /** Service device id. */
  readonly deviceId: string;
  readonly topic: string;
  readonly timestamp: EpochMs;
  readonly data: JsonObject;
  readonly meta?: JsonObject;
}

/**
 * A sample on its way through the journal, with all that its followers need to know about its
 * origin.
 */
export interface SampleEntry extends Sample {
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly dataFlowId: string | null;
  readonly correlationId: string;
  /** Time of storing; the journal sets it, never decreasing. */
  readonly storedAt: EpochMs;
  /**
   * Whether the flow has the database connector: if not, it is journalled and forwarded but never
   * queried.
   */
  readonly stored: boolean;
}

/**
 * A sample that is durable. `cursor` is its place in the order of storing; cursors compare as
 * strings.
 */
export interface StoredSample extends SampleEntry {
  readonly cursor: string;
}

// Data values: the value of a data key in a sample, by the exact name or by path, and the keys that a sample has (contract 35).

/**
 * Undefined when the sample has no such key. At every depth a key that itself contains dots wins,
 * then the shortest first step. Elements of arrays are numbered from 0: `list.0.key`.
 */
export function dataValue(data: JsonObject, dataKey: string): Json | undefined {
  if (Object.hasOwn(data, dataKey)) return data[dataKey];
  for (let dot = dataKey.indexOf('.'); dot >= 0; dot = dataKey.indexOf('.', dot + 1)) {
    const head = dataKey.slice(0, dot);
    if (!Object.hasOwn(data, head)) continue;
    const value = valueAt(data[head], dataKey.slice(dot + 1));
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The same for a path that begins in any value: an object or an array. */
export function valueAt(value: Json | undefined, path: string): Json | undefined {
  if (Array.isArray(value)) return elementAt(value, path);
  return isJsonObject(value) ? dataValue(value, path) : undefined;
}

/** Whether a path may name an element of an array, or something inside one. */
export function isElementPath(path: string): boolean {
  return /^\d{1,9}(?:\.|$)/.test(path);
}

function elementAt(list: readonly Json[], path: string): Json | undefined {
  if (!isElementPath(path)) return undefined;
  const dot = path.indexOf('.');
  if (dot < 0) return list[Number(path)];
  return valueAt(list[Number(path.slice(0, dot))], path.slice(dot + 1));
}

// Key paths: the data keys of a sample from the root, joined by `/`. An array is one value.

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
  if ((keysOfKnown(data)?.length ?? 0) > max) return undefined;
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
  const keys = keysOfKnown(object) ?? Object.keys(object);
  // By place: in a generator, an iterator makes an object for each of thousands.
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] ?? '';
    const value = object[key];
    if (isJsonObject(value) && hasKey(value))
      yield* collectInSteps(value, `${prefix}${key}/`, into, step);
    else if (into.push(prefix + key) % step === 0) yield;
  }
}

/** Whether the object has any key. */
export function hasKey(object: JsonObject): boolean {
  const known = keysOfKnown(object);
  if (known !== undefined) return known.length > 0;
  for (const _ in object) return true;
  return false;
}
