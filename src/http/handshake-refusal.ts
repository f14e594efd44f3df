// Refuses a WebSocket handshake with the error body of every other answer (interface 7, contract 30).
import { randomBytes, randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { formatInstant } from '../model/instant.ts';
import { type Problem, problem } from '../model/problem.ts';

/** Answers the upgrade request with the problem's status and JSON body and closes the connection. Returns the body's `errorId`. */
export function refuseHandshake(request: IncomingMessage, socket: Duplex, refused: Problem, nowMs: number): string {
  const errorId = randomUUID();
  const body = JSON.stringify({
    timestamp: formatInstant(nowMs),
    // Without the query string: it holds credentials.
    path: pathOf(request),
    status: refused.status,
    error: STATUS_CODES[refused.status],
    message: refused.message,
    errorCode: refused.code,
    requestId: randomUUID(),
    errorId,
    traceId: randomBytes(16).toString('hex'),
  });
  const head = [
    `HTTP/1.1 ${refused.status} ${STATUS_CODES[refused.status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  return errorId;
}

/** The refusal of an upgrade request to another path. */
export function noSuchStream(request: IncomingMessage): Problem {
  return problem('noSuchRoute', { method: request.method ?? 'GET', path: pathOf(request) });
}

/** The path of the request without its query. */
export function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0]!;
}
