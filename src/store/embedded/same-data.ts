// Whether two data objects are the same measurement: equal values, whatever the order of their keys.
import type { Json } from '../../model/json.ts';

export function sameData(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a === 'number' || typeof b === 'number') return storedNumber(a) === storedNumber(b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, i) => sameData(item, b[i]));
  }
  const left = Object.entries(a).filter(([, value]) => value !== undefined);
  const right = Object.entries(b).filter(([, value]) => value !== undefined);
  if (left.length !== right.length) return false;
  return left.every(([key, value]) => Object.hasOwn(b, key) && sameData(value, (b as Record<string, Json>)[key]));
}

/** What the store makes of a number: JSON has neither infinities nor a negative zero. */
function storedNumber(value: Json | undefined): Json | undefined {
  if (typeof value !== 'number') return value;
  return Number.isFinite(value) ? value + 0 : null;
}
