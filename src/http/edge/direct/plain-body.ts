// Plain bodies: JSON of a known length within the limit. The framework reads every other body.
import type { IncomingMessage } from 'node:http';
import type { Route } from '../route.ts';

const jsonTypes = new Set([
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=utf-8',
  'application/json; charset=UTF-8',
  'application/json;charset=UTF-8',
]);

const empty = Buffer.alloc(0);

/** The bytes of the body that follows; undefined when it is not plain. */
export function plainBodyBytes(
  { method, headers }: IncomingMessage,
  { bodyBytesMax, jsonOfAnyType }: Pick<Route, 'bodyBytesMax' | 'jsonOfAnyType'>,
  bodyBytesMaxDefault: number,
): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined;
  const bytes = Number(headers['content-length'] ?? 0);
  if (!(bytes <= (bodyBytesMax ?? bodyBytesMaxDefault))) return undefined;
  const type = headers['content-type'];
  if (method === 'GET' || method === 'HEAD') return bytes === 0 ? 0 : undefined;
  const isTaken = type === undefined ? bytes === 0 || jsonOfAnyType : jsonTypes.has(type);
  return isTaken ? bytes : undefined;
}

/** Reads the whole body. Throws an error with status 400 when the sender breaks it off. */
export function readBody(raw: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined;
    let rest: Buffer[] | undefined;
    raw.on('data', (chunk: Buffer) => {
      if (first === undefined) first = chunk;
      else if (rest === undefined) rest = [first, chunk];
      else rest.push(chunk);
    });
    raw.once('end', () => resolve(rest === undefined ? (first ?? empty) : Buffer.concat(rest)));
    raw.once('error', (error) => reject(Object.assign(error, { statusCode: 400 })));
  });
}
