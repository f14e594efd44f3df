// Schemas of a device type library: references into shared data models, by absolute URL, are written out (contract 7).
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';

/** Shared data models by the URL that references name. */
export type DataModels = ReadonlyMap<string, JsonObject>;

const depthMax = 32;
const membersMax = 20_000;

/** Throws Error with the reference that does not resolve. Never reads from the network. */
export function expandedSchema(schema: JsonObject, models: DataModels): JsonObject {
  let members = 0;
  const documentOf = (url: string, root: JsonObject): JsonObject => {
    if (url === '') return root;
    const model = models.get(url);
    if (model === undefined) throw new Error(`data model ${url} does not exist in the folder`);
    return model;
  };
  const expand = (value: Json, root: JsonObject, depth: number): Json => {
    if (depth > depthMax)
      throw new Error(`the schema exceeds the nesting depth of ${depthMax} or is recursive`);
    if (++members > membersMax)
      throw new Error(`the resolved schema has more than ${membersMax} members`);
    if (Array.isArray(value))
      return (value as readonly Json[]).map((item) => expand(item, root, depth + 1));
    if (!isJsonObject(value)) return value;
    const { $ref, ...others } = value as Readonly<Record<string, Json>>;
    const own = Object.fromEntries(
      Object.entries(others).map(([name, item]) => [name, expand(item, root, depth + 1)]),
    );
    if (typeof $ref !== 'string') return own;
    const [base = '', pointer = ''] = $ref.split('#', 2);
    const document = documentOf(base, root);
    const target = pointedAt(document, pointer);
    if (target === undefined) throw new Error(`${$ref} does not resolve to a schema`);
    const expanded = expand(target, document, depth + 1);
    // Members beside a reference override those of its target.
    if (!isJsonObject(expanded)) return expanded;
    return { ...expanded, ...own };
  };
  const { $defs: _, ...rest } = schema as Readonly<Record<string, Json>>;
  return expand(rest, schema, 0) as JsonObject;
}

/** RFC 6901. */
function pointedAt(document: JsonObject, pointer: string): Json | undefined {
  let at: Json | undefined = document;
  for (const part of pointer.split('/').slice(1)) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(at)) at = (at as readonly Json[])[Number(name)];
    else if (isJsonObject(at) && Object.hasOwn(at, name)) at = at[name];
    else return undefined;
  }
  return at;
}
