// Plain bodies: JSON of a known length within the limit. The framework reads every other body.
import type { IncomingMessage } from 'node:http';
import { isTakenAsJson } from '../body-parsers.ts';
import { isPlain } from '../request-body.ts';
import { bodyBytesMaxDefault, type Route } from '../route.ts';

/** Most requests: what needs no look at its parts. */
const jsonTypes = new Set([
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=utf-8',
  'application/json; charset=UTF-8',
  'application/json;charset=UTF-8',
]);

/** The bytes of the body that follows; undefined when it is not plain. */
export function plainBodyBytes(
  message: IncomingMessage,
  route: Pick<Route, 'bodyBytesMax' | 'jsonOfAnyType'>,
): number | undefined {
  const { method, headers } = message;
  const { bodyBytesMax = bodyBytesMaxDefault } = route;
  if (headers['transfer-encoding'] !== undefined) return undefined;
  const bytes = Number(headers['content-length'] ?? 0);
  if (!(bytes <= bodyBytesMax)) return undefined;
  const type = headers['content-type'];
  if (method === 'GET' || method === 'HEAD') return bytes === 0 ? 0 : undefined;
  if (type === undefined && bytes === 0) return 0;
  const isTaken = (type !== undefined && jsonTypes.has(type)) || isTakenAsJson(route, headers);
  return isTaken && isPlain(message) ? bytes : undefined;
}

/**
 * Reads the whole body, without waiting when all of it is there. Throws an error with status 400 when the
 * sender breaks it off.
 */
export function readBody(raw: IncomingMessage, bytes: number): Buffer | Promise<Buffer> {
  const begun = raw.read() as Buffer | null;
  if (begun?.length === bytes) return begun;
  return readRest(raw, begun === null ? [] : [begun]);
}

function readRest(raw: IncomingMessage, chunks: Buffer[]): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(Object.assign(error, { statusCode: 400 }));
    // The sender may have left during admission.
    if (raw.destroyed) return fail(new Error('The client aborted the request'));
    raw.on('data', (chunk: Buffer) => void chunks.push(chunk));
    raw.once('end', () => resolve(Buffer.concat(chunks)));
    raw.once('error', fail);
  });
}
