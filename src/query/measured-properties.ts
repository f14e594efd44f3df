// Which keys samples have, with the types of their values: the paths that the store has measured as nested properties.
import { isJsonObject, type JsonObject } from '../model/json.ts';
import { keyPaths } from '../model/key-paths.ts';
import type { MeasuredTopic, MeasuredType } from '../storage/samples/sample-store.ts';
import type { Samples } from '../storage/samples/samples.ts';

export interface MeasuredProperty {
  /** JSON Schema names. */
  readonly types: ReadonlySet<MeasuredType>;
  /** Of values that are objects. */
  readonly properties: ReadonlyMap<string, MeasuredProperty>;
}

interface Growing {
  readonly types: Set<MeasuredType>;
  readonly properties: Map<string, Growing>;
}

/** The keys in the order in which their paths are told; what has keys of its own is an object. */
export function measuredProperties(
  keys: MeasuredTopic['keys'],
): ReadonlyMap<string, MeasuredProperty> {
  const properties = new Map<string, Growing>();
  for (const { path, types } of keys) {
    let into = properties;
    for (const [depth, key] of path.entries()) {
      let property = into.get(key);
      if (property === undefined)
        into.set(key, (property = { types: new Set(), properties: new Map() }));
      if (depth < path.length - 1) property.types.add('object');
      else for (const type of types) property.types.add(type);
      into = property.properties;
    }
  }
  return properties;
}

/**
 * The keys of one object that is too wide for the store to take apart; nested objects stay whole.
 */
export function keysOfWide(data: JsonObject): MeasuredTopic['keys'] {
  return Object.entries(data).map(([key, value]) => {
    if (value === null) return { path: [key], types: ['null'] };
    if (Array.isArray(value)) return { path: [key], types: ['array'] };
    return {
      path: [key],
      types: [isJsonObject(value) ? 'object' : (typeof value as MeasuredType)],
    };
  });
}

/**
 * The topics and keys that a device has, as the limits of contract 36 count them; paths are joined
 * by `/`. Objects that the store does not take apart count with the keys of their topic's newest
 * sample.
 */
export async function storedNames(
  store: Pick<Samples, 'measuredKeys' | 'latestSample'>,
  deviceId: string,
): Promise<Map<string, Set<string>>> {
  const names = new Map<string, Set<string>>();
  for (const { topic, keys } of await store.measuredKeys(deviceId, Infinity)) {
    const isWide = keys.some(({ path }) => path.length === 0);
    const newest = isWide ? await store.latestSample(deviceId, topic) : undefined;
    const paths = keys.filter(({ path }) => path.length > 0).map(({ path }) => path.join('/'));
    names.set(topic, new Set(newest === undefined ? paths : [...paths, ...keyPaths(newest.data)]));
  }
  return names;
}
