// Hash tables in typed arrays: slots by hash, numbers of ids, and hashes of strings that no client can make collide.
import { hash } from 'node:crypto';
import { digitAt } from './bytes.ts';

const capacityMin = 1_024;
/** Longer runs of neighbors would make each search slow. */
const filledMax = 0.75;

/** Slots are integers from 0 to 2^32 - 2. Grows by doubling and never shrinks. */
export class SlotIndex {
  #hashes = new Uint32Array(capacityMin);
  // A slot is stored with one added, so that 0 is an empty place.
  #slots = new Uint32Array(capacityMin);
  #mask = capacityMin - 1;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The slot under the hash that is meant; several slots can have one hash. */
  find(hash: number, isMeant: (slot: number) => boolean): number | undefined {
    const wanted = hash >>> 0;
    for (
      let place = wanted & this.#mask;
      this.#slots[place] !== 0;
      place = (place + 1) & this.#mask
    )
      if (this.#hashes[place] === wanted && isMeant(this.#slots[place]! - 1))
        return this.#slots[place]! - 1;
    return undefined;
  }

  /** Adds the pair, which must not be in the index. */
  add(hash: number, slot: number): void {
    if (this.#size + 1 > this.#slots.length * filledMax) this.#grow();
    this.#put(hash >>> 0, slot + 1);
    this.#size += 1;
  }

  /** Removes the pair, if it is in the index. */
  delete(hash: number, slot: number): void {
    const wanted = hash >>> 0;
    for (
      let place = wanted & this.#mask;
      this.#slots[place] !== 0;
      place = (place + 1) & this.#mask
    ) {
      if (this.#hashes[place] !== wanted || this.#slots[place] !== slot + 1) continue;
      this.#close(place);
      this.#size -= 1;
      return;
    }
  }

  #put(hash: number, stored: number): void {
    let place = hash & this.#mask;
    while (this.#slots[place] !== 0) place = (place + 1) & this.#mask;
    this.#hashes[place] = hash;
    this.#slots[place] = stored;
  }

  #grow(): void {
    const [oldHashes, oldSlots] = [this.#hashes, this.#slots];
    const capacity = oldSlots.length * 2;
    this.#hashes = new Uint32Array(capacity);
    this.#slots = new Uint32Array(capacity);
    this.#mask = capacity - 1;
    for (let place = 0; place < oldSlots.length; place++)
      if (oldSlots[place] !== 0) this.#put(oldHashes[place]!, oldSlots[place]!);
  }

  /** Moves later entries of the run forward, so that no search ends too early. */
  #close(gap: number): void {
    let empty = gap;
    for (
      let place = (gap + 1) & this.#mask;
      this.#slots[place] !== 0;
      place = (place + 1) & this.#mask
    ) {
      const distance = (place - (this.#hashes[place]! & this.#mask)) & this.#mask;
      if (distance < ((place - empty) & this.#mask)) continue;
      this.#hashes[empty] = this.#hashes[place]!;
      this.#slots[empty] = this.#slots[place]!;
      empty = place;
    }
    this.#slots[empty] = 0;
  }
}

// Id table: the numbers of ids. Ids of 16 hexadecimal digits take two words each.
// A lookup in a `Map` enters each new string into the table of strings of the runtime first, which
// costs several times as much as this one and has to be cleaned up.

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

// Hashes of strings under a secret, and texts of any length as keys, so that no client can choose many that collide.

type StringHash = (first: string, second?: string) => number;

/** The secrets are random 32-bit integers. The hash of two strings keeps them apart. */
export function createStringHash(seed: number, added: number): StringHash {
  function mixed(before: number, string: string): number {
    let hash = before;
    for (let i = 0; i < string.length; i++) {
      hash = Math.imul((hash ^ string.charCodeAt(i)) + added, 0x9e37_79b1);
      hash ^= hash >>> 15;
    }
    return Math.imul(hash ^ string.length, 0x85eb_ca6b);
  }

  return (first, second) => {
    let hash = mixed(seed, first);
    if (second !== undefined) hash = mixed(hash, second);
    hash ^= hash >>> 13;
    hash = Math.imul(hash, 0xc2b2_ae35);
    return (hash ^ (hash >>> 16)) >>> 0;
  };
}

// Text key: a text of any length as a key of a Map or Set, found in a time that does not depend on other keys.

/**
 * V8 hashes a longer string by its length alone, and looking one up in any Map, Set or object enters
 * it in a table of the whole process: there, all of one length are compared character by character.
 */
const hashedLengthMax = 16_383;

/** The text itself, or of a long one its length and digest. */
export function textKey(text: string): string {
  if (text.length <= hashedLengthMax) return text;
  return `\0${text.length} ${hash('sha256', text, 'base64')}`;
}
