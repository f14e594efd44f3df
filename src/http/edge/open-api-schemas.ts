// Component schemas of the OpenAPI document: each named schema once, and references to it.

type Refer = (schema: unknown) => unknown;

export interface ComponentSchemas {
  /**
   * The schema as the document writes it: references in place of named schemas, which become
   * components.
   */
  readonly refer: Refer;
  /** All components that were referred to so far, by name. */
  readonly all: () => Readonly<Record<string, unknown>>;
}

/** Throws when two different schemas have the same name. */
export function createComponentSchemas(): ComponentSchemas {
  const components = new Map<string, { readonly schema: unknown; readonly text: string }>();

  const refer: Refer = (schema) => {
    if (Array.isArray(schema)) return schema.map(refer);
    if (typeof schema !== 'object' || schema === null) return schema;
    if ('shownAs' in schema)
      return { ...describedOf(schema), ...(refer(schema.shownAs) as object) };
    const name = nameOf(schema);
    const members = Object.entries(schema).filter(([key]) => name === undefined || key !== 'title');
    const written = Object.fromEntries(members.map(([key, member]) => [key, refer(member)]));
    if (name === undefined) return written;
    const text = JSON.stringify(written);
    const known = components.get(name);
    if (known === undefined) components.set(name, { schema: written, text });
    else if (known.text !== text) throw new Error(`Two different schemas have the name ${name}`);
    return { $ref: `#/components/schemas/${name}` };
  };

  return {
    refer,
    all: () =>
      Object.fromEntries(
        [...components]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, { schema }]) => [name, schema]),
      ),
  };
}

/** The description of a place whose schema is shown as another one. */
function describedOf(schema: object): object {
  return 'description' in schema ? { description: schema.description } : {};
}

/** A property that is called title has a schema there, not a text. */
function nameOf(schema: object): string | undefined {
  if ('title' in schema && typeof schema.title === 'string') return schema.title;
  return undefined;
}
