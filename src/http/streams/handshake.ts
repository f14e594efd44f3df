// Handshakes of WebSockets: their credentials, and the error body of interface 7 for one that fails.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocketServer } from 'ws';
import { type Problem, problem } from '../../model/problem.ts';
import { answerOnSocket, errorBody, traceIdOf } from '../edge/responses.ts';
import { firstOf } from '../edge/admission.ts';
import { isSecure } from '../edge/security-headers.ts';

/** The version of the protocol, for clients that speak another one. */
const spoken = { 'sec-websocket-version': '13' };

interface RefusingSide {
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

// Credentials of a WebSocket handshake: URL parameters, headers, or the cookie of the console (interface 5.11).

/** At most one member is set. */
export interface StreamCredentials {
  readonly apiKey?: string;
  /** A JWT. */
  readonly accessToken?: string;
  /** The whole `Cookie` header of a same-origin page. */
  readonly cookie?: string;
}

/**
 * The credential of the request. URL parameters `xApiKey` and `access_token` win over headers
 * `x-api-key` and `Authorization`; a key beside a token is refused (interface 5.3). A cookie counts
 * only from a page of this very host, so that no foreign page can listen in.
 */
export function streamCredentials(request: IncomingMessage): StreamCredentials {
  const url = request.url ?? '';
  const query = new URLSearchParams(url.replace(/^[^?]*\??/, ''));
  const apiKey = query.get('xApiKey') || headerOf(request, 'x-api-key');
  const accessToken = query.get('access_token') || bearerOf(headerOf(request, 'authorization'));
  if (apiKey && accessToken) throw problem('twoCredentials');
  if (apiKey) return { apiKey };
  if (accessToken) return { accessToken };
  const { cookie, origin, host } = request.headers;
  if (cookie === undefined || origin === undefined || hostOf(origin) !== host?.toLowerCase())
    throw problem('unauthorized');
  return { cookie };
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

function bearerOf(header: string | undefined): string | undefined {
  return /^bearer +(\S+)$/i.exec(header ?? '')?.[1];
}

function hostOf(origin: string): string | undefined {
  return URL.parse(origin)?.host;
}
