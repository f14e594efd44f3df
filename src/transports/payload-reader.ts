// Payload reader: bytes of a device to the value that its decoder gets, the same for HTTP, MQTT and CoAP (contract 38).
import { isUtf8 } from 'node:buffer';
import { gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { decode, type TagDecoder } from 'cborg';
import {
  jsonDepthMax,
  JsonFault,
  parseJsonText,
  parseReadings,
  rememberExact,
} from '../model/json-keys.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { standInName } from '../model/ids.ts';
import { type Payload, payloadBytesMax, type PayloadHints } from '../model/payload.ts';
import { problem, type Problem } from '../model/problem.ts';
import { utf8Fault } from '../structures/bytes.ts';
import { parseSenmlCbor } from './senml/senml-pack.ts';

const jsonType = /^(?:application|text)\/(?:[\w.-]+\+)?json$/;
const cborType = /^application\/(?:[\w.-]+\+)?cbor$/;
const senmlType = /^application\/sens?ml\+(?:json|cbor)$/;
const formType = 'application/x-www-form-urlencoded';

/**
 * Reads a payload. What is declared wins, then what the sender names, then the content itself: JSON,
 * text, bytes. Throws Problem 400 for an empty payload, for `null`, for broken JSON and CBOR and for a
 * port that is none, and 413 for one that inflates beyond 1 MiB.
 */
export function readPayload(received: Uint8Array, hints: PayloadHints): Payload {
  const { encoding, port } = hints;
  const bytes = inflatedPayload(bufferOf(received), hints);
  if (bytes.length === 0) throw refused('The payload is empty');
  const type = mediaTypeOf(hints.contentType);
  if (cborType.test(type) && isSenmlPack(hints)) return cborPayload(bytes, parseSenmlCbor(bytes));
  if (encoding === 'BYTES') return bytesPayload(bytes, port);
  if (encoding === 'HEX') return hexPayload(bytes, port);
  if (encoding === 'TEXT') return textPayload(bytes, port);
  if (encoding === 'CBOR') return cborPayload(bytes, parseCbor(bytes));
  if (encoding === 'JSON' || jsonType.test(type)) return labelledJson(bytes);
  if (cborType.test(type)) return cborPayload(bytes, parseCbor(bytes));
  if (type === formType && isForm(bytes)) return formPayload(bytes);
  return payloadByContent(bytes, port);
}

/** Whether the sender says that the payload is a SenML pack, and nothing else is declared. */
export function isSenmlPack({ encoding, contentType }: PayloadHints): boolean {
  if (encoding === 'BYTES' || encoding === 'TEXT') return false;
  return senmlType.test(mediaTypeOf(contentType));
}

/**
 * Whether a payload is read as a JSON document, so that a large one may be parsed in parts. Bytes that
 * only begin like one are none.
 */
export function isJsonDocument(bytes: Buffer, { encoding, contentType }: PayloadHints): boolean {
  if (encoding !== null && encoding !== 'JSON') return false;
  const type = mediaTypeOf(contentType);
  if (encoding === null && cborType.test(type)) return false;
  const start = bytes.toString('latin1', 0, startBytes).replace(/^\u{ef}\u{bb}\u{bf}/u, '');
  if (!/^\s*[[{]/.test(start) || bytes.at(-1) === 0) return false;
  return encoding === 'JSON' || jsonType.test(type) || isText(bytes);
}

/** Of a body in which the first character of JSON is looked for. */
const startBytes = 1_024;

/** The payload of a JSON document. Throws Problem 400 for `null` and for nothing. */
export function jsonPayload(value: Json | undefined, bytes: number): Payload {
  if (value === undefined) throw refused('The payload is empty');
  return { body: bodyOf(value), encoding: 'JSON', bytes };
}

/** Scalars become the member `value`. */
function bodyOf(value: Json): JsonObject | readonly Json[] {
  if (value === null) throw refused('The payload is null');
  return typeof value === 'object' ? value : { value };
}

function refused(reason: string): Problem {
  return problem('captureBodyInvalid', { reason });
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Without its parameters; empty when none is named. */
function mediaTypeOf(contentType = ''): string {
  if (contentType === 'application/json') return contentType;
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

// Compressed payloads: what inflates to more than the limit costs no more than the limit.

/**
 * The bytes of a payload that is compressed in itself, others as they are; `readPayload` does the
 * same. Throws Problem 413 beyond 1 MiB.
 */
export function inflatedPayload(bytes: Buffer, { encoding }: PayloadHints): Buffer {
  return encoding === 'BYTES' || encoding === 'HEX' ? bytes : gunzipped(bytes);
}

/** Its magic is neither UTF-8 nor CBOR, and its checksum must fit, so that it is no guess. */
function gunzipped(bytes: Buffer): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b || bytes[2] !== 0x08) return bytes;
  return inflatedBy(gunzipSync, bytes) ?? bytes;
}

const zlibMethod = 8;

/** The bytes of a deflated body. Throws Problem 400 when it is none, and 413 beyond 1 MiB. */
export function inflateBody(bytes: Buffer): Buffer {
  // Some senders leave the header of zlib out.
  const inflate = ((bytes[0] ?? 0) & 0x0f) === zlibMethod ? inflateSync : inflateRawSync;
  const inflated = inflatedBy(inflate, bytes);
  if (inflated === undefined)
    throw problem('compressedBodyInvalid', { reason: 'it is not deflate data' });
  return inflated;
}

/** Undefined for what is not compressed in this form. */
function inflatedBy(inflate: typeof gunzipSync, bytes: Buffer): Buffer | undefined {
  try {
    return inflate(bytes, { maxOutputLength: payloadBytesMax });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw problem('payloadTooLarge', { bytesMax: payloadBytesMax });
    return undefined;
  }
}

// JSON and text: a byte order mark and closing NULs are no part of them.

function labelledJson(bytes: Buffer): Payload {
  const byte = utf8Fault(bytes);
  if (byte !== undefined) throw problem('notUtf8', { byte });
  const text = textOf(bytes);
  if (text === '') throw refused('The payload is empty');
  return jsonPayload(parsedText(text), bytes.length);
}

function parsedText(text: string): Json {
  try {
    const value = parseJsonText(text, parseReadings);
    // An integer that a number does not hold came as its text.
    if (typeof value !== 'string' || text.trimStart().startsWith('"')) return value;
    return exactValue(value);
  } catch (error) {
    if (error instanceof JsonFault) throw problem('invalidJson', { reason: error.message });
    throw error;
  }
}

function exactValue(value: string): JsonObject {
  const body = { value };
  rememberExact(body, 'value');
  return body;
}

/** The characters of UTF-8; what is none becomes U+FFFD. */
function textOf(bytes: Buffer): string {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  const text = bytes.toString('utf8', 0, end);
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

// Tab, line feed and carriage return are part of text.
// oxlint-disable-next-line no-control-regex -- They are what is looked for.
const controlCharacter = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !controlCharacter.test(textOf(bytes));
}

/** JSON, else text, else bytes. Text that begins like an object or an array is broken JSON. */
function payloadByContent(bytes: Buffer, port: string | undefined): Payload {
  if (!isUtf8(bytes)) return bytesPayload(bytes, port);
  const text = textOf(bytes);
  if (text === '') return bytesPayload(bytes, port);
  const isBinary = () => controlCharacter.test(text);
  if (mayBeJson.test(text)) {
    try {
      return jsonPayload(parsedText(text), bytes.length);
    } catch (error) {
      if (/^\s*[[{]/.test(text) ? !isBinary() : !isFault(error)) throw error;
    }
  }
  return isBinary() ? bytesPayload(bytes, port) : textPayload(bytes, port);
}

const mayBeJson = /^\s*(?:[[{"\d-]|true|false|null)/;

function isFault(error: unknown): boolean {
  return (error as Partial<Problem>).problem === 'invalidJson';
}

const jsonScalar = /^\s*(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false)\s*$/;

function textPayload(bytes: Buffer, port: string | undefined): Payload {
  const text = textOf(bytes);
  const body = { text, payloadHex: bytes.toString('hex'), ...valueOf(text), ...portOf(port) };
  if ('value' in body && typeof body.value === 'string') rememberExact(body, 'value');
  return { body, encoding: 'TEXT', bytes: bytes.length };
}

/** The number or truth value that the text is. */
function valueOf(text: string): { readonly value?: Json } {
  if (!jsonScalar.test(text)) return {};
  // `\s` is more than the white space of JSON.
  const value = parseReadings(text.trim());
  return value === Infinity || value === -Infinity ? {} : { value };
}

// Bytes.

function bytesPayload(bytes: Buffer, port: string | undefined): Payload {
  const body = { payloadHex: bytes.toString('hex'), ...portOf(port) };
  return { body, encoding: 'BYTES', bytes: bytes.length };
}

const hexDigits = /^(?:0x)?((?:[\da-f]{2})+)$/i;

/** Devices send hexadecimal digits, JSON that contains them, or the bytes themselves. */
function hexPayload(bytes: Buffer, port: string | undefined): Payload {
  const text = isUtf8(bytes) ? textOf(bytes).trim() : '';
  if (text.startsWith('{') || text.startsWith('[')) {
    try {
      return jsonPayload(parsedText(text), bytes.length);
    } catch (error) {
      if (!isFault(error)) throw error;
    }
  }
  const digits = hexDigits.exec(text)?.[1];
  return bytesPayload(digits === undefined ? bytes : Buffer.from(digits, 'hex'), port);
}

const portMax = 255;

function portOf(sent: string | undefined): { readonly port?: number } {
  if (sent === undefined || sent === '') return {};
  const port = /^\d{1,3}$/.test(sent) ? Number(sent) : Number.NaN;
  if (!(port <= portMax))
    throw refused(`The port must be an integer from 0 to ${portMax}, got ${sent.slice(0, 40)}`);
  return { port };
}

// Forms: curl names JSON, text and bytes a form too, unless it is told otherwise.

function isForm(bytes: Buffer): boolean {
  return bytes.includes('=') && isText(bytes) && !/^\s*[[{]/.test(textOf(bytes));
}

function formPayload(bytes: Buffer): Payload {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(textOf(bytes).trim())) {
    const key = standInName(name);
    const before = values.get(key);
    values.set(key, before === undefined ? value : [before, value].flat());
  }
  return { body: Object.fromEntries(values), encoding: 'FORM', bytes: bytes.length };
}

// CBOR as JSON: text keys, byte strings as hex, no values that JSON does not have.

/**
 * Tags that only say how a value is meant: times as text and number, URIs, "this is CBOR". Others
 * are rejected.
 */
const plain: TagDecoder = (content) => content();
const tags: Record<number, TagDecoder> = { 0: plain, 1: plain, 32: plain, 55799: plain };

function cborPayload(bytes: Buffer, value: Json): Payload {
  const payloadHex = bytes.toString('hex');
  return { body: bodyOf(value), encoding: 'CBOR', payloadHex, bytes: bytes.length };
}

/**
 * Throws Problem `invalidCbor`. Integers beyond 2^53 become their text, as in JSON; NaN and the
 * infinities become null.
 */
function parseCbor(bytes: Uint8Array): Json {
  const value = decodedCbor(bytes);
  return typeof value === 'bigint' ? exactValue(String(value)) : jsonOf(value, 0);
}

function decodedCbor(bytes: Uint8Array): unknown {
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
  const reason = `it exceeds the maximum nesting depth of ${jsonDepthMax}`;
  return problem('invalidCbor', { reason });
}

function jsonOf(value: unknown, depth: number): Json {
  if (depth > jsonDepthMax) throw tooDeep();
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
