// Payload box: recognizes hex, base64, JSON and whole events, and makes the event that a script gets.

export type JsonObject = { readonly [name: string]: unknown };
export type PayloadForm = 'hex' | 'base64' | 'json' | 'event';
export type ScriptPart = 'uplinkScript' | 'downlinkScript';

export type ReadPayload =
  | { readonly form: PayloadForm; readonly event: JsonObject; readonly bytes?: number }
  | { readonly problem: string };

export interface PayloadSettings {
  readonly part: ScriptPart;
  /** LoRaWAN port of a payload in hex or base64. */
  readonly port: number;
  /** Time of the event, ISO-8601. */
  readonly timestamp: string;
}

/** Members of an event (contract 15); an object with only these is an event, not its data. */
const eventFields = [
  'data',
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
export function readPayload(text: string, settings: PayloadSettings): ReadPayload {
  const trimmed = text.trim();
  const { part, port, timestamp } = settings;
  const ofBytes = (form: 'hex' | 'base64', hex: string): ReadPayload => ({
    form,
    bytes: hex.length / 2,
    event: eventOf(part, { port, payloadHex: hex }, settings),
  });
  if (hexForm.test(trimmed))
    return ofBytes(
      'hex',
      trimmed
        .replace(/^0x/i, '')
        .replace(/[\s:-]/g, '')
        .toLowerCase(),
    );
  const isJson = /^[{["]/.test(trimmed) || /^(true|false|null|-?\d)/.test(trimmed);
  if (!isJson && trimmed !== '' && base64Form.test(trimmed))
    return ofBytes('base64', Uint8Array.fromBase64(trimmed).toHex());
  try {
    const value: unknown = JSON.parse(trimmed);
    if (isWholeEvent(value, part)) return { form: 'event', event: { timestamp, ...value } };
    return { form: 'json', event: eventOf(part, value, settings) };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

function eventOf(part: ScriptPart, value: unknown, { port, timestamp }: PayloadSettings) {
  if (part === 'downlinkScript') return { payload: value, port, confirmed: false, timestamp };
  return { data: Array.isArray(value) ? { values: value } : value, timestamp, state: {} };
}

function isWholeEvent(value: unknown, part: ScriptPart): value is JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const needed = part === 'uplinkScript' ? 'data' : 'payload';
  const names = Object.keys(value);
  return names.includes(needed) && names.every((name) => eventFields.includes(name));
}
