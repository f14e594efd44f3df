// Handshake rejection: a WebSocket upgrade that fails gets the error body of interface 7 (contract 30).
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocketServer } from 'ws';
import { type Problem, problem } from '../../model/problem.ts';
import { errorBody, traceIdOf } from '../edge/error-body.ts';
import { firstOf } from '../edge/request-id.ts';
import { isSecure } from '../edge/security-headers.ts';
import { answerOnSocket } from '../edge/socket-answer.ts';

/** The version of the protocol, for clients that speak another one. */
const spoken = { 'sec-websocket-version': '13' };

export interface RefusingSide {
  readonly now: () => number;
  readonly publicUrl: string;
}

/**
 * Answers the upgrade request with the problem's status and JSON body and closes the connection.
 * Returns the body's `errorId`.
 */
export function refuseHandshake(
  request: IncomingMessage,
  socket: Duplex,
  refused: Problem,
  { now, publicUrl }: RefusingSide,
): string {
  const traceId = traceIdOf(firstOf(request.headers['traceparent']));
  const body = errorBody(
    refused,
    { path: pathOf(request), requestId: randomUUID(), traceId },
    now(),
  );
  answerOnSocket(socket, body, isSecure(publicUrl), spoken);
  return body.errorId;
}

/** The same for a handshake that is no valid one of a WebSocket. */
export function refuseBadHandshakes(webSockets: WebSocketServer, side: RefusingSide): void {
  webSockets.on('wsClientError', (error, socket, request) => {
    refuseHandshake(request, socket, problem('invalidRequest', { reason: error.message }), side);
  });
}

/** The path without the query, which may contain credentials. */
export function pathOf(request: IncomingMessage): string {
  const [path = '/'] = request.url?.split('?', 1) ?? [];
  return path;
}
