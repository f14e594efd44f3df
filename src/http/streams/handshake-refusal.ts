// Refuses a WebSocket handshake with the error body of every other answer (interface 7, contract 30).
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Problem } from '../../model/problem.ts';
import { errorBody, traceIdOf } from '../edge/error-body.ts';

/** Answers the upgrade request with the problem's status and JSON body and closes the connection. Returns the body's `errorId`. */
export function refuseHandshake(
  request: IncomingMessage,
  socket: Duplex,
  refused: Problem,
  nowMs: number,
): string {
  const { traceparent } = request.headers;
  const traceId = traceIdOf(typeof traceparent === 'string' ? traceparent : undefined);
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

/** The path of the request without its query, which holds credentials. */
export function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0]!;
}
