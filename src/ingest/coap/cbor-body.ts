// CBOR bodies as JSON: text keys, byte strings as hex, no values that JSON does not have.
import { decode, type TagDecoder } from 'cborg';
import { rememberExact } from '../../model/exact-json.ts';
import type { Json } from '../../model/json.ts';
import { standInName } from '../../model/stand-in-name.ts';
import { type Problem, problem } from '../../model/problem.ts';

/** As deep as JSON bodies may nest. */
const depthMax = 64;

/**
 * Tags that only say how a value is meant: times as text and number, URIs, "this is CBOR". Others
 * are refused.
 */
const plain: TagDecoder = (content) => content();
const tags: Record<number, TagDecoder> = { 0: plain, 1: plain, 32: plain, 55799: plain };

/**
 * Throws Problem `invalidCbor`. Integers beyond 2^53 become their text, as in JSON; NaN and the
 * infinities become null.
 */
export function parseCborBody(bytes: Uint8Array): Json {
  return jsonOf(decoded(bytes), 0);
}

function decoded(bytes: Uint8Array): unknown {
  try {
    // Maps, because a key `__proto__` must stay a key.
    return decode(bytes, { useMaps: true, rejectDuplicateMapKeys: true, tags });
  } catch (error) {
    // A body that nests without end overflows the stack of the decoder.
    if (error instanceof RangeError) throw tooDeep();
    throw problem('invalidCbor', { reason: (error as Error).message });
  }
}

function tooDeep(): Problem {
  return problem('invalidCbor', { reason: `it exceeds the maximum nesting depth of ${depthMax}` });
}

function jsonOf(value: unknown, depth: number): Json {
  if (depth > depthMax) throw tooDeep();
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) {
    const list = value.map((item) => jsonOf(item, depth + 1));
    for (const [at, item] of value.entries())
      if (typeof item === 'bigint') rememberExact(list, String(at));
    return list;
  }
  if (value instanceof Map) {
    const object = Object.fromEntries(
      [...value].map(([key, item]) => [keyOf(key), jsonOf(item, depth + 1)]),
    );
    for (const [key, item] of value)
      if (typeof item === 'bigint') rememberExact(object, keyOf(key));
    return object;
  }
  return null;
}

function keyOf(key: unknown): string {
  if (typeof key === 'string') return standInName(key);
  if (typeof key === 'number' || typeof key === 'bigint' || typeof key === 'boolean')
    return String(key);
  if (key instanceof Uint8Array) return standInName(Buffer.from(key).toString('hex'));
  throw problem('invalidCbor', { reason: 'a key must be a string or a number' });
}
