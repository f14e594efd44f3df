// Schemas of a device type library: references into shared data models, by absolute URL, are written out (contract 7).
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';

/** Shared data models by the URL that references name. */
export type DataModels = ReadonlyMap<string, JsonObject>;

const depthMax = 32;
const membersMax = 20_000;

/** Throws Error with the reference that cannot be followed; nothing is ever read from the network. */
export function expandedSchema(schema: JsonObject, models: DataModels): JsonObject {
  let members = 0;
  const expand = (value: Json, root: JsonObject, depth: number): Json => {
    if (depth > depthMax)
      throw new Error(`the schema nests deeper than ${depthMax} levels, or refers to itself`);
    if (++members > membersMax)
      throw new Error(`the schema has more than ${membersMax} members once it is written out`);
    if (Array.isArray(value))
      return (value as readonly Json[]).map((item) => expand(item, root, depth + 1));
    if (!isJsonObject(value)) return value;
    const { $ref, ...others } = value as Readonly<Record<string, Json>>;
    const own = Object.fromEntries(
      Object.entries(others).map(([name, item]) => [name, expand(item, root, depth + 1)]),
    );
    if (typeof $ref !== 'string') return own;
    const [base = '', pointer = ''] = $ref.split('#', 2);
    const document = base === '' ? root : models.get(base);
    if (document === undefined) throw new Error(`there is no data model ${base} in the folder`);
    const target = pointedAt(document, pointer);
    if (target === undefined) throw new Error(`${$ref} names nothing`);
    const expanded = expand(target, document, depth + 1);
    // What stands beside a reference says it more exactly than what it refers to.
    return isJsonObject(expanded) ? { ...expanded, ...own } : expanded;
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
    else at = isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return at;
}
