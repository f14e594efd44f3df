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

/** Numbers are below 2^32 - 2. */
export class IdTable {
  #places = new Uint32Array(firstPlaces * stride);
  #used = 0;
  /** Ids in other forms. */
  readonly #others = new Map<string, number>();
  // The words of the id that `parse` read last.
  #high = 0;
  #low = 0;

  get(id: string): number | undefined {
    if (!this.#parse(id)) return this.#others.get(id);
    const number = this.#places[this.#find() + numberAt]!;
    return number < firstNumber ? undefined : number - firstNumber;
  }

  set(id: string, number: number): void {
    if ((this.#used + 1) * 2 * stride > this.#places.length) this.#grow();
    if (this.#parse(id)) this.#put(number + firstNumber);
    else this.#others.set(id, number);
  }

  remove(id: string): void {
    if (!this.#parse(id)) this.#others.delete(id);
    else if (this.#places[this.#find() + numberAt] !== free)
      this.#places[this.#find() + numberAt] = removed;
  }

  /** False when the id has another form. */
  #parse(id: string): boolean {
    if (id.length !== idDigits) return false;
    let all = 0;
    this.#high = 0;
    this.#low = 0;
    for (let i = 0; i < wordDigits; i++) {
      const upper = digitAt(id, i);
      const lower = digitAt(id, i + wordDigits);
      all |= upper | lower;
      this.#high = (this.#high << 4) | upper;
      this.#low = (this.#low << 4) | lower;
    }
    this.#high >>>= 0;
    this.#low >>>= 0;
    return all <= 15;
  }

  /** Where the parsed id is, or the free place where it belongs. */
  #find(): number {
    const mask = this.#places.length - 1;
    // Eight ids in sequence stay together, because such devices often come one after the other.
    let hash = Math.imul(this.#low >>> 3, 0x9e37_79b1) ^ Math.imul(this.#high, 0x85eb_ca6b);
    hash = ((hash ^ (hash >>> 15)) << 3) | (this.#low & 7);
    let at = Math.imul(hash, stride) & mask;
    while (
      this.#places[at + numberAt] !== free &&
      (this.#places[at + 1] !== this.#low || this.#places[at] !== this.#high)
    )
      at = (at + stride) & mask;
    return at;
  }

  #put(number: number): void {
    const at = this.#find();
    if (this.#places[at + numberAt] === free) this.#used++;
    this.#places[at] = this.#high;
    this.#places[at + 1] = this.#low;
    this.#places[at + numberAt] = number;
  }

  #grow(): void {
    const old = this.#places;
    this.#places = new Uint32Array(old.length * 2);
    this.#used = 0;
    for (let at = 0; at < old.length; at += stride) {
      const number = old[at + numberAt]!;
      if (number < firstNumber) continue;
      this.#high = old[at]!;
      this.#low = old[at + 1]!;
      this.#put(number);
    }
  }
}

/** A map from ids, where a lookup with a new string is cheap. */
export class IdMap<Value> {
  readonly #numbers = new IdTable();
  readonly #values: (Value | undefined)[] = [];
  /** Numbers without a value. */
  readonly #unused: number[] = [];

  size(): number {
    return this.#values.length - this.#unused.length;
  }

  get(id: string): Value | undefined {
    const number = this.#numbers.get(id);
    return number === undefined ? undefined : this.#values[number];
  }

  set(id: string, value: Value): void {
    const number = this.#numbers.get(id) ?? this.#unused.pop() ?? this.#values.length;
    this.#numbers.set(id, number);
    this.#values[number] = value;
  }

  delete(id: string): void {
    const number = this.#numbers.get(id);
    if (number === undefined) return;
    this.#numbers.remove(id);
    this.#values[number] = undefined;
    this.#unused.push(number);
  }

  values(): Iterable<Value> {
    return this.#values.filter((value) => value !== undefined);
  }
}
