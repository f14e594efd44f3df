// Shape of a data object: its keys in order, nested, with the kind of value at each leaf.
import { isElementPath } from '../../model/sample.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { jsonOf, keysOfKnown } from '../../model/json-keys.ts';
import { missing } from '../../structures/missing.ts';
import { textKey } from '../../structures/hash-tables.ts';

/**
 * `json` leaves are arrays, `object` leaves objects beyond the limits, both as JSON text; `null`
 * and `empty` leaves (objects without a key) have no value.
 */
export const leafKinds = {
  number: 0,
  boolean: 1,
  string: 2,
  json: 3,
  null: 4,
  object: 5,
  empty: 6,
} as const;
export type LeafKind = (typeof leafKinds)[keyof typeof leafKinds];

const leavesMax = 256;
const depthMax = 12;
/** Of a shape's text, which is a key of many tables: V8 hashes keys beyond 16,383 by length alone. */
const textLengthMax = 12_000;
/** An object with more keys is wider than a shape may be: each takes six characters of its text. */
const keysMax = textLengthMax / 6;
/** The interner forgets its shapes when it has so many; shapes in use live on. */
const internedMax = 4_096;
/** Shapes with the same first key that are tried before an object is described. */
const recentMax = 8;

interface ShapeNode {
  readonly keys: readonly string[];
  readonly children: readonly (LeafKind | ShapeNode)[];
}

interface ShapeLeaf {
  readonly path: readonly string[];
  readonly kind: LeafKind;
}

/** One name for a leaf's path and kind, for keys with any characters. */
export function leafName({ path, kind }: ShapeLeaf): string {
  return kind + JSON.stringify(path);
}

export interface DataShape {
  /** The same text for the same shape. */
  readonly text: string;
  /** A leaf kind alone when the whole object is kept as one JSON text. */
  readonly root: LeafKind | ShapeNode;
  /** Leaves with a value, in order; `null` and `empty` leaves are only in the tree. */
  readonly leaves: readonly ShapeLeaf[];
  /** Whether any leaf is an `object`: such a shape fits objects that have a better one. */
  readonly opaque: boolean;
  /**
   * The keys from the root to what a data key names in objects of this shape; undefined when it
   * names nothing. The key as it stands comes first, then as a dotted path (contract 35), at every
   * depth. A key that may reach into an array has the path of the array and the rest of the key as
   * one last step, which is no leaf: only the object can tell. Of no use with an opaque shape.
   */
  readonly pathOf: (dataKey: string) => readonly string[] | undefined;
  readonly isNull: (path: readonly string[]) => boolean;
  /** Paths whose value is null. */
  readonly nulls: readonly (readonly string[])[];
  /** Paths whose value is an object without a key. */
  readonly empties: readonly (readonly string[])[];
}

export class ShapeInterner {
  readonly #known = new Map<string, DataShape>();
  /** Shapes of late by their first key: most objects have one of few. */
  readonly #recent = new Map<string, DataShape[]>();
  /** The shape with that text. */
  readonly fromText = (text: string): DataShape => {
    let shape = this.#known.get(text);
    if (shape === undefined) {
      if (this.#known.size >= internedMax) this.#known.clear();
      shape = parseShape(text);
      this.#known.set(text, shape);
    }
    return shape;
  };

  #remember(key: string, shape: DataShape): void {
    if (this.#recent.size >= internedMax) this.#recent.clear();
    const shapes = this.#recent.get(key) ?? [];
    if (shapes.unshift(shape) > recentMax) shapes.pop();
    this.#recent.set(key, shapes);
  }

  /** The shape of the object; its leaf values are added to `values`. `guess` is tried first. */
  shapeOf(data: JsonObject, values: LeafValues, guess: DataShape | undefined): DataShape {
    // Enumerating thousands of keys takes milliseconds before the first one.
    if ((keysOfKnown(data)?.length ?? 0) > keysMax) {
      values.addText(jsonOf(data));
      return this.fromText(String(leafKinds.object));
    }
    const { length, texts } = values;
    const textsBefore = texts.length;
    if (guess !== undefined && !guess.opaque && matches(guess.root, data, values)) return guess;
    values.cutBack(length, textsBefore);
    const key = firstKeyOf(data);
    for (const shape of this.#recent.get(key) ?? []) {
      if (matches(shape.root, data, values)) return shape;
      values.cutBack(length, textsBefore);
    }
    const shape = this.fromText(describe(data) ?? String(leafKinds.object));
    if (!matches(shape.root, data, values))
      throw new Error(`The shape ${shape.text} does not fit its own object`);
    if (!shape.opaque) this.#remember(key, shape);
    return shape;
  }
}

function firstKeyOf(data: JsonObject): string {
  for (const key in data) if (data[key] !== undefined) return key;
  return '';
}

/** Builds the object again. */
export function dataOf(shape: DataShape, values: LeafSource): JsonObject {
  return build(shape.root, values, { leaf: 0 }) as JsonObject;
}

function kindOf(value: Json): LeafKind | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? leafKinds.number : leafKinds.null;
  if (typeof value === 'string') return leafKinds.string;
  if (typeof value === 'boolean') return leafKinds.boolean;
  if (value === null) return leafKinds.null;
  if (Array.isArray(value)) return leafKinds.json;
  return undefined;
}

// Adds the leaf values while they fit; the caller takes back what was added when they do not.
function matches(node: LeafKind | ShapeNode, value: Json, values: LeafValues): boolean {
  if (typeof node === 'number') return matchesLeaf(node, value, values);
  if (!isJsonObject(value)) return false;
  const { keys, children } = node;
  let i = 0;
  for (const key in value) {
    const child = value[key];
    if (child === undefined) continue;
    const childNode = children[i];
    if (childNode === undefined || keys[i] !== key || !matches(childNode, child, values))
      return false;
    i++;
  }
  return i === keys.length && i > 0;
}

function matchesLeaf(kind: LeafKind, value: Json, values: LeafValues): boolean {
  if (kind === leafKinds.empty) return isJsonObject(value) && isEmpty(value);
  if (kind === leafKinds.json || kind === leafKinds.object) {
    if (kind === leafKinds.json ? !Array.isArray(value) : !isJsonObject(value) || isEmpty(value))
      return false;
    values.addText(JSON.stringify(value));
    return true;
  }
  if (kindOf(value) !== kind) return false;
  // Adding zero makes -0 the 0 that JSON text makes of it.
  if (kind === leafKinds.number) values.addNumber((value as number) + 0);
  else if (kind === leafKinds.boolean) values.addNumber(value === true ? 1 : 0);
  else if (kind === leafKinds.string) values.addText(value as string);
  return true;
}

function isEmpty(value: JsonObject): boolean {
  for (const key in value) if (value[key] !== undefined) return false;
  return true;
}

type Described = LeafKind | (string | Described)[];

// Undefined when the object is wider or deeper than a shape may be, or its keys are too long.
function describe(data: JsonObject): string | undefined {
  let leaves = 0;
  function node(value: Json, depth: number): Described | undefined {
    const kind = kindOf(value);
    if (kind !== undefined) return ++leaves > leavesMax ? undefined : kind;
    const parts: (string | Described)[] = [];
    for (const [key, child] of Object.entries(value as JsonObject)) {
      if (child === undefined) continue;
      const tooDeep =
        depth === depthMax && kindOf(child) === undefined && !isEmpty(child as JsonObject);
      const described = tooDeep ? leafKinds.object : node(child, depth + 1);
      if (described === undefined) return undefined;
      parts.push(key, described);
    }
    return parts.length === 0 ? leafKinds.empty : parts;
  }
  const root = node(data, 0);
  if (root === undefined) return undefined;
  const text = JSON.stringify(root);
  return text.length > textLengthMax ? undefined : text;
}

function parseShape(text: string): DataShape {
  const leaves: ShapeLeaf[] = [];
  const nulls: (readonly string[])[] = [];
  const empties: (readonly string[])[] = [];
  function node(described: Described, path: readonly string[]): LeafKind | ShapeNode {
    if (typeof described === 'number') {
      if (described === leafKinds.null) nulls.push(path);
      else if (described === leafKinds.empty) empties.push(path);
      else leaves.push({ path, kind: described });
      return described;
    }
    const keys = described.filter((_, i) => i % 2 === 0) as string[];
    const children = keys.map((key, i) => node(described[2 * i + 1] as Described, [...path, key]));
    return { keys, children };
  }
  const root = node(JSON.parse(text) as Described, []);
  return {
    text,
    root,
    leaves,
    nulls,
    empties,
    opaque: leaves.some(({ kind }) => kind === leafKinds.object),
    pathOf: (dataKey) => findPath(root, dataKey),
    isNull: (path) =>
      nulls.some(
        (other) => other.length === path.length && other.every((key, i) => key === path[i]),
      ),
  };
}

function findPath(node: LeafKind | ShapeNode, dataKey: string): string[] | undefined {
  if (typeof node === 'number') return undefined;
  if (node.keys.includes(dataKey)) return [dataKey];
  for (let dot = dataKey.indexOf('.'); dot >= 0; dot = dataKey.indexOf('.', dot + 1)) {
    const head = dataKey.slice(0, dot);
    const child = node.children[node.keys.indexOf(head)];
    if (child === undefined) continue;
    const inner = dataKey.slice(dot + 1);
    if (child === leafKinds.json && isElementPath(inner)) return [head, inner];
    const rest = findPath(child, inner);
    if (rest !== undefined) return [head, ...rest];
  }
  return undefined;
}

function build(node: LeafKind | ShapeNode, values: LeafSource, next: { leaf: number }): Json {
  if (typeof node === 'number') {
    if (node === leafKinds.null) return null;
    if (node === leafKinds.empty) return {};
    const leaf = next.leaf++;
    if (node === leafKinds.number) return values.numberAt(leaf);
    if (node === leafKinds.boolean) return values.numberAt(leaf) === 1;
    const text = values.textAt(leaf);
    return node === leafKinds.string ? text : (JSON.parse(text) as Json);
  }
  const object: Record<string, Json> = {};
  const { keys, children } = node;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] ?? missing('key of an object');
    const value = build(children[i] ?? missing('child of an object'), values, next);
    // Assigning to this one name would set the prototype instead.
    if (key === '__proto__')
      Object.defineProperty(object, key, {
        value,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    else object[key] = value;
  }
  return object;
}

// Leaf values: the values of many rows in sequence, without an object or boxed number for each.

/** Where the values of a row's leaves are read from; `leaf` counts the leaves with a value from 0. */
export interface LeafSource {
  /** A number, or a boolean as 0 or 1. */
  readonly numberAt: (leaf: number) => number;
  readonly textAt: (leaf: number) => string;
}

/** This number of values is part of its array; those of larger arrays are elsewhere. */
const firstCapacity = 8;
const growth = 4;
const none = new Float64Array(0);

export class LeafValues {
  /**
   * Numbers, booleans as 0 and 1, and for texts their index in `texts`: the first `length` of them.
   * It is replaced when it is full.
   */
  numbers: Float64Array;
  readonly texts: string[] = [];
  length = 0;
  /** Characters of all texts that were ever added. */
  chars = 0;

  /** Memory for `capacity` values is allocated immediately, and more when needed. */
  constructor(capacity = 0) {
    this.numbers = capacity === 0 ? none : new Float64Array(capacity);
  }

  addNumber(value: number): void {
    if (this.length === this.numbers.length) this.#grow();
    this.numbers[this.length++] = value;
  }

  addText(text: string): void {
    this.chars += text.length;
    this.addNumber(this.texts.push(text) - 1);
  }

  /** Discards what was added behind the two lengths. */
  cutBack(length: number, texts: number): void {
    this.length = length;
    if (this.texts.length !== texts) this.texts.length = texts;
  }

  numberAt(at: number): number {
    return at < this.length ? this.numbers[at]! : missing('value of a leaf');
  }

  textAt(at: number): string {
    return this.texts[this.numberAt(at)] ?? missing('string of a leaf');
  }

  /** The values from `at` on as the source of one row. */
  sourceFrom(at: number): LeafSource {
    return {
      numberAt: (leaf) => this.numberAt(at + leaf),
      textAt: (leaf) => this.textAt(at + leaf),
    };
  }

  #grow(): void {
    const larger = new Float64Array(Math.max(firstCapacity, this.length * growth));
    larger.set(this.numbers);
    this.numbers = larger;
  }
}

// Whether two data objects are the same measurement: equal values, whatever the order of their keys.

/**
 * Names of computed members, in the data itself, where JSON and enumerations do not see them. They
 * are no part of what makes samples the same: a window has moved when a device sends a sample again.
 */
const calculatedNames = Symbol('calculatedNames');

interface MarkedData extends JsonObject {
  [calculatedNames]?: readonly string[];
}

export function markCalculated(data: JsonObject, names: readonly string[]): void {
  (data as MarkedData)[calculatedNames] = names;
}

function namesIn(data: JsonObject): readonly string[] | undefined {
  return (data as MarkedData)[calculatedNames];
}

/** The data without the names, and the same object without any of them. */
function without(data: JsonObject, names: readonly string[]): JsonObject {
  if (!names.some((name) => Object.hasOwn(data, name))) return data;
  return Object.fromEntries(Object.entries(data).filter(([name]) => !names.includes(name)));
}

/** Of the data of two samples, of which either may have computed members. */
export function sameSampleData(a: JsonObject, b: JsonObject): boolean {
  const names = namesIn(b) ?? namesIn(a);
  if (names === undefined) return sameData(a, b);
  return sameData(without(a, names), without(b, names));
}

function sameData(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a === 'number' || typeof b === 'number') return storedNumber(a) === storedNumber(b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, i) => sameData(item, b[i]));
  }
  return sameMembers(a as JsonObject, b as JsonObject);
}

/** Without a list of either: every sample that may be stored already is compared. */
function sameMembers(a: JsonObject, b: JsonObject): boolean {
  let more = 0;
  for (const key in a) {
    const value = a[key];
    if (value === undefined) continue;
    if (!Object.hasOwn(b, key) || !sameData(value, b[key])) return false;
    more++;
  }
  for (const key in b) if (b[key] !== undefined) more--;
  return more === 0;
}

/** What the store makes of a number: JSON has neither infinities nor a negative zero. */
function storedNumber(value: Json | undefined): Json | undefined {
  if (typeof value !== 'number') return value;
  return Number.isFinite(value) ? value + 0 : null;
}

/** With more objects than this, comparing texts in a set beats comparing one by one. */
const listMax = 16;

/** The data objects of one instant: however many there are, asking for one stays cheap. */
export class DataSet {
  readonly #list: JsonObject[] = [];
  #texts: Set<string> | undefined;
  #asked: { readonly data: JsonObject; readonly key: string } | undefined;

  has(data: JsonObject): boolean {
    const names = namesIn(data);
    if (names !== undefined) return this.#hasWithout(data, names);
    return this.#texts === undefined
      ? this.#list.some((other) => sameSampleData(other, data))
      : this.#texts.has(this.#keyFor(data));
  }

  add(data: JsonObject): void {
    if (this.#texts !== undefined || this.#list.length >= listMax) {
      this.#texts ??= new Set(this.#list.map(keyOf));
      this.#texts.add(this.#keyFor(data));
    }
    this.#list.push(data);
  }

  /** Computed members make every text another one. */
  #hasWithout(data: JsonObject, names: readonly string[]): boolean {
    const wanted = without(data, names);
    return this.#list.some((other) => sameData(without(other, names), wanted));
  }

  // What is added was asked for just before.
  #keyFor(data: JsonObject): string {
    if (this.#asked?.data !== data) this.#asked = { data, key: keyOf(data) };
    return this.#asked.key;
  }
}

function sortedEntries(object: object): [string, Json][] {
  return Object.entries(object as Record<string, Json>).sort(
    ([a], [b]) => Number(a > b) - Number(a < b),
  );
}

const keyOf = (data: JsonObject): string => textKey(canonicalText(data));

/** The same text for objects that `sameData` holds for. */
function canonicalText(data: Json): string {
  return JSON.stringify(data, (_, value: Json) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    // A null prototype takes every key, also the one that would set the prototype.
    const sorted: Record<string, Json> = Object.create(null);
    for (const [key, child] of sortedEntries(value)) sorted[key] = child;
    return sorted;
  });
}
