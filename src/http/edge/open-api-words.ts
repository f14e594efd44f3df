// Words of the OpenAPI document: descriptions of the properties and parameters whose schema has none.
import {
  deprecatedFields,
  fieldWords,
  ownFieldWords,
  pageFieldWords,
  parameterWords,
  type Words,
} from './open-api-field-words.ts';

type Schema = Readonly<Record<string, unknown>>;

const alternatives = ['anyOf', 'oneOf', 'allOf'] as const;

/**
 * The schema with descriptions of its properties. `owner` is its name if it is a component, or the
 * property that it is the schema of.
 */
export function withFieldWords(schema: unknown, owner = ''): unknown {
  if (Array.isArray(schema)) return schema.map((member) => withFieldWords(member, owner));
  if (typeof schema !== 'object' || schema === null) return schema;
  const written: Record<string, unknown> = { ...schema };
  for (const key of ['items', 'additionalProperties', ...alternatives])
    if (key in written) written[key] = withFieldWords(written[key], owner);
  if ('patternProperties' in written)
    written['patternProperties'] = Object.fromEntries(
      Object.entries(written['patternProperties'] as Schema).map(([pattern, member]) => [
        pattern,
        withFieldWords(member, owner),
      ]),
    );
  if (typeof written['properties'] !== 'object' || written['properties'] === null) return written;
  const members = Object.entries(written['properties'] as Readonly<Record<string, unknown>>);
  const isPage = members.some(([name]) => name === 'totalPages');
  const words = isPage ? { ...fieldWords, ...pageFieldWords } : fieldWords;
  const ownName = owner.replace(/(Draft|Update|Item|Row|Summary)$/, '');
  written['properties'] = Object.fromEntries(
    members.map(([name, member]) => {
      const own = ownFieldWords[`${owner}.${name}`] ?? ownFieldWords[`${ownName}.${name}`];
      const word = own ?? wordOf(words, name);
      const worded = withWord(withFieldWords(member, name), word);
      const isOld = deprecatedFields.has(name) || deprecatedFields.has(`${owner}.${name}`);
      return [name, isOld ? { ...(worded as object), deprecated: true } : worded];
    }),
  );
  return written;
}

/** The parameter of an operation, with words if it has none. */
export function withParameterWords<P extends { readonly name: string }>(parameter: P): P {
  return withWord(parameter, wordOf(parameterWords, parameter.name)) as P;
}

function wordOf(words: Words, name: string): string | undefined {
  return Object.hasOwn(words, name) ? words[name] : undefined;
}

/** What an alternative says of itself is said of the whole, where readers and generators look for it. */
function withWord(described: unknown, word: string | undefined): unknown {
  if (typeof described !== 'object' || described === null) return described;
  const schema = described as Schema;
  if ('description' in schema) return described;
  for (const key of alternatives) {
    const members = schema[key];
    if (!Array.isArray(members)) continue;
    const at = members.findIndex((member) => typeof (member as Schema)['description'] === 'string');
    if (at === -1) continue;
    const { description, ...bare } = members[at] as Schema;
    return { ...schema, [key]: members.with(at, bare), description };
  }
  if (word === undefined) return described;
  return { ...schema, description: word };
}
