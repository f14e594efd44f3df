// Handshake rejection: a WebSocket upgrade that fails gets the error body of interface 7 (contract 30).
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Problem } from '../../model/problem.ts';
import { errorBody, traceIdOf } from '../edge/error-body.ts';
import { firstOf } from '../edge/request-id.ts';

/**
 * Answers the upgrade request with the problem's status and JSON body and closes the connection.
 * Returns the body's `errorId`.
 */
export function refuseHandshake(
  request: IncomingMessage,
  socket: Duplex,
  refused: Problem,
  nowMs: number,
): string {
  const traceId = traceIdOf(firstOf(request.headers['traceparent']));
  const body = errorBody(
    refused,
    { path: pathOf(request), requestId: randomUUID(), traceId },
    nowMs,
  );
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${refused.status} ${STATUS_CODES[refused.status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
  return body.errorId;
}

/** The path without the query, which may contain credentials. */
export function pathOf(request: IncomingMessage): string {
  const [path = '/'] = request.url?.split('?', 1) ?? [];
  return path;
}
