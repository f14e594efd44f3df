// Capture request over HTTP: what headers and query say besides the body (contract 18).
import type { IncomingHttpHeaders } from 'node:http';
import { type EpochMs, restorePlus } from '../../model/instant.ts';
import { timestampOfText, timestampRefusal } from '../../model/timestamp.ts';
import { isJsonObject, type JsonObject } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';
import type { SentHints } from '../../model/uplink.ts';

export interface CaptureRequest {
  /** Uplink secret of the device connector. */
  readonly secret: string;
  /** Physical device id. */
  readonly deviceId: string;
  readonly topic: string | null;
  readonly timestamp: EpochMs | null;
  /** As it was sent; see `readPayload`. */
  readonly port: string | undefined;
}

export type CaptureQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Throws Problem: 401 without a secret, 400 without a device id or with a timestamp that is no
 * ISO-8601 date-time.
 */
export function captureRequestOf(
  query: CaptureQuery,
  headers: IncomingHttpHeaders,
): CaptureRequest {
  const secret = captureSecretOf(query, headers);
  const deviceId = captureDeviceIdOf(query, headers);
  if (deviceId === undefined) throw problem('deviceIdMissing');
  const timestamp = first(query['timestamp'], headers['x-timestamp']);
  return {
    secret,
    deviceId,
    topic: first(query['topic'], headers['x-topic']) ?? null,
    timestamp: timestampOf(timestamp),
    port: first(query['port'], headers['x-port']),
  };
}

/** What is said of a payload that was refused, as far as it can be read. */
export function sentHintsOf(query: CaptureQuery, headers: IncomingHttpHeaders): SentHints {
  const timestamp = first(query['timestamp'], headers['x-timestamp']);
  return {
    topic: first(query['topic'], headers['x-topic']),
    timestamp: timestamp === undefined ? null : timestampOfText(restorePlus(timestamp)),
    contentType: headers['content-type'],
    contentEncoding: headers['content-encoding'],
    port: first(query['port'], headers['x-port']),
    event: first(query['event']),
  };
}

/** The physical device id, by any of its names. */
export function captureDeviceIdOf(
  query: CaptureQuery,
  headers: IncomingHttpHeaders,
): string | undefined {
  return first(query['deviceId'], headers['x-device-id'], headers['deviceid']);
}

/** The uplink secret, by any of its names. Throws Problem 401 without one. */
export function captureSecretOf(query: CaptureQuery, headers: IncomingHttpHeaders): string {
  const secret = first(
    query['secret'],
    query['uplinkSecret'],
    headers['x-uplink-secret'],
    headers['secret'],
  );
  if (secret === undefined) throw problem('uplinkSecretMissing');
  return secret;
}

/** The body of a network server's webhook is one object. */
export function webhookBodyOf(body: unknown): JsonObject {
  if (isJsonObject(body)) return body;
  throw problem('webhookInvalid', { field: '', reason: 'must be a JSON object' });
}

function first(...values: readonly (string | readonly string[] | undefined)[]): string | undefined {
  for (const value of values) {
    const text = typeof value === 'string' ? value : value?.[0];
    if (text !== undefined && text !== '') return text;
  }
  return undefined;
}

function timestampOf(text: string | undefined): EpochMs | null {
  if (text === undefined) return null;
  const ms = timestampOfText(restorePlus(text));
  if (ms === undefined) throw timestampRefusal(text);
  return ms;
}
