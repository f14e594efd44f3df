// JSON keys: JSON from outside is parsed without keys that would make the parser slow for all.
// The parser keeps one table of all keys of the process, in which keys beyond 16,383 characters are
// hashed by their length alone: a megabyte of them costs seconds.
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { standInName } from './ids.ts';
import type { Note } from './entry-trace.ts';

/** As in `src/structures/hash-tables.ts`, which the model does not import. */
const hashedLengthMax = 16_383;

/**
 * As JSON.parse, but a key of more than 16,383 characters has a stand-in, which is no data key.
 * `reviver`: as that of JSON.parse.
 */
export function parsedJson(text: string, reviver?: Parameters<typeof JSON.parse>[1]): Json {
  return JSON.parse(mayHaveLongKeys(text) ? withStandIns(text) : text, reviver) as Json;
}

/** As `parsedJson`, for text whose shape its writer guarantees, such as the entries of the script engine. */
export function typedJson<T extends object>(text: string): T {
  return parsedJson(text) as T;
}

const probeLength = 4_096;

/** Whether there may be so long a string: quotes are usually near, so that few places are looked at. */
function mayHaveLongKeys(text: string): boolean {
  if (text.length <= hashedLengthMax) return false;
  if (text.includes('\\"')) return true;
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return false;
    if (quote - at > probeLength) return true;
    at = quote + probeLength;
  }
  return false;
}

function withStandIns(text: string): string {
  let written = '';
  let taken = 0;
  for (let start = text.indexOf('"'); start !== -1; ) {
    const end = stringEnd(text, start);
    if (end - start > hashedLengthMax && isKey(text, end + 1)) {
      const name = nameOf(text.slice(start, end + 1));
      // What the parser refuses too.
      if (name === undefined) break;
      written += text.slice(taken, start) + JSON.stringify(standInName(name));
      taken = end + 1;
    }
    start = text.indexOf('"', end + 1);
  }
  return taken === 0 ? text : written + text.slice(taken);
}

function isKey(text: string, from: number): boolean {
  let at = from;
  while (/^[ \t\r\n]$/.test(text.charAt(at))) at++;
  return text.charAt(at) === ':';
}

/** As a value the parser does not keep it. */
function nameOf(written: string): string | undefined {
  try {
    return JSON.parse(written) as string;
  } catch {
    return undefined;
  }
}

const backslash = 0x5c;

/** The place of the quote that ends the string, or the end of the text. */
function stringEnd(text: string, from: number): number {
  let at = text.indexOf('"', from + 1);
  while (at !== -1) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return at;
    at = text.indexOf('"', at + 1);
  }
  return text.length;
}

/** Undefined when the string is not JSON or is not an object. */
export function parseJsonObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = parsedJson(text);
    if (isJsonObject(value)) return value;
  } catch {
    return undefined;
  }
  return undefined;
}

// JSON text parser: limits the depth, and reports the position of a fault.

/** Deeper documents are refused to protect recursive code. Devices and clients do not need them. */
export const jsonDepthMax = 64;

/**
 * The input is not valid JSON, or its depth is too large. The message has the reason and the
 * position.
 */
export class JsonFault extends Error {
  override readonly name = 'JsonFault';
}

function tooDeep(): JsonFault {
  return new JsonFault(`it nests deeper than ${jsonDepthMax} levels`);
}

/**
 * Parses a document that is not empty, after an optional byte order mark. Throws JsonFault. `parse` is
 * another `JSON.parse`.
 */
export function parseJsonText(text: string, parse: (text: string) => unknown = parsedJson): Json {
  if (nestsTooDeep(text)) throw tooDeep();
  try {
    // A byte order mark is what some Windows tools put in front of UTF-8.
    return parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) as Json;
  } catch (error) {
    throw new JsonFault(error instanceof Error ? error.message : String(error));
  }
}

const quote = 0x22;

function nestsTooDeep(text: string): boolean {
  // Nothing can nest deeper than half of its length, so ordinary payloads are not scanned at all.
  if (text.length <= jsonDepthMax * 2) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = stringEnd(text, at);
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > jsonDepthMax) return true;
    } else if (code === 0x7d || code === 0x5d) {
      depth--;
    }
  }
  return false;
}

// Large objects: their keys from when they were parsed, because enumerating thousands takes milliseconds before the first one.

/** An array has no entry in its list. */
const keysOfLarge = new WeakMap<object, readonly string[]>();
let areAny = false;
const noKeys: readonly string[] = Object.freeze([]);

/** What is written in one step, in a fraction of a millisecond: strings, and characters of them. */
const piecesPerStep = 1_000;
const pieceChars = 32 * 1024;

/** The value is large, or contains one that is. It must not change any more. */
export function rememberLarge(value: object, keys: readonly string[] = noKeys): void {
  areAny = true;
  keysOfLarge.set(value, keys);
}

/** All keys of an object that is known to be large. */
export function keysOfKnown(object: object): readonly string[] | undefined {
  return areAny ? keysOfLarge.get(object) : undefined;
}

function isLarge(value: Json): value is Json & object {
  return typeof value === 'object' && value !== null && keysOfKnown(value) !== undefined;
}

/**
 * JSON in pieces. One string of it would be a large object of the heap, which only a major collection
 * of garbage frees; pieces are collected while they are young.
 */
class JsonPieces {
  readonly done: string[] = [];
  #recent: string[] = [];
  #chars = 0;

  /** Whether it is time for a step. */
  get isFull(): boolean {
    return this.#recent.length >= piecesPerStep || this.#chars >= pieceChars;
  }

  add(text: string): void {
    this.#recent.push(text);
    this.#chars += text.length;
  }

  end(): void {
    if (this.#recent.length > 0) this.done.push(this.#recent.join(''));
    this.#recent = [];
    this.#chars = 0;
  }
}

/** What `JSON.stringify` makes of the value, cut into pieces, in steps for one that is known to be large. */
export function* jsonInSteps(value: Json): Generator<undefined, readonly string[]> {
  const pieces = new JsonPieces();
  yield* writeInSteps(value, pieces);
  pieces.end();
  return pieces.done;
}

function* writeInSteps(value: Json, to: JsonPieces): Generator<undefined, void> {
  if (!isLarge(value)) {
    to.add(JSON.stringify(value));
    return;
  }
  if (Array.isArray(value)) {
    const elements = value as readonly Json[];
    to.add('[');
    for (let at = 0; at < elements.length; at++) {
      if (at > 0) to.add(',');
      yield* writeInSteps(elements[at] ?? null, to);
      if (!to.isFull) continue;
      to.end();
      yield;
    }
    to.add(']');
    return;
  }
  const object = value as Readonly<Record<string, Json>>;
  const keys = keysOfKnown(value) ?? noKeys;
  to.add('{');
  // By place: in a generator, an iterator makes an object for each of thousands.
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] ?? '';
    const member = object[key] ?? null;
    const name = `${at > 0 ? ',' : ''}${JSON.stringify(key)}:`;
    if (isLarge(member)) {
      to.add(name);
      yield* writeInSteps(member, to);
    } else to.add(name + JSON.stringify(member));
    if (!to.isFull) continue;
    to.end();
    yield;
  }
  to.add('}');
}

const knownJson = new WeakMap<object, readonly string[]>();

/**
 * Makes the JSON of a large value once, in steps: journal and raw uplinks need it, and it takes
 * milliseconds. The value must not change any more.
 */
export function* rememberJson(value: JsonObject | readonly Json[]): Generator<undefined, void> {
  if (!knownJson.has(value)) knownJson.set(value, yield* jsonInSteps(value));
}

/** What `JSON.stringify` makes of the value, of a large one in pieces. */
export function jsonPiecesOf(value: JsonObject | readonly Json[]): readonly string[] {
  return knownJson.get(value) ?? [JSON.stringify(value)];
}

/** What `JSON.stringify` makes of the value. */
export function jsonOf(value: JsonObject | readonly Json[]): string {
  return knownJson.get(value)?.join('') ?? JSON.stringify(value);
}

// Exact JSON: integers that a number does not hold arrive as their text, and it is known where (contract 42).

// Exact integers: the note on those of a value that arrived as their text, because a number would round them.

const shownLengthMax = 200;

/** Undefined when there are none. */
export function exactIntegersNote(value: Json): Note | undefined {
  const paths = exactPathsIn(value);
  return paths.length === 0 ? undefined : noteOfExact(paths);
}

export function noteOfExact(paths: readonly string[]): Note {
  const named = paths.join(', ');
  const shown = named.length <= shownLengthMax ? named : `${named.slice(0, shownLengthMax)}…`;
  const message = `Integers outside the safe range were stored as strings: ${shown}`;
  return { level: 'WARN', source: 'UPLINK', message, details: { paths } };
}

/** Keys whose integers became text, by the object or array that has them. */
const exactKeys = new WeakMap<object, string[]>();
const none: readonly string[] = Object.freeze([]);
const shownMax = 10;
const keptMax = 1_000;

/** A number of so many digits that it may be beyond 2^53. Most texts have none. */
const longNumber = /(?:^|[[:,\s])-?\d{16}/;
const integer = /^-?\d+$/;

/** As `parsedJson`, for readings. */
export function parseReadings(text: string): Json {
  return longNumber.test(text) ? parsedJson(text, exactly) : parsedJson(text);
}

function exactly(
  this: object,
  key: string,
  value: unknown,
  { source = '' }: { readonly source?: string } = {},
): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !integer.test(source))
    return value;
  rememberExact(this, key);
  return source;
}

/** The member is the text of an integer. */
export function rememberExact(holder: object, key: string): void {
  areAny = true;
  const keys = exactKeys.get(holder);
  if (keys === undefined) exactKeys.set(holder, [key]);
  else if (keys.length < keptMax) keys.push(key);
}

/** A copy with further members, of which it is still known which integers became text. */
export function withMembers(holder: JsonObject, more: JsonObject): JsonObject {
  const made = { ...holder, ...more };
  for (const key of exactKeys.get(holder) ?? none)
    if (!Object.hasOwn(more, key)) rememberExact(made, key);
  return made;
}

/** Whether the member is the text of an integer that a number does not hold. */
export function isExact(holder: object, key: string): boolean {
  return areAny && exactKeys.get(holder)?.includes(key) === true;
}

/** The paths of the first integers in the value that became text. */
export function exactPathsIn(value: Json): readonly string[] {
  const places = exactPlacesIn(value).slice(0, shownMax);
  return places.length === 0 ? none : places.map((place) => place.join('.'));
}

/** Keys from a value to a member of it. */
export type MemberPlace = readonly string[];

/** Where integers of the value became text, at most 1,000 places, for another process. */
export function exactPlacesIn(value: unknown): readonly MemberPlace[] {
  const places: MemberPlace[] = [];
  if (areAny) addPlaces(value, [], places);
  return places;
}

function addPlaces(value: unknown, above: MemberPlace, places: MemberPlace[]): void {
  if (typeof value !== 'object' || value === null || above.length > jsonDepthMax) return;
  for (const key of exactKeys.get(value) ?? none)
    if (places.length < keptMax) places.push([...above, key]);
  // Without a list of entries: most have no object in them, and none that is exact.
  const members = value as Readonly<Record<string, unknown>>;
  for (const key in members) {
    const inner = members[key];
    if (typeof inner === 'object' && inner !== null) addPlaces(inner, [...above, key], places);
  }
}

/** What `exactPlacesIn` told of the value in the other process. */
export function rememberPlaces(value: unknown, places: readonly MemberPlace[]): void {
  for (const place of places) {
    let holder: unknown = value;
    for (const key of place.slice(0, -1)) holder = (holder as JsonObject | undefined)?.[key];
    const [last] = place.slice(-1);
    if (typeof holder === 'object' && holder !== null && last !== undefined)
      rememberExact(holder, last);
  }
}
