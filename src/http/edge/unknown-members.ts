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

export interface UnknownMember {
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
  if (schema !== undefined) addUnknown([schema], body as Json, '', found);
  return found;
}

/** `shapes`: alternatives, of which a member must be in one. */
function addUnknown(
  shapes: readonly Shape[],
  value: Json | undefined,
  prefix: string,
  found: UnknownMember[],
): void {
  const all = shapes.flatMap(alternatives);
  if (Array.isArray(value)) {
    const items = all.flatMap(({ items: of }) => (of === undefined ? [] : [of]));
    if (items.length === 0) return;
    for (const [at, item] of value.slice(0, elementsMax).entries())
      addUnknown(items, item, `${prefix}${at}.`, found);
    return;
  }
  if (!isJsonObject(value)) return;
  const objects = all.filter(({ properties }) => properties !== undefined);
  if (objects.length === 0 || all.some(takesAny)) return;
  for (const [name, inner] of Object.entries(value)) {
    if (found.length >= foundMax) return;
    const inners = objects.flatMap(({ properties = {} }) =>
      Object.hasOwn(properties, name) ? [properties[name] as Shape] : [],
    );
    const path = `${prefix}${name.slice(0, nameLengthMax)}`;
    if (inners.length > 0) addUnknown(inners, inner, `${path}.`, found);
    else found.push({ path, nearest: nearestOf(name, namesOf(objects)) });
  }
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
