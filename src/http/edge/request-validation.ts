// Request validation: params, query and body against the schemas of an endpoint, compiled at first use.
import { createRequire } from 'node:module';
import Type, { type TSchema } from 'typebox';
import type * as TypeBoxValue from 'typebox/value';
import type { Endpoint } from '../../contract/endpoint.ts';
import { problem } from '../../model/problem.ts';
import { compileSchema } from '../../structures/schema-compiler.ts';
import { isJsonObject, type Json } from '../../model/json.ts';

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

// Unknown members: what a body has that its schema does not name, and the name that was probably meant (contract 42).

/** What is read of a schema. */
interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly patternProperties?: object;
  readonly additionalProperties?: unknown;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
  readonly allOf?: readonly Shape[];
}

interface UnknownMember {
  /** Dotted, as in `settings.retention` or `rows.0.colour`. */
  readonly path: string;
  /** The valid name that is most like it. */
  readonly nearest: string | undefined;
}

const foundMax = 20;
/** Of a list: senders put the same members into all elements, and a body can have 100,000 of them. */
const elementsMax = 1_000;
const nameLengthMax = 100;

/** The first unknown members of the body; none where the schema takes any. */
export function unknownMembers(schema: TSchema | undefined, body: unknown): UnknownMember[] {
  const found: UnknownMember[] = [];
  if (schema === undefined) return found;
  let known = knownMembers.get(schema);
  if (known === undefined) {
    known = new KnownMembers([schema]);
    knownMembers.set(schema, known);
  }
  addUnknown(known, body as Json, '', found);
  return found;
}

/** Of each schema that was asked for: every body is looked at, and few schemas exist. */
const knownMembers = new WeakMap<TSchema, KnownMembers>();

/** What values of some alternative shapes may have; a member must be in one of them. */
class KnownMembers {
  /** Whether any member is taken. */
  readonly isOpen: boolean;
  readonly #objects: readonly Shape[];
  readonly #itemShapes: readonly Shape[];
  readonly #members = new Map<string, KnownMembers>();
  #items: KnownMembers | undefined;

  constructor(shapes: readonly Shape[]) {
    const all = shapes.flatMap(alternatives);
    this.#objects = all.filter(({ properties }) => properties !== undefined);
    this.#itemShapes = all.flatMap(({ items }) => (items === undefined ? [] : [items]));
    this.isOpen = this.#objects.length === 0 || all.some(takesAny);
  }

  /** Those of the elements of a list; undefined where nothing is said of them. */
  get items(): KnownMembers | undefined {
    if (this.#itemShapes.length === 0) return undefined;
    this.#items ??= new KnownMembers(this.#itemShapes);
    return this.#items;
  }

  get names(): readonly string[] {
    return namesOf(this.#objects);
  }

  /** Those of the member's value; undefined for an unknown member. */
  member(name: string): KnownMembers | undefined {
    const known = this.#members.get(name);
    if (known !== undefined) return known;
    const shapes = this.#objects.flatMap(({ properties = {} }) =>
      Object.hasOwn(properties, name) ? [properties[name] as Shape] : [],
    );
    if (shapes.length === 0) return undefined;
    const member = new KnownMembers(shapes);
    this.#members.set(name, member);
    return member;
  }
}

function addUnknown(
  known: KnownMembers,
  value: Json | undefined,
  prefix: string,
  found: UnknownMember[],
): void {
  if (Array.isArray(value)) {
    const { items } = known;
    if (items === undefined) return;
    for (let at = 0; at < value.length && at < elementsMax; at++)
      if (isNested(value[at])) addUnknown(items, value[at], `${prefix}${at}.`, found);
    return;
  }
  if (!isJsonObject(value) || known.isOpen) return;
  for (const name of Object.keys(value)) {
    if (found.length >= foundMax) return;
    const member = known.member(name);
    const inner = value[name];
    if (member === undefined) {
      const path = `${prefix}${name.slice(0, nameLengthMax)}`;
      found.push({ path, nearest: nearestOf(name, known.names) });
    } else if (isNested(inner))
      addUnknown(member, inner, `${prefix}${name.slice(0, nameLengthMax)}.`, found);
  }
}

function isNested(value: Json | undefined): boolean {
  return typeof value === 'object' && value !== null;
}

function alternatives(shape: Shape): readonly Shape[] {
  const parts = [...(shape.anyOf ?? []), ...(shape.oneOf ?? []), ...(shape.allOf ?? [])];
  return [shape, ...parts.flatMap(alternatives)];
}

function takesAny({ additionalProperties, patternProperties }: Shape): boolean {
  const isOpen = additionalProperties !== undefined && additionalProperties !== false;
  return isOpen || patternProperties !== undefined;
}

function namesOf(shapes: readonly Shape[]): string[] {
  return [...new Set(shapes.flatMap(({ properties = {} }) => Object.keys(properties)))];
}

/** Undefined when no name is like it. */
export function nearestOf(name: string, valid: readonly string[]): string | undefined {
  const sent = plain(name.slice(0, nameLengthMax));
  if (sent === '') return undefined;
  const ranked = valid
    .map((one) => ({ one, steps: distance(sent, plain(one)) }))
    .sort((a, b) => a.steps - b.steps);
  const [best] = ranked;
  if (best === undefined) return undefined;
  const isLike = best.steps <= Math.max(2, Math.floor(best.one.length / 3));
  if (isLike) return best.one;
  // `script` for `uplinkScript`, `retention` for `retentionDays`.
  return valid.find((one) => plain(one).includes(sent) || sent.includes(plain(one)));
}

function plain(name: string): string {
  return name.replace(/[^A-Za-z0-9]/g, '').toLowerCase();
}

/** Single characters to insert, delete or replace. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + Number(a[i - 1] !== b[j - 1]);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The reason of a refusal. */
export function unknownReason(members: readonly UnknownMember[]): string {
  return members
    .slice(0, shownMax)
    .map(({ path, nearest }) => {
      const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
      return `body ${path}: there is no such member${hint}`;
    })
    .join('; ');
}

const shownMax = 5;
const headerLengthMax = 1_000;

/** The value of the header `X-Ignored-Members`. */
export function ignoredHeader(members: readonly UnknownMember[]): string {
  const names = members.map(({ path }) => encodeURI(path.toWellFormed()).replaceAll(',', '%2C'));
  return names.join(', ').slice(0, headerLengthMax);
}
