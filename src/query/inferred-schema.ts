// The schema of a device's data: what its type declares, joined with what was measured.
import { dayMs, type EpochMs } from '../model/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { keyPaths } from '../model/sample.ts';
import type { MeasuredTopic, MeasuredType } from '../storage/samples/sample-store.ts';
import type { Samples } from '../storage/samples/samples.ts';
import type { ReadingStore } from './accumulation.ts';

const topicsMax = 50;
const draft07 = 'http://json-schema.org/draft-07/schema#';

/** Topic to schema; a schema is a JSON Schema document, or such a document as text (contract 7). */
export type DeclaredSchemas = Readonly<Record<string, Json>>;

export interface TopicSchema {
  readonly $id: string;
  readonly $schema: string;
  readonly title: string;
  readonly type: 'object';
  readonly properties: JsonObject;
}

/**
 * Topic to schema, declared topics first, then those with the newest samples; at most `topicsMax`.
 * The store knows what it has measured; only objects too wide for that are read, the newest of
 * their topic.
 */
export async function inferSchema(
  deviceId: string,
  declared: DeclaredSchemas,
  store: Pick<ReadingStore, 'measuredKeys' | 'latestSample' | 'samples'>,
  now: EpochMs,
): Promise<Readonly<Record<string, TopicSchema>>> {
  const measured = new Map(
    (await store.measuredKeys(deviceId)).map(({ topic, keys }) => [topic, keys]),
  );
  const topics = [...new Set([...declaredTopicsOf(declared), ...measured.keys()])].slice(
    0,
    topicsMax,
  );
  const schemas: [string, TopicSchema][] = [];
  for (const topic of topics) {
    let keys = measured.get(topic) ?? [];
    // The store tells of as many topics as are answered; a declared one may be behind them.
    const isUntold = measured.size >= topicsMax && !measured.has(topic);
    if (isUntold || keys.some(({ path }) => path.length === 0)) {
      const wide = await store.latestSample(deviceId, topic);
      keys = [...keys, ...(wide === undefined ? [] : keysOfWide(wide.data))];
    }
    const document = documentOf(declared[topic]);
    const measuredHere = measuredProperties(keys);
    const scan = { deviceId, topic, to: now + dayMs };
    const newest = await newestTypes(measuredHere, scan, store);
    const properties = joined(document['properties'], measuredHere, newest);
    schemas.push([topic, { ...headOf(deviceId, topic, document), properties }]);
  }
  return Object.fromEntries(schemas);
}

/** Topic to schema of what is declared alone: what every device of a type has. */
export function declaredSchemas(declared: DeclaredSchemas): Readonly<Record<string, TopicSchema>> {
  const schemas: [string, TopicSchema][] = [];
  for (const topic of declaredTopicsOf(declared).slice(0, topicsMax)) {
    const document = documentOf(declared[topic]);
    const properties = joined(document['properties'], new Map(), new Map());
    schemas.push([topic, { ...headOf('', topic, document), properties }]);
  }
  return Object.fromEntries(schemas);
}

/** A downlink schema describes commands. */
function declaredTopicsOf(declared: DeclaredSchemas): readonly string[] {
  return Object.keys(declared).filter(
    (topic) => documentOf(declared[topic])['processingType'] !== 'downlink_encoder',
  );
}

/** A calculated key of the type, as far as its schema tells of it. */
interface CalculatedProperty {
  readonly key: string;
  readonly topic: string;
  readonly title: string | null;
  readonly unit: string | null;
  readonly description: string | null;
}

/** The schemas with the calculated keys of the type, also those that no sample has yet. */
export function withCalculated(
  deviceId: string,
  schemas: Readonly<Record<string, TopicSchema>>,
  keys: readonly CalculatedProperty[],
): Readonly<Record<string, TopicSchema>> {
  const joinedSchemas = new Map(Object.entries(schemas));
  for (const { key, topic, title, unit, description } of keys) {
    const known = joinedSchemas.get(topic);
    const schema = known ?? { ...headOf(deviceId, topic, {}), properties: {} };
    const own = schema.properties[key];
    const property = {
      title: key,
      ...(isJsonObject(own) ? own : { inferred: false }),
      ...(title !== null && { title }),
      ...(unit !== null && { unit }),
      ...(description !== null && { description }),
      calculated: true,
    };
    joinedSchemas.set(topic, {
      ...schema,
      properties: { ...schema.properties, [key]: property },
    });
  }
  return Object.fromEntries(joinedSchemas);
}

function documentOf(declared: Json | undefined): JsonObject {
  if (isJsonObject(declared)) return declared;
  if (typeof declared !== 'string') return {};
  try {
    const parsed: unknown = JSON.parse(declared);
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    // A type may have been stored with a broken schema; what was measured is still told.
    return {};
  }
}

function headOf(
  deviceId: string,
  topic: string,
  document: JsonObject,
): Omit<TopicSchema, 'properties'> {
  const text = (key: string, otherwise: string) => {
    const value = document[key];
    return typeof value === 'string' ? value : otherwise;
  };
  return {
    $id: text('$id', `urn:device:${deviceId}:topic:${topic}`),
    $schema: text('$schema', draft07),
    title: text('title', topic),
    type: 'object',
  };
}

/** Declared properties keep what they declare; measured ones fill in what is missing. */
function joined(
  declared: Json | undefined,
  measured: ReadonlyMap<string, MeasuredProperty>,
  newest: NewestTypes,
): JsonObject {
  const properties: [string, JsonObject][] = [];
  const declaredKeys = isJsonObject(declared) ? Object.entries(declared) : [];
  for (const [key, property] of declaredKeys) {
    const found = measured.get(key);
    const own = isJsonObject(property) ? property : {};
    properties.push([key, declaredProperty(key, own, found, newest)]);
  }
  const taken = new Set(declaredKeys.map(([key]) => key));
  for (const [key, found] of measured)
    if (!taken.has(key)) properties.push([key, inferredProperty(key, found, newest)]);
  return Object.fromEntries(properties);
}

function declaredProperty(
  key: string,
  own: JsonObject,
  found: MeasuredProperty | undefined,
  newest: NewestTypes,
): JsonObject {
  const nested = own['properties'] !== undefined || (found?.properties.size ?? 0) > 0;
  return {
    title: key,
    ...(found === undefined ? {} : typesOf(found, newest)),
    ...own,
    ...declaredTypes(own['type'], found, newest),
    inferred: false,
    ...(nested
      ? { properties: joined(own['properties'], found?.properties ?? new Map(), newest) }
      : {}),
  };
}

function inferredProperty(key: string, found: MeasuredProperty, newest: NewestTypes): JsonObject {
  const nested = found.types.has('object');
  return {
    title: key,
    ...typesOf(found, newest),
    inferred: true,
    ...(nested ? { properties: joined(undefined, found.properties, newest) } : {}),
  };
}

/** `type` is one text (interface 2.4), that of the newest value; `types` are all that were seen. */
function typesOf(found: MeasuredProperty, newest: NewestTypes): JsonObject {
  const [first = 'null'] = namedTypes(found);
  return { type: newest.get(found) ?? first, types: [...found.types].sort() };
}

/** JSON Schema also has lists of types: then what was sent decides, or the first. */
function declaredTypes(
  declared: Json | undefined,
  found: MeasuredProperty | undefined,
  newest: NewestTypes,
): JsonObject {
  if (!Array.isArray(declared)) return {};
  const [first = 'null'] = declared.filter((type) => type !== 'null');
  const seen = found === undefined ? undefined : typesOf(found, newest)['type'];
  const isDeclared = seen !== undefined && declared.includes(seen);
  return { type: isDeclared ? seen : first, types: declared };
}

/** Null only counts when it is all there is. */
function namedTypes({ types }: MeasuredProperty): readonly MeasuredType[] {
  return [...types].filter((type) => type !== 'null').sort();
}

type NewestTypes = ReadonlyMap<MeasuredProperty, MeasuredType>;

/** Samples that are read at most to find out the newest type of keys that had several. */
const newestScan = { samplesMax: 1_000, pageSamples: 100 } as const;

/** Of the properties that had several types, that of their newest value, which is mostly in the newest samples. */
async function newestTypes(
  measured: ReadonlyMap<string, MeasuredProperty>,
  scan: { readonly deviceId: string; readonly topic: string; readonly to: EpochMs },
  store: Pick<ReadingStore, 'samples'>,
): Promise<NewestTypes> {
  const newest = new Map<MeasuredProperty, MeasuredType>();
  const open = new Map(severalTypes(measured, []));
  const { samplesMax, pageSamples: limit } = newestScan;
  for (let skip = 0; open.size > 0 && skip < samplesMax; skip += limit) {
    const page = await store.samples({ ...scan, limit, skip });
    for (const { data } of page) {
      for (const [property, path] of open) {
        const type = typeAt(data, path);
        if (type === undefined) continue;
        newest.set(property, type);
        open.delete(property);
      }
    }
    if (page.length < limit) break;
  }
  return newest;
}

function severalTypes(
  measured: ReadonlyMap<string, MeasuredProperty>,
  above: readonly string[],
): (readonly [MeasuredProperty, readonly string[]])[] {
  return [...measured].flatMap(([key, property]) => {
    const path = [...above, key];
    const below = severalTypes(property.properties, path);
    return namedTypes(property).length > 1 ? [[property, path] as const, ...below] : below;
  });
}

/** Undefined for null and for what is not there. */
function typeAt(data: JsonObject, path: readonly string[]): MeasuredType | undefined {
  let value: Json | undefined = data;
  for (const key of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  if (value === null || value === undefined) return undefined;
  return Array.isArray(value) ? 'array' : (typeof value as MeasuredType);
}

// Which keys samples have, with the types of their values: the paths that the store has measured as nested properties.

interface MeasuredProperty {
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
function measuredProperties(keys: MeasuredTopic['keys']): ReadonlyMap<string, MeasuredProperty> {
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
function keysOfWide(data: JsonObject): MeasuredTopic['keys'] {
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
  store: Samples,
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
