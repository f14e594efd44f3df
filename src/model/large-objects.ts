// Large objects: their keys from when they were parsed, because enumerating thousands takes milliseconds before the first one.
import type { Json } from './json.ts';

/** An array has no entry in its list. */
const keysOfLarge = new WeakMap<object, readonly string[]>();
let areAny = false;
const noKeys: readonly string[] = Object.freeze([]);

/** Members that are written in one step, in a fraction of a millisecond. */
const membersPerStep = 1_000;

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

/** What `JSON.stringify` makes of the value, in steps for one that is known to be large. */
export function* jsonInSteps(value: Json): Generator<undefined, string> {
  if (!isLarge(value)) return JSON.stringify(value);
  const parts: string[] = [];
  let since = 0;
  if (Array.isArray(value)) {
    for (const element of value as readonly Json[]) {
      parts.push(isLarge(element) ? yield* jsonInSteps(element) : JSON.stringify(element));
      if (++since % membersPerStep === 0) yield;
    }
    return `[${parts.join(',')}]`;
  }
  const object = value as Readonly<Record<string, Json>>;
  for (const key of keysOfKnown(value) ?? noKeys) {
    const member = object[key] ?? null;
    const json = isLarge(member) ? yield* jsonInSteps(member) : JSON.stringify(member);
    parts.push(`${JSON.stringify(key)}:${json}`);
    if (++since % membersPerStep === 0) yield;
  }
  return `{${parts.join(',')}}`;
}
