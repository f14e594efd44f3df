// Schema keys: what the JSON Schema of each topic declares (contract 7).

export interface SchemaKey {
  readonly key: string;
  readonly type: string;
  readonly title: string;
  readonly unit: string;
  readonly counterType: string;
  readonly isRequired: boolean;
}

export interface TopicSchema {
  readonly topic: string;
  readonly keys: readonly SchemaKey[];
  /** The schema as JSON, indented. */
  readonly json: string;
}

type Members = Readonly<Record<string, unknown>>;

/** Schemas are stored as strings; one that is not an object has no keys. */
export function topicSchemasOf(schemas: Readonly<Record<string, string>>): TopicSchema[] {
  return Object.entries(schemas).map(([topic, text]) => {
    const schema = parsed(text);
    return { topic, keys: keysOf(schema), json: JSON.stringify(schema, null, 2) };
  });
}

/** The keys of all topics, each once. */
export function declaredKeys(schemas: Readonly<Record<string, string>>): string[] {
  const keys = topicSchemasOf(schemas).flatMap((topic) => topic.keys.map(({ key }) => key));
  return [...new Set(keys)];
}

/** The schema with the fields of one key changed; empty ones are removed. */
export function withKey(text: string, key: string, change: Members): string {
  const schema = parsed(text);
  const properties = membersOf(schema['properties']);
  const merged = Object.entries({ ...membersOf(properties[key]), ...change });
  const property = Object.fromEntries(merged.filter(([, value]) => value !== ''));
  return JSON.stringify({ ...schema, properties: { ...properties, [key]: property } });
}

export function withoutKey(text: string, key: string): string {
  const schema = parsed(text);
  const { [key]: _gone, ...properties } = membersOf(schema['properties']);
  const required = listOf(schema['required']).filter((one) => one !== key);
  return JSON.stringify({ ...schema, properties, required });
}

function keysOf(schema: Members): SchemaKey[] {
  const required = listOf(schema['required']);
  return Object.entries(membersOf(schema['properties'])).map(([key, property]) => {
    const { type, title, unit, counterType } = membersOf(property);
    const isRequired = required.includes(key);
    return {
      key,
      type: textOf(type),
      title: textOf(title),
      unit: textOf(unit),
      counterType: textOf(counterType),
      isRequired,
    };
  });
}

function parsed(text: string): Members {
  try {
    return membersOf(JSON.parse(text));
  } catch {
    return {};
  }
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Members)
    : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join(', ');
  return typeof value === 'string' ? value : '';
}
