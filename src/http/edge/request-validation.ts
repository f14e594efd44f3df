// Request validation: params, query and body against the schemas of an endpoint, compiled at first use.
import { createRequire } from 'node:module';
import Type, { type TSchema } from 'typebox';
import type * as TypeBoxValue from 'typebox/value';
import type { Endpoint } from '../../contract/endpoint.ts';
import { problem } from '../../model/problem.ts';
import { compileSchema } from '../../structures/schema-compiler.ts';
import { nearestOf } from './unknown-members.ts';

type Texts = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => unknown;

// A starting server does not need it yet; see `compileSchema`.
const load = createRequire(import.meta.url);
const reasonsMax = 5;

export interface RequestChecks {
  readonly params: Check;
  readonly query: Check;
  readonly body: Check;
}

/**
 * One check per part; each returns the value (query values converted to their types) or throws
 * `invalidRequest`.
 */
export function requestChecks(endpoint: Endpoint): RequestChecks {
  return {
    params: checkOf(endpoint.params, 'path', true),
    query: checkOf(endpoint.query, 'query', true),
    body: checkOf(endpoint.body, 'body', false),
  };
}

function checkOf(schema: TSchema | undefined, part: string, converted: boolean): Check {
  if (schema === undefined) return (value) => value;
  let compiled: Check | undefined;
  return (value) => {
    compiled ??= compile(schema, part, converted);
    return compiled(value);
  };
}

function compile(schema: TSchema, part: string, converted: boolean): Check {
  const validator = compileSchema(schema);
  const convert = converted ? converter(schema) : (value: unknown) => value;
  return (value) => {
    if (value === undefined && part === 'body') {
      if (Type.IsOptional(schema)) return undefined;
      throw problem('invalidRequest', { reason: 'A JSON body is required' });
    }
    const checked = convert(value);
    if (validator.Check(checked)) return checked;
    const reasons = tellingErrors(validator.Errors(checked)).slice(0, reasonsMax);
    throw problem('invalidRequest', {
      reason: reasons.map((error) => describe(part, error, schema)).join('; '),
    });
  };
}

/** Converts the parameters of a path or a query, which arrive as strings, to their types. */
function converter(schema: TSchema): Check {
  const { Value } = load('typebox/value') as typeof TypeBoxValue;
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, TSchema>> };
  // Most parameters are strings, and a conversion costs more than the check.
  const strings = new Set(
    Object.keys(properties).filter((name) => Type.IsString(properties[name])),
  );
  return (value) => {
    const sent = withoutEmpty(value as Texts);
    for (const name in sent)
      if (!strings.has(name) || typeof sent[name] !== 'string')
        return unchanged(sent, Value.Convert(schema, { ...sent }));
    return sent;
  };
}

/** Clients that fill in a form write `search=` for what they leave open. */
function withoutEmpty(sent: Texts): Texts {
  for (const name in sent)
    if (sent[name] === '')
      return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== ''));
  return sent;
}

// The conversion cuts fractions off: 1.5 would silently become 1 where a whole number is wanted.
function unchanged(texts: Texts, converted: unknown): unknown {
  const entries = Object.entries(converted as Readonly<Record<string, unknown>>);
  const isChanged = ([name, value]: [string, unknown]) =>
    typeof value === 'number' && Number(texts[name]) !== value;
  if (!entries.some(isChanged)) return converted;
  return Object.fromEntries(
    entries.map((entry) => (isChanged(entry) ? [entry[0], texts[entry[0]]] : entry)),
  );
}

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly message: string;
  readonly params?: object;
}

/**
 * The errors that tell what to do. A value that fits no alternative has an error for every
 * alternative and one for their list: of those at one place, that the value is not null or fits no
 * alternative says nothing, nor does anything about a place that has errors inside.
 */
function tellingErrors(errors: readonly SchemaError[]): readonly SchemaError[] {
  const isNoise = ({ keyword, params }: SchemaError) =>
    keyword === 'anyOf' ||
    // Each of the members is told.
    keyword === 'additionalProperties' ||
    keyword === 'oneOf' ||
    (keyword === 'type' && (params as { type?: unknown }).type === 'null');
  const telling = errors.filter(
    (error) =>
      !isNoise(error) &&
      !errors.some(
        (inner) => !isNoise(inner) && inner.instancePath.startsWith(`${error.instancePath}/`),
      ),
  );
  return telling.length > 0 ? telling : errors;
}

function describe(part: string, error: SchemaError, schema: TSchema): string {
  const where =
    error.instancePath === ''
      ? part
      : `${part} ${error.instancePath.slice(1).replaceAll('/', '.')}`;
  if (error.keyword === 'boolean')
    return `${where}: there is no such member${memberHint(error, schema)}`;
  const allowed =
    error.params !== undefined && 'allowedValues' in error.params
      ? error.params.allowedValues
      : undefined;
  return Array.isArray(allowed)
    ? `${where}: ${error.message}: ${allowed.join(', ')}`
    : `${where}: ${error.message}`;
}

const namesShownMax = 40;

/** The name that was probably meant, or all names, by the schema that knows the members. */
function memberHint({ schemaPath, instancePath }: SchemaError, schema: TSchema): string {
  const steps = schemaPath.split('/').slice(1, -1);
  const owner = steps.reduce<unknown>(
    (at, step) => (at as Texts | undefined)?.[step.replaceAll('~1', '/').replaceAll('~0', '~')],
    schema,
  );
  const { properties = {} } = (owner ?? {}) as { readonly properties?: object };
  const names = Object.keys(properties);
  const nearest = nearestOf(instancePath.split('/').at(-1) ?? '', names);
  if (nearest !== undefined) return `; did you mean ${nearest}?`;
  return names.length === 0 ? '' : `; there are ${names.slice(0, namesShownMax).join(', ')}`;
}
