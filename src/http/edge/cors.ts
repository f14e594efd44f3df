// CORS: pages of other origins may call the interface only if the operator lists them, and never with cookies.
import type { FastifyInstance } from 'fastify';
import type { EdgeReply, EdgeRequest } from './exchange.ts';

const methods = 'GET, POST, PUT, DELETE';
const requestHeaders =
  'content-type, authorization, x-api-key, x-uplink-secret, x-device-id, x-request-id, idempotency-key, if-none-match, traceparent';
const answerHeaders =
  'x-request-id, retry-after, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, content-disposition, x-incomplete, x-thinned, x-deregistered, x-deregistration-reason, etag';
const preflightSeconds = 600;

/** Sets the headers of an answer; whether the request may come from its page. */
export type SetCorsHeaders = (request: EdgeRequest, reply: EdgeReply) => boolean;

/** `origins` as browsers send them, or `*` for every one. */
export function corsHeaders(origins: readonly string[]): SetCorsHeaders {
  if (origins.length === 0) return () => false;
  const allowed = new Set(origins);
  return ({ headers: { origin } }, reply) => {
    reply.header('vary', 'Origin');
    if (origin === undefined || !(allowed.has('*') || allowed.has(origin))) return false;
    reply.header('access-control-allow-origin', origin);
    reply.header('access-control-expose-headers', answerHeaders);
    reply.header('cross-origin-resource-policy', 'cross-origin');
    return true;
  };
}

/** Answers the preflight requests of pages that are allowed. */
export function addCors(app: FastifyInstance, setHeaders: SetCorsHeaders): void {
  app.addHook('onRequest', async (request, reply) => {
    if (!setHeaders(request, reply)) return undefined;
    if (
      request.method !== 'OPTIONS' ||
      request.headers['access-control-request-method'] === undefined
    )
      return undefined;
    reply.header('access-control-allow-methods', methods);
    reply.header('access-control-allow-headers', requestHeaders);
    reply.header('access-control-max-age', preflightSeconds);
    return reply.code(204).send();
  });
}
