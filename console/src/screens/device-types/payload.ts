// Payload box: recognizes hex, base64, JSON, text and whole events, and makes the event that a script gets (contract 38).
import type { PayloadEncoding } from '../../../../src/model/device-type.ts';

export type JsonObject = { readonly [name: string]: unknown };
export type PayloadForm = 'hex' | 'base64' | 'json' | 'text' | 'event';
export type ScriptPart = 'uplinkScript' | 'downlinkScript';

export type ReadPayload =
  | {
      readonly form: PayloadForm;
      readonly event: JsonObject;
      readonly bytes?: number;
      /** Bytes that only the platform reads: their CBOR becomes the data of the event. */
      readonly cborHex?: string;
    }
  | { readonly problem: string };

export interface PayloadSettings {
  readonly part: ScriptPart;
  /** Port of a payload of bytes or text. */
  readonly port: number;
  /** Time of the event, ISO-8601. */
  readonly timestamp: string;
  /** Of the device type. */
  readonly encoding: PayloadEncoding | null;
}

/** Members of an event (contract 15); an object with only these is an event, not its data. */
const eventFields = [
  'data',
  'encoding',
  'device',
  'uplinkMetrics',
  'topic',
  'timestamp',
  'state',
  'payload',
  'port',
  'confirmed',
];
const hexForm = /^(0x)?[0-9a-f]{2}([\s:-]?[0-9a-f]{2})*$/i;
const base64Form = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A decoder gets its payload as `data`, an encoder as `payload` (contract 15). */
export function readPayload(typed: string, settings: PayloadSettings): ReadPayload {
  const trimmed = typed.trim();
  if (hexForm.test(trimmed)) {
    const digits = trimmed.replace(/^0x/i, '').replace(/[\s:-]/g, '');
    return readBytes('hex', Uint8Array.fromHex(digits), settings);
  }
  const isJson = /^[{["]/.test(trimmed) || /^(true|false|null|-?\d)/.test(trimmed);
  if (!isJson && trimmed !== '' && base64Form.test(trimmed))
    return readBytes('base64', Uint8Array.fromBase64(trimmed), settings);
  try {
    const value: unknown = JSON.parse(trimmed);
    if (isWholeEvent(value, settings.part))
      return { form: 'event', event: { timestamp: settings.timestamp, ...value } };
    if (isTextual(settings)) return readText(typed, settings);
    return { form: 'json', event: eventOf(value, 'JSON', settings) };
  } catch (error) {
    if (takesText(trimmed, settings)) return readText(typed, settings);
    return { problem: (error as Error).message };
  }
}

/** Whether everything that is typed is text or bytes to the script. */
function isTextual({ part, encoding }: PayloadSettings): boolean {
  return part === 'uplinkScript' && (encoding === 'TEXT' || encoding === 'BYTES');
}

function takesText(trimmed: string, settings: PayloadSettings): boolean {
  if (settings.part === 'downlinkScript' || trimmed === '') return false;
  if (isTextual(settings)) return true;
  return settings.encoding === null && !/^[{[]/.test(trimmed);
}

function readBytes(form: 'hex' | 'base64', bytes: Uint8Array, settings: PayloadSettings) {
  const { part, port, encoding } = settings;
  const payloadHex = bytes.toHex();
  const data = { port, payloadHex };
  if (part === 'downlinkScript' || encoding === null || encoding === 'HEX' || encoding === 'BYTES')
    return { form, bytes: bytes.length, event: eventOf(data, 'BYTES', settings) };
  if (encoding === 'TEXT')
    return { form, bytes: bytes.length, event: eventOf(textData(bytes, port), 'TEXT', settings) };
  const event = eventOf(data, 'BYTES', settings);
  return { form, bytes: bytes.length, event, ...(encoding === 'CBOR' && { cborHex: payloadHex }) };
}

function readText(typed: string, settings: PayloadSettings): ReadPayload {
  const { port, encoding } = settings;
  const bytes = new TextEncoder().encode(typed);
  const data = encoding === 'BYTES' ? { port, payloadHex: bytes.toHex() } : textData(bytes, port);
  const event = eventOf(data, encoding === 'BYTES' ? 'BYTES' : 'TEXT', settings);
  return { form: 'text', bytes: bytes.length, event };
}

const scalar = /^\s*(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false)\s*$/;

function textData(bytes: Uint8Array, port: number): JsonObject {
  const text = new TextDecoder().decode(bytes);
  const value = scalar.test(text) ? { value: JSON.parse(text) as unknown } : {};
  return { text, payloadHex: bytes.toHex(), ...value, port };
}

function eventOf(
  value: unknown,
  encoding: string,
  { part, port, timestamp }: PayloadSettings,
): JsonObject {
  if (part === 'downlinkScript') return { payload: value, port, confirmed: false, timestamp };
  return { data: dataOf(value), encoding, timestamp, state: {} };
}

function dataOf(value: unknown): unknown {
  if (Array.isArray(value)) return { values: value };
  return typeof value === 'object' ? value : { value };
}

function isWholeEvent(value: unknown, part: ScriptPart): value is JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const needed = part === 'uplinkScript' ? 'data' : 'payload';
  const names = Object.keys(value);
  return names.includes(needed) && names.every((name) => eventFields.includes(name));
}
