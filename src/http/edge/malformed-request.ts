// Malformed requests: bytes that are not HTTP, headers beyond the limit, a request that never ends.
import { randomBytes, randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { type Problem, problem } from '../../model/problem.ts';
import { errorBody } from './error-body.ts';

const problemsByCode: Readonly<Record<string, () => Problem>> = {
  HPE_HEADER_OVERFLOW: () => problem('headersTooLarge'),
  ERR_HTTP_REQUEST_TIMEOUT: () => problem('requestTimeout'),
};

/**
 * Answers with the error body of interface 7 and closes the connection; nothing is known of the
 * request, not even its path.
 */
export function refuseBrokenRequest(
  error: { readonly code?: string | undefined },
  socket: Socket,
  nowMs: number,
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  // Nothing can be said over a connection whose encryption has not begun.
  if (error.code?.startsWith('ERR_SSL_') === true || error.code?.startsWith('ERR_TLS_') === true) {
    socket.destroy();
    return;
  }
  const refused =
    problemsByCode[error.code ?? '']?.() ??
    problem('invalidRequest', { reason: 'The request is not valid HTTP' });
  const request = { path: '', requestId: randomUUID(), traceId: randomBytes(16).toString('hex') };
  const body = errorBody(refused, request, nowMs);
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${body.status} ${body.error}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    `X-Request-Id: ${body.requestId}`,
    'Connection: close',
  ];
  if (socket.writable) socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
  else socket.destroy();
}
