// Data keys: the values that a device has by topic, with what its schema says of them.

/** A property of the schema as `infer-schema` answers it (interface 4.1). */
interface SchemaProperty {
  readonly title?: unknown;
  readonly type?: unknown;
  readonly types?: readonly unknown[];
  readonly unit?: unknown;
  readonly inferred?: unknown;
  readonly properties?: Readonly<Record<string, SchemaProperty>>;
}

export type TopicSchemas = Readonly<
  Record<string, { readonly properties: Readonly<Record<string, SchemaProperty>> }>
>;

export interface DataKey {
  readonly topic: string;
  /** As requests name it, such as `position.latitude`. */
  readonly key: string;
  readonly title: string;
  readonly unit: string;
  readonly isNumber: boolean;
  /** Not declared by the device type, but measured. */
  readonly isInferred: boolean;
}

const nestedMax = 4;

/** Topics in the order of the platform, `default` first. */
export function topicsOf(schemas: TopicSchemas): readonly string[] {
  const topics = Object.keys(schemas);
  return topics.toSorted((a, b) => Number(b === 'default') - Number(a === 'default'));
}

/** Keys of a topic, declared ones first; those of an object have a path. */
export function dataKeysOf(schemas: TopicSchemas, topic: string): readonly DataKey[] {
  const keys = keysBelow(schemas[topic]?.properties ?? {}, topic, '', 0);
  return keys.toSorted((a, b) => Number(a.isInferred) - Number(b.isInferred));
}

function keysBelow(
  properties: Readonly<Record<string, SchemaProperty>>,
  topic: string,
  prefix: string,
  depth: number,
): DataKey[] {
  return Object.entries(properties).flatMap(([name, property]) => {
    const key = `${prefix}${name}`;
    if (property.properties !== undefined && depth < nestedMax)
      return keysBelow(property.properties, topic, `${key}.`, depth + 1);
    const types = property.types ?? [property.type].flat();
    if (types.includes('array') || types.includes('object')) return [];
    const title = wordOf(property.title, key);
    return [
      {
        topic,
        key,
        title: title === name ? key : title,
        unit: wordOf(property.unit, ''),
        isNumber: types.includes('number') || types.includes('integer'),
        isInferred: property.inferred !== false,
      },
    ];
  });
}

/** The value of a key in the data of a sample: first as it is written, then as a path. */
export function valueAt(data: Readonly<Record<string, unknown>>, key: string): unknown {
  if (Object.hasOwn(data, key)) return data[key];
  let value: unknown = data;
  for (const step of key.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step))
      return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value;
}

function wordOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}

// Colors of values: the palette in its order, the same for a value in its tile and its chart.

const paletteSize = 6;

/** Token of the n-th value that is a number; a value that is not one has the first. */
export function colorOf(at: number): `--${string}` {
  return `--c${(Math.max(0, at) % paletteSize) + 1}`;
}
