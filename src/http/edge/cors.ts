// CORS: pages of other origins may call the interface only if the operator lists them, and never with cookies.
import type { FastifyInstance } from 'fastify';

const methods = 'GET, POST, PUT, DELETE';
const requestHeaders =
  'content-type, authorization, x-api-key, x-uplink-secret, x-device-id, x-request-id, idempotency-key, traceparent';
const answerHeaders =
  'x-request-id, retry-after, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, content-disposition, x-incomplete, x-thinned';
const preflightSeconds = 600;

/** `origins` as browsers send them, or `*` for every one. */
export function addCors(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  const allowed = new Set(origins);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('vary', 'Origin');
    const { origin } = request.headers;
    if (origin === undefined || !(allowed.has('*') || allowed.has(origin))) return undefined;
    reply.header('access-control-allow-origin', origin);
    reply.header('access-control-expose-headers', answerHeaders);
    reply.header('cross-origin-resource-policy', 'cross-origin');
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
