// Unknown members: what a body has that its schema does not name, and the name that was probably meant (contract 42).
import type { TSchema } from 'typebox';
import { isJsonObject, type Json } from '../../model/json.ts';

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
