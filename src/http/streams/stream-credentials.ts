// Credentials of a WebSocket handshake: URL parameters, headers, or the cookie of the console (interface 5.11).
import type { IncomingMessage } from 'node:http';
import { problem } from '../../model/problem.ts';

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
