// Whether two data objects are the same measurement: equal values, whatever the order of their keys.
import type { Json, JsonObject } from '../../model/json.ts';
import { textKey } from '../../structures/string-hash.ts';

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
