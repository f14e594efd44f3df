// Answers what never became a request: broken HTTP, headers too large or too slow; same error body, then the connection ends.
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { problem } from '../model/problem.ts';
import { errorBody, traceIdOf } from './error-body.ts';

export const headersBytesMax = 16 * 1024;

export function answerUnreadable(error: Error & { readonly code?: string }, socket: Socket, now: number): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy();
  const refused =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? problem('headersTooLarge', { bytesMax: headersBytesMax })
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? problem('requestTimeout')
        : problem('invalidRequest', { reason: 'The request is not valid HTTP' });
  // The path is not known: the request was never read to its end.
  const about = { path: '', requestId: randomUUID(), traceId: traceIdOf(undefined) };
  const body = JSON.stringify(errorBody(refused, about, now));
  const head = [
    `HTTP/1.1 ${refused.status} ${STATUS_CODES[refused.status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
