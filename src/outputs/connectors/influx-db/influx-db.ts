// InfluxDB: one point per delivery in line protocol, to the write endpoint of version 1 or 2 (contract 9).
import { isJsonObject } from '../../../model/json.ts';
import { connectorType } from '../connector-type.ts';
import { attemptHttp } from '../http-answer.ts';
import type { PropertyReader } from '../property-parser.ts';
import { parseJsonObject } from '../../../model/json-keys.ts';
import { oneOf, optional, optionalText, text } from '../property-schemas.ts';
import { parseUri } from '../target-uri.ts';
import type { OutboundMessage } from '../target.ts';
import { parseUser, type UserProperties, userProperties } from '../sign-on-properties.ts';
import { lineOf } from './line-protocol.ts';

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
