// Influx secret: the uplink secret in the credentials of InfluxDB senders, token or password.
import type { IncomingHttpHeaders } from 'node:http';
import { problem } from '../../model/problem.ts';

export interface InfluxCredentials {
  readonly p?: string;
}

/**
 * The secret of `Authorization: Token <secret>`, of `Bearer`, the password of Basic, or `p`. The
 * user name counts for nothing. Throws Problem 401 without one.
 */
export function influxSecretOf(
  { authorization = '' }: IncomingHttpHeaders,
  { p }: InfluxCredentials,
): string {
  const [, scheme = '', sent = ''] = /^(\w+)\s+(\S+)\s*$/.exec(authorization) ?? [];
  const secret = readers.get(scheme.toLowerCase())?.(sent) ?? p;
  if (typeof secret !== 'string' || secret === '') throw problem('uplinkSecretMissing');
  return secret;
}

const readers: ReadonlyMap<string, (sent: string) => string> = new Map([
  // Senders of version 2 that write to a server of version 1 send `user:password`.
  ['token', afterColon],
  ['bearer', (sent) => sent],
  ['basic', (sent) => afterColon(Buffer.from(sent, 'base64').toString())],
]);

function afterColon(text: string): string {
  return text.slice(text.indexOf(':') + 1);
}
