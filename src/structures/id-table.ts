// Id table: the numbers of ids. Ids of 16 hexadecimal digits take two words each.
// A lookup in a `Map` enters each new string into the table of strings of the runtime first, which
// costs several times as much as this one and has to be cleaned up.
import { digitAt } from './bytes.ts';

const firstPlaces = 1 << 11;
const idDigits = 16;
const wordDigits = 8;
/** Words of a place: the two of the id and its number plus `firstNumber`. */
const stride = 4;
const numberAt = 2;
const free = 0;
/** The id was removed; it keeps its place. */
const removed = 1;
const firstNumber = 2;

export interface IdTable {
  readonly get: (id: string) => number | undefined;
  readonly set: (id: string, number: number) => void;
  readonly remove: (id: string) => void;
}

/** Numbers are below 2^32 - 2. */
export function createIdTable(): IdTable {
  let places = new Uint32Array(firstPlaces * stride);
  let used = 0;
  /** Ids in other forms. */
  const others = new Map<string, number>();
  // The words of the id that `parse` read last.
  let high = 0;
  let low = 0;

  /** False when the id has another form. */
  function parse(id: string): boolean {
    if (id.length !== idDigits) return false;
    let all = 0;
    high = 0;
    low = 0;
    for (let i = 0; i < wordDigits; i++) {
      const upper = digitAt(id, i);
      const lower = digitAt(id, i + wordDigits);
      all |= upper | lower;
      high = (high << 4) | upper;
      low = (low << 4) | lower;
    }
    high >>>= 0;
    low >>>= 0;
    return all <= 15;
  }

  /** Where the parsed id is, or the free place where it belongs. */
  function find(): number {
    const mask = places.length - 1;
    // Eight ids in sequence stay together, because such devices often come one after the other.
    let hash = Math.imul(low >>> 3, 0x9e37_79b1) ^ Math.imul(high, 0x85eb_ca6b);
    hash = ((hash ^ (hash >>> 15)) << 3) | (low & 7);
    let at = Math.imul(hash, stride) & mask;
    while (places[at + numberAt] !== free && (places[at + 1] !== low || places[at] !== high))
      at = (at + stride) & mask;
    return at;
  }

  function put(number: number): void {
    const at = find();
    if (places[at + numberAt] === free) used++;
    places[at] = high;
    places[at + 1] = low;
    places[at + numberAt] = number;
  }

  function grow(): void {
    const old = places;
    places = new Uint32Array(old.length * 2);
    used = 0;
    for (let at = 0; at < old.length; at += stride) {
      const number = old[at + numberAt]!;
      if (number < firstNumber) continue;
      high = old[at]!;
      low = old[at + 1]!;
      put(number);
    }
  }

  return {
    get: (id) => {
      if (!parse(id)) return others.get(id);
      const number = places[find() + numberAt]!;
      return number < firstNumber ? undefined : number - firstNumber;
    },
    set: (id, number) => {
      if ((used + 1) * 2 * stride > places.length) grow();
      if (parse(id)) put(number + firstNumber);
      else others.set(id, number);
    },
    remove: (id) => {
      if (!parse(id)) others.delete(id);
      else if (places[find() + numberAt] !== free) places[find() + numberAt] = removed;
    },
  };
}

/** A map from ids, where a lookup with a new string is cheap. */
export interface IdMap<Value> {
  readonly size: () => number;
  readonly get: (id: string) => Value | undefined;
  readonly set: (id: string, value: Value) => void;
  readonly delete: (id: string) => void;
  readonly values: () => Iterable<Value>;
}

export function createIdMap<Value>(): IdMap<Value> {
  const numbers = createIdTable();
  const values: (Value | undefined)[] = [];
  /** Numbers without a value. */
  const unused: number[] = [];

  return {
    size: () => values.length - unused.length,
    get: (id) => {
      const number = numbers.get(id);
      return number === undefined ? undefined : values[number];
    },
    set: (id, value) => {
      const number = numbers.get(id) ?? unused.pop() ?? values.length;
      numbers.set(id, number);
      values[number] = value;
    },
    delete: (id) => {
      const number = numbers.get(id);
      if (number === undefined) return;
      numbers.remove(id);
      values[number] = undefined;
      unused.push(number);
    },
    values: () => values.filter((value) => value !== undefined),
  };
}
