// Security headers: they limit what a browser does with an answer.
import type { FastifyInstance } from 'fastify';
import type { EdgeReply } from './exchange.ts';

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
