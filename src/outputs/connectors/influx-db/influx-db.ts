// InfluxDB: one point per delivery in line protocol, to the write endpoint of version 1 or 2 (contract 9).
import { isJsonObject, type Json, type JsonObject } from '../../../model/json.ts';
import { connectorType } from '../connector-type.ts';
import { attemptHttp } from '../http-answer.ts';
import {
  oneOf,
  optional,
  optionalText,
  parseUser,
  type PropertyReader,
  text,
  userProperties,
  type UserProperties,
} from '../properties.ts';
import { parseJsonObject } from '../../../model/json-keys.ts';
import { parseUri } from '../target-uri.ts';
import type { OutboundMessage } from '../target.ts';

// InfluxDB properties: schemas and parser (contract 9).

const versions = ['V1', 'V2'] as const;
const ports = { http: 80, https: 443 };

export type InfluxDbProperties = UserProperties & {
  readonly uri: string;
  /** V1: user and password, if any; V2: token and organization. */
  readonly version: (typeof versions)[number];
  readonly token: string | null;
  readonly orgId: string | null;
  /** V1: the database, or `database/retention policy`. */
  readonly bucket: string;
  readonly measurementName: string;
};

const influxDbProperties = {
  uri: text('URL: `http://host:port` or `https://host:port`.'),
  version: optional(oneOf(versions)),
  token: optionalText('API token. Required for V2. Secret.'),
  orgId: optionalText('Organization ID. Required for V2.'),
  bucket: text('Bucket. For V1: `database` or `database/retention_policy`.'),
  measurementName: text('Template of the measurement name.'),
  ...userProperties,
};

function parseInfluxDb(sent: PropertyReader<keyof InfluxDbProperties>): InfluxDbProperties {
  const version = sent.oneOf('version', versions, 'V2');
  const token = versionText(sent, 'token', version);
  if (token !== null && /[^\x21-\x7e]/.test(token))
    sent.refuse('token', 'must contain only printable characters, without spaces');
  const measurementName = sent.needed('measurementName');
  // InfluxDB ignores lines that begin with #, because they are comments.
  if (measurementName.startsWith('#')) sent.refuse('measurementName', 'must not start with #');
  return {
    uri: parseUri(sent, ports, 'with path'),
    version,
    token,
    orgId: versionText(sent, 'orgId', version),
    ...parseUser(sent),
    bucket: sent.needed('bucket'),
    measurementName,
  };
}

function versionText<N extends string>(
  sent: PropertyReader<N>,
  member: N,
  version: InfluxDbProperties['version'],
): string | null {
  if (version === 'V2') return sent.needed(member);
  return sent.text(member);
}

export const influxDb = connectorType({
  vendorName: 'INFLUX_DB',
  propertiesKey: 'influxProperties',
  properties: influxDbProperties,
  secrets: ['token', 'password'],
  alsoNeeded: ({ version }) => (version === 'V1' ? [] : ['token', 'orgId']),
  parse: parseInfluxDb,
  check: ({ uri }, checks) => checks.url('uri', uri),
  open(properties, { egress, now }) {
    const url = writeUrl(properties);
    const headers = { 'content-type': 'text/plain; charset=utf-8', ...authorizationOf(properties) };
    return {
      async send(message, signal) {
        const body = linesOf(message, properties.measurementName);
        if (body === undefined) return { ok: true, answer: 'the sample has no values to write' };
        return attemptHttp({ egress, now, signal }, { method: 'POST', url, headers, body });
      },
      close: async () => {},
    };
  },
});

/**
 * Returns the lines to write, or undefined when there are none. A payload that is not a JSON object
 * is line protocol from the template of the connector. The fields of an object are its `data` or,
 * without one, its members.
 */
function linesOf(
  { payload, context, deviceId }: OutboundMessage,
  measurement: string,
): string | undefined {
  const sent = parseJsonObject(payload);
  if (sent === undefined) return payload.trim() === '' ? undefined : payload;
  const { topic, timestamp } = context;
  const tags: Record<string, string> = { svcDeviceId: deviceId };
  for (const name of ['deviceId', 'akenzaDeviceId'] as const) {
    const value = context[name];
    if (typeof value === 'string') tags[name] = value;
  }
  if (typeof topic === 'string') tags['topic'] = topic;
  const fields = isJsonObject(sent['data']) ? sent['data'] : sent;
  const epochMs = typeof timestamp === 'string' ? Date.parse(timestamp) : undefined;
  return lineOf({ measurement, tags, fields, epochMs });
}

function writeUrl({ uri, version, orgId, bucket }: InfluxDbProperties): string {
  const base = `${uri.replace(/\/$/, '')}/`;
  if (version === 'V2') {
    const query = { org: orgId ?? '', bucket, precision: 'ms' };
    return urlWith(new URL('api/v2/write', base), query);
  }
  const [db = '', rp] = bucket.split('/');
  return urlWith(new URL('write', base), { db, ...(rp !== undefined && { rp }), precision: 'ms' });
}

function urlWith(url: URL, query: Readonly<Record<string, string>>): string {
  url.search = new URLSearchParams(query).toString();
  return url.href;
}

function authorizationOf({ version, token, username, password }: InfluxDbProperties) {
  if (version === 'V1' && username !== null) {
    const user = Buffer.from(`${username}:${password ?? ''}`).toString('base64');
    return { authorization: `Basic ${user}` };
  }
  return token !== null && { authorization: `Token ${token}` };
}

// Line protocol of InfluxDB: a measurement, tags, fields and a time on one line.

/** Fields of one line; further ones are left out, because a line is read as a whole. */
const fieldsMax = 2_000;

/** The line of a point, times in milliseconds; undefined when it has no field. */
export function lineOf({
  measurement,
  tags,
  fields,
  epochMs,
}: {
  readonly measurement: string;
  /** Empty ones are omitted. */
  readonly tags: Readonly<Record<string, string>>;
  /** Objects and arrays become fields of their own, with dots between the names. */
  readonly fields: JsonObject;
  /** Undefined for the time of the server. */
  readonly epochMs: number | undefined;
}): string | undefined {
  const written: string[] = [];
  addFields(written, '', fields);
  if (written.length === 0) return undefined;
  const tagged = Object.entries(tags)
    .map(([name, value]) => [nameText(name), nameText(value)] as const)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `,${name}=${value}`);
  const start = `${oneLine(measurement).replaceAll(/[, ]/g, '\\$&')}${tagged.join('')}`;
  return `${start} ${written.join(',')}${epochMs === undefined ? '' : ` ${epochMs}`}`;
}

function addFields(written: string[], prefix: string, value: Json): void {
  if (written.length >= fieldsMax) return;
  if (Array.isArray(value) || isJsonObject(value)) {
    for (const [name, inner] of Object.entries(value))
      addFields(written, prefix === '' ? name : `${prefix}.${name}`, inner);
    return;
  }
  const name = nameText(prefix);
  const text = fieldText(value as string | number | boolean | null);
  if (name !== '' && text !== undefined) written.push(`${name}=${text}`);
}

/** Numbers are all floating, so that the type of a field does not depend on its first value. */
function fieldText(value: string | number | boolean | null): string | undefined {
  if (typeof value === 'string') return `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined;
  return value === null ? undefined : String(value);
}

/** Names and tag values; a backslash at the end would take the sign after it away. */
function nameText(text: string): string {
  return oneLine(text).replaceAll(/[,= ]/g, '\\$&');
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\0]+/g, ' ').replace(/\\+$/, '');
}
