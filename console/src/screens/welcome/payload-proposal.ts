// Payload proposal: what a pasted payload is, the keys it has, and the schema that declares them.
import { type PayloadForm, readPayload } from '../device-types/payload.ts';

export interface PayloadKey {
  /** Members of objects within are joined by a dot, as the platform names them. */
  readonly key: string;
  readonly type: 'number' | 'boolean' | 'string' | 'array' | 'null';
  readonly shown: string;
}

export type Proposal =
  | { readonly form: 'empty' }
  | { readonly form: 'unreadable'; readonly problem: string }
  | {
      readonly form: 'json';
      readonly data: object;
      readonly keys: readonly PayloadKey[];
      /** JSON Schema of the data, as a string. */
      readonly schema: string;
    }
  | { readonly form: 'bytes'; readonly written: PayloadForm; readonly payloadHex: string };

const shownMax = 40;
const keysMax = 200;

/** Reads hex, base64 and JSON; a JSON value that is not an object is not a payload. */
export function proposalOf(text: string): Proposal {
  if (text.trim() === '') return { form: 'empty' };
  const read = readPayload(text, { part: 'uplinkScript', port: 1, timestamp: '' });
  if ('problem' in read) return { form: 'unreadable', problem: read.problem };
  // An object that looks like an event of a decoder is what the device sends all the same.
  const data: unknown = read.form === 'event' ? JSON.parse(text) : read.event['data'];
  if (read.form === 'hex' || read.form === 'base64') {
    const { payloadHex } = data as { readonly payloadHex: string };
    return { form: 'bytes', written: read.form, payloadHex };
  }
  if (typeof data !== 'object' || data === null)
    return { form: 'unreadable', problem: String(JSON.stringify(data)) };
  return {
    form: 'json',
    data,
    keys: keysOf(data).slice(0, keysMax),
    schema: JSON.stringify(schemaOf(data)),
  };
}

function keysOf(value: object, path = ''): PayloadKey[] {
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    const key = path + name;
    const type = typeOf(member);
    if (type === 'object') return keysOf(member as object, `${key}.`);
    return [{ key, type, shown: String(JSON.stringify(member)).slice(0, shownMax) }];
  });
}

function schemaOf(value: unknown): object {
  const type = typeOf(value);
  // What was null once may be anything the next time.
  if (type === 'null') return {};
  if (type !== 'object') return { type };
  const members = Object.entries(value as object);
  return {
    type,
    properties: Object.fromEntries(members.map(([name, member]) => [name, schemaOf(member)])),
  };
}

function typeOf(value: unknown): PayloadKey['type'] | 'object' {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'number' || type === 'boolean' || type === 'object' ? type : 'string';
}
