// Reads fields of webhook bodies by dotted path; what cannot be used is refused with its path and the reason.
import { type EpochMs, isInstant, parseInstant } from '../model/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { problem } from '../model/problem.ts';

const payloadBytesMax = 512;
const euiPattern = /^[0-9a-f]{16}$/;

export function refuse(field: string, reason: string): never {
  throw problem('webhookInvalid', { field, reason });
}

/** The value at the path; undefined when any part of it is missing or null. */
export function valueAt(body: Json, path: string): Json | undefined {
  let at: Json | undefined = body;
  for (const part of path.split('.')) {
    if (!isJsonObject(at) || !Object.hasOwn(at, part)) return undefined;
    at = at[part];
  }
  return at ?? undefined;
}

export function objectAt(body: Json, path: string): JsonObject | undefined {
  const value = valueAt(body, path);
  if (value === undefined || isJsonObject(value)) return value;
  return refuse(path, 'must be an object');
}

/** The objects of a list; other items are refused. */
export function objectsAt(body: Json, path: string): readonly JsonObject[] {
  const value = valueAt(body, path);
  if (value === undefined) return [];
  if (!Array.isArray(value)) return refuse(path, 'must be an array');
  return (value as readonly Json[]).map((item, i) =>
    isJsonObject(item) ? item : refuse(`${path}.${i}`, 'must be an object'),
  );
}

export function textAt(body: Json, path: string): string | undefined {
  const value = valueAt(body, path);
  if (value === undefined || typeof value === 'string') return value;
  return refuse(path, 'must be a text');
}

/** A text, also where a server writes a number. */
export function nameAt(body: Json, path: string): string | undefined {
  const value = valueAt(body, path);
  if (value === undefined || typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : refuse(path, 'must be a text');
}

/** A number, also where a server writes it as a text. */
function numberAt(body: Json, path: string): number | undefined {
  const value = valueAt(body, path);
  if (value === undefined || value === '') return undefined;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number)
    ? number
    : refuse(path, 'must be a number');
}

/** A number that only describes the radio: one that is none is passed over, because a payload must not be lost for it. */
export function measureAt(body: Json, path: string): number | undefined {
  const value = valueAt(body, path);
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

export function flagAt(body: Json, path: string): boolean {
  const value = valueAt(body, path);
  return value === true || value === 1 || value === '1' || value === 'true';
}

/** A whole number within the bounds, both included. */
export function countAt(body: Json, path: string, max = 0xffff_ffff): number | undefined {
  const number = numberAt(body, path);
  if (number === undefined) return undefined;
  return Number.isInteger(number) && number >= 0 && number <= max
    ? number
    : refuse(path, `must be a whole number from 0 to ${max}`);
}

/** The device EUI at the first of the paths that has one, in lower case. */
export function euiAt(body: Json, ...paths: readonly string[]): string {
  for (const path of paths) {
    const text = textAt(body, path);
    if (text === undefined) continue;
    const eui = normalEui(text);
    return euiPattern.test(eui) ? eui : refuse(path, 'must be an EUI of 16 hexadecimal digits');
  }
  return refuse(paths[0]!, 'is needed: it tells which device sent');
}

/** Without the dashes, colons and spaces that people and servers write, in lower case. */
export function normalEui(text: string): string {
  return text.replace(/[-: ]/g, '').toLowerCase();
}

/** A payload in hexadecimal; undefined when it is missing. */
export function hexAt(body: Json, path: string): string | undefined {
  const text = textAt(body, path);
  if (text === undefined) return undefined;
  if (!/^(?:[0-9a-fA-F]{2})*$/.test(text)) refuse(path, 'must be hexadecimal, two digits a byte');
  return bounded(text, path);
}

/** A payload in base64, as hexadecimal; undefined when it is missing. */
export function base64At(body: Json, path: string): string | undefined {
  const text = textAt(body, path);
  if (text === undefined) return undefined;
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) refuse(path, 'must be base64');
  return bounded(Buffer.from(text, 'base64').toString('hex'), path);
}

function bounded(hex: string, path: string): string {
  return hex.length <= payloadBytesMax * 2
    ? hex
    : refuse(path, `must have at most ${payloadBytesMax} bytes`);
}

/** ISO-8601; what is no time is passed over: the time of receipt stands in. */
export function timeAt(body: Json, path: string): EpochMs | null {
  const value = valueAt(body, path);
  return typeof value === 'string' ? (parseInstant(value) ?? null) : null;
}

/** Epoch seconds or milliseconds, told apart by size; also as a text. */
export function epochAt(body: Json, path: string): EpochMs | null {
  const number = measureAt(body, path);
  if (number === undefined || number <= 0) return null;
  const ms = Math.round(number < 1e11 ? number * 1_000 : number);
  return isInstant(ms) ? ms : null;
}
