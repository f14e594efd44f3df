// SenML in CBOR: integer labels become those of the JSON form, byte strings base64url (RFC 8428, section 6).
import { decode } from 'cborg';
import { rememberExact } from '../../model/exact-json.ts';
import type { Json } from '../../model/json.ts';
import { standInName } from '../../model/outside-name.ts';
import { problem } from '../../model/problem.ts';

/** By their numbers: those of base fields are negative. */
const labels: ReadonlyMap<number, string> = new Map([
  [-1, 'bver'],
  [-2, 'bn'],
  [-3, 'bt'],
  [-4, 'bu'],
  [-5, 'bv'],
  [-6, 'bs'],
  [0, 'n'],
  [1, 'u'],
  [2, 'v'],
  [3, 'vs'],
  [4, 'vb'],
  [5, 's'],
  [6, 't'],
  [7, 'ut'],
  [8, 'vd'],
]);

/**
 * The pack in its JSON form. Labels that are not known stay as they are. Throws Problem
 * `invalidCbor`.
 */
export function parseSenmlCbor(bytes: Uint8Array): Json {
  const pack = decoded(bytes);
  if (!Array.isArray(pack)) return [];
  return pack.map((record) => (record instanceof Map ? recordOf(record) : null));
}

function decoded(bytes: Uint8Array): unknown {
  try {
    return decode(bytes, { useMaps: true, rejectDuplicateMapKeys: true });
  } catch (error) {
    // A body that nests without end overflows the stack of the decoder.
    const isDeep = error instanceof RangeError;
    throw problem('invalidCbor', {
      reason: isDeep ? 'it is nested too deeply' : (error as Error).message,
    });
  }
}

function recordOf(record: Map<unknown, unknown>): Json {
  const entries: [string, Json][] = [];
  const exact: string[] = [];
  for (const [label, value] of record) {
    const name =
      typeof label === 'number' ? (labels.get(label) ?? String(label)) : standInName(String(label));
    const plain = plainOf(value);
    if (plain !== undefined) entries.push([name, plain]);
    if (typeof value === 'bigint') exact.push(name);
  }
  const made = Object.fromEntries(entries);
  for (const name of exact) rememberExact(made, name);
  return made;
}

/** Undefined for what no field of SenML has. */
function plainOf(value: unknown): Json | undefined {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64url');
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  return undefined;
}
