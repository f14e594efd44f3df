// Fields of webhook bodies, read by dotted path. A value that cannot be used is rejected with its path and the reason.
import { type EpochMs, isInstant, parseInstant } from '../../model/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';

const payloadBytesMax = 512;
const euiPattern = /^[0-9a-f]{16}$/;
const base64EuiPattern = /^[A-Za-z0-9+/]{11}=$/;

export function refuse(field: string, reason: string): never {
  throw problem('webhookInvalid', { field, reason });
}

/** The value at the path; undefined if any part of it is missing or null. */
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

/** The objects of a list. Other items are rejected. */
export function objectsAt(body: Json, path: string): readonly JsonObject[] {
  const value = valueAt(body, path);
  if (value === undefined) return [];
  if (!Array.isArray(value)) return refuse(path, 'must be an array');
  return (value as readonly Json[]).map((item, i) => {
    if (isJsonObject(item)) return item;
    return refuse(`${path}.${i}`, 'must be an object');
  });
}

export function textAt(body: Json, path: string): string | undefined {
  const value = valueAt(body, path);
  if (value === undefined || typeof value === 'string') return value;
  return refuse(path, 'must be a string');
}

/** A string, or a number as a string. */
export function nameAt(body: Json, path: string): string | undefined {
  const value = valueAt(body, path);
  if (value === undefined || typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  return refuse(path, 'must be a string');
}

/** A number, or a string that contains one. */
function numberAt(body: Json, path: string): number | undefined {
  const value = valueAt(body, path);
  if (value === undefined || value === '') return undefined;
  return finiteNumber(value) ?? refuse(path, 'must be a number');
}

/** Undefined for a value that is not a number, nor a string that contains one. */
function finiteNumber(value: Json | undefined): number | undefined {
  if (typeof value === 'string' && value.trim() !== '') return finiteNumber(Number(value));
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  return undefined;
}

/**
 * A number that only describes the radio. An invalid one is ignored, so that no payload is lost
 * because of it.
 */
export function measureAt(body: Json, path: string): number | undefined {
  return finiteNumber(valueAt(body, path));
}

/** A measure from 0 to 100. */
export function percentAt(body: Json, path: string): number | undefined {
  const percent = measureAt(body, path) ?? -1;
  if (percent < 0 || percent > 100) return undefined;
  return percent;
}

/** The number of items of a list; undefined without any. */
export function itemCountAt(body: Json, path: string): number | undefined {
  const items = valueAt(body, path);
  return (Array.isArray(items) && items.length) || undefined;
}

/** Undefined for an empty string, and for what is not a string. */
export function nonEmpty(value: unknown): string | undefined {
  return (typeof value === 'string' && value) || undefined;
}

export function flagAt(body: Json, path: string): boolean {
  const value = valueAt(body, path);
  return value === true || value === 1 || value === '1' || value === 'true';
}

/** A whole number within the bounds, both included. */
export function countAt(body: Json, path: string, max = 0xffff_ffff): number | undefined {
  const number = numberAt(body, path);
  if (number === undefined) return undefined;
  if (Number.isInteger(number) && number >= 0 && number <= max) return number;
  return refuse(path, `must be an integer from 0 to ${max}`);
}

/** The device EUI at the first of the paths that has one, in lower case; ChirpStack 3 sends base64. */
export function euiAt(body: Json, ...paths: readonly string[]): string {
  for (const path of paths) {
    const text = textAt(body, path);
    if (text === undefined) continue;
    const isBase64 = base64EuiPattern.test(text);
    const eui = isBase64 ? Buffer.from(text, 'base64').toString('hex') : normalEui(text);
    if (euiPattern.test(eui)) return eui;
    return refuse(path, 'must be an EUI (16 hexadecimal digits)');
  }
  return refuse(paths[0] ?? '', 'is required to identify the device');
}

/** In lower case, without dashes, colons and spaces. */
export function normalEui(text: string): string {
  return text.replace(/[-: ]/g, '').toLowerCase();
}

/** A payload in hexadecimal; undefined if it is missing. */
export function hexAt(body: Json, path: string): string | undefined {
  const text = textAt(body, path);
  if (text === undefined) return undefined;
  if (!/^(?:[0-9a-fA-F]{2})*$/.test(text))
    refuse(path, 'must be hexadecimal, with two digits per byte');
  return bounded(text, path);
}

/** A payload in base64, as hexadecimal; undefined if it is missing. */
export function base64At(body: Json, path: string): string | undefined {
  const text = textAt(body, path);
  if (text === undefined) return undefined;
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) refuse(path, 'must be base64');
  return bounded(Buffer.from(text, 'base64').toString('hex'), path);
}

function bounded(hex: string, path: string): string {
  if (hex.length <= payloadBytesMax * 2) return hex;
  return refuse(path, `must have at most ${payloadBytesMax} bytes`);
}

/** ISO-8601. An invalid time is ignored, and the time of receipt is used. */
export function timeAt(body: Json, path: string): EpochMs | null {
  const value = valueAt(body, path);
  if (typeof value !== 'string') return null;
  return parseInstant(value) ?? null;
}

/** Epoch seconds or milliseconds, distinguished by size; also as a string. */
export function epochAt(body: Json, path: string): EpochMs | null {
  const number = measureAt(body, path);
  if (number === undefined || number <= 0) return null;
  const ms = Math.round(number < 1e11 ? number * 1_000 : number);
  return isInstant(ms) ? ms : null;
}
