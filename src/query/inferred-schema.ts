// The schema of a device's data: what its type declares, joined with what was measured (interface 2.4 and 4.1).
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { ReadingStore } from './sample-reader.ts';
import { keysOfWide, measuredProperties, type MeasuredProperty } from './measured-properties.ts';

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
  store: Pick<ReadingStore, 'measuredKeys' | 'latestSample'>,
): Promise<Readonly<Record<string, TopicSchema>>> {
  const measured = new Map(
    (await store.measuredKeys(deviceId)).map(({ topic, keys }) => [topic, keys]),
  );
  // A downlink schema describes commands.
  const declaredTopics = Object.keys(declared).filter(
    (topic) => documentOf(declared[topic])['processingType'] !== 'downlink_encoder',
  );
  const topics = [...new Set([...declaredTopics, ...measured.keys()])].slice(0, topicsMax);
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
    const properties = joined(document['properties'], measuredProperties(keys));
    schemas.push([topic, { ...headOf(deviceId, topic, document), properties }]);
  }
  return Object.fromEntries(schemas);
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
): JsonObject {
  const properties: [string, JsonObject][] = [];
  const declaredKeys = isJsonObject(declared) ? Object.entries(declared) : [];
  for (const [key, property] of declaredKeys) {
    const found = measured.get(key);
    const own = isJsonObject(property) ? property : {};
    properties.push([key, declaredProperty(key, own, found)]);
  }
  const taken = new Set(declaredKeys.map(([key]) => key));
  for (const [key, found] of measured)
    if (!taken.has(key)) properties.push([key, inferredProperty(key, found)]);
  return Object.fromEntries(properties);
}

function declaredProperty(
  key: string,
  own: JsonObject,
  found: MeasuredProperty | undefined,
): JsonObject {
  const nested = own['properties'] !== undefined || (found?.properties.size ?? 0) > 0;
  return {
    title: key,
    ...(found === undefined ? {} : { type: typeOf(found) }),
    ...own,
    inferred: false,
    ...(nested ? { properties: joined(own['properties'], found?.properties ?? new Map()) } : {}),
  };
}

function inferredProperty(key: string, found: MeasuredProperty): JsonObject {
  const nested = found.types.has('object');
  return {
    title: key,
    type: typeOf(found),
    inferred: true,
    ...(nested ? { properties: joined(undefined, found.properties) } : {}),
  };
}

// One type is a text, several are a list, as JSON Schema has it; null only counts when it is all
// there is.
function typeOf({ types }: MeasuredProperty): Json {
  const named = [...types].filter((type) => type !== 'null').sort();
  const [first = 'null'] = named;
  return named.length > 1 ? named : first;
}
