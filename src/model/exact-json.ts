// Exact JSON: integers that a number does not hold arrive as their text, and it is known where (contract 42).
import { jsonDepthMax, parsedJson } from './json-keys.ts';
import type { Json, JsonObject } from './json.ts';
import type { Note } from './entry-trace.ts';

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
let areAny = false;
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
