// Security headers: they limit what a browser does with an answer, and which origins may read it.
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { EdgeReply, EdgeRequest } from './exchange.ts';

// Answers of the interface are data: nothing in them may run, load or be framed.
const dataPolicy =
  "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
// Pages of the console run scripts of this server alone and talk to it alone.
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const always = {
  'cache-control': 'no-store',
  'content-security-policy': dataPolicy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
} as const;
const strictTransport = 'max-age=31536000; includeSubDomains';

const overHttps = { ...always, 'strict-transport-security': strictTransport } as const;

/** `secure`: the platform is reached by https, and never again without. */
export function securityHeaders(secure: boolean): Readonly<Record<string, string>> {
  return secure ? overHttps : always;
}

/** Whether the platform is reached by https. */
export function isSecure(publicUrl: string): boolean {
  return publicUrl.startsWith('https:');
}

/** Gives pages the policy of pages, unless their route set one. */
export function addContentPolicy(app: FastifyInstance): void {
  app.addHook('onSend', async (_request, reply) => setContentPolicy(reply));
}

/** The same for one answer, whose other headers are set. */
export function setContentPolicy(reply: EdgeReply): void {
  if (!String(reply.getHeader('content-type') ?? '').startsWith('text/html')) return;
  if (reply.getHeader('content-security-policy') === dataPolicy)
    reply.header('content-security-policy', pagePolicy);
}

// CORS: pages of other origins may call the interface only if the operator lists them, and never with cookies.

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

// Content policy of the reference page: allows the script within it by hash.

const header = 'content-security-policy';

/**
 * Adds the hashes to the policy of `/docs/`, whose text is part of the program and holds nothing
 * that a user wrote.
 */
export function addDocsPolicy(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const isPage = String(reply.getHeader('content-type')).startsWith('text/html');
    if (!isPage || request.routeOptions.url !== '/docs/*') return;
    const scripts = ["'self'", ...inlineScripts(String(payload))].join(' ');
    reply.header(
      header,
      String(reply.getHeader(header)).replace("script-src 'self'", `script-src ${scripts}`),
    );
  });
}

function inlineScripts(html: string): string[] {
  const bodies = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    (match) => match[1] ?? '',
  );
  return bodies.map((body) => `'sha256-${createHash('sha256').update(body).digest('base64')}'`);
}
