// Output to InfluxDB: one point a delivery in line protocol, to the write endpoint of version 1 or 2.
import type { InfluxProperties } from '../../model/target-properties.ts';
import { isJsonObject, type JsonObject } from '../../model/json.ts';
import type { OutboundConnector, OutboundMessage } from '../target.ts';
import { attemptHttp } from '../http-outcome.ts';
import { lineOf } from './line-protocol.ts';

export const influxDbConnector: OutboundConnector = {
  type: 'INFLUX_DB',
  check(properties, egress) {
    egress.checkUrl((properties as unknown as InfluxProperties).uri, 'influxProperties.uri');
  },
  open(properties, egress, now) {
    const settings = properties as unknown as InfluxProperties;
    const url = writeUrl(settings);
    const authorization = authorizationOf(settings);
    const headers = {
      'content-type': 'text/plain; charset=utf-8',
      ...(authorization === undefined ? {} : { authorization }),
    };
    return {
      async send(message, signal) {
        const body = linesOf(message, settings.measurementName);
        if (body === undefined) return { ok: true, answer: 'the sample has no field to write' };
        return attemptHttp(egress, { method: 'POST', url, headers, body }, signal, now);
      },
      close: () => Promise.resolve(),
    };
  },
};

/**
 * The lines to write: a payload that is no JSON object is line protocol already, made by a template of the connector. The fields
 * are the `data` of the payload or, without one, its members; undefined when there are none.
 */
function linesOf(
  { payload, context, deviceId }: OutboundMessage,
  measurement: string,
): string | undefined {
  const sent = objectIn(payload);
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

function objectIn(payload: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(payload);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function writeUrl({ uri, version, orgId, bucket }: InfluxProperties): string {
  const base = uri.endsWith('/') ? uri : `${uri}/`;
  const url = new URL(version === 'V1' ? 'write' : 'api/v2/write', base);
  const query = url.searchParams;
  if (version === 'V1') {
    const [database = '', retentionPolicy] = bucket.split('/');
    query.set('db', database);
    if (retentionPolicy !== undefined) query.set('rp', retentionPolicy);
  } else {
    query.set('org', orgId ?? '');
    query.set('bucket', bucket);
  }
  query.set('precision', 'ms');
  return url.href;
}

function authorizationOf({
  version,
  token,
  username,
  password,
}: InfluxProperties): string | undefined {
  if (version === 'V1' && username !== null) {
    return `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}`;
  }
  return token === null ? undefined : `Token ${token}`;
}
