// The interface reference for people at /docs, served whole from this process: no request leaves for another host.
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';

// The page may not reach beyond this server, whatever its script would like to do, and runs no script but its own: the one within
// the page is named by its hash, because the page shares its origin with the session cookie.
const policyWith = (scripts: readonly string[]) =>
  [
    "default-src 'self'",
    `script-src ${["'self'", ...scripts].join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "worker-src 'self' blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** Sources of the scripts within the page, as policies name them. */
function inlineScripts(html: string): string[] {
  const bodies = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map((match) => match[1]!);
  return bodies.map((body) => `'sha256-${createHash('sha256').update(body).digest('base64')}'`);
}

/** Adds `/v3/openapi.json` and `/docs`; the page and its script load when somebody first asks for them. */
export function addDocs(app: FastifyInstance): void {
  let page: Promise<FastifyInstance> | undefined;
  let document: string | undefined;
  app.get('/v3/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    document ??= JSON.stringify(app.swagger());
    return reply.type('application/json; charset=utf-8').serializer(String).send(document);
  });
  const serve = async (url: string) => {
    page ??= openPage();
    return (await page).inject({ method: 'GET', url });
  };
  // The page names its script from where it stands, so it must stand at a folder.
  app.get('/docs', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/docs/', 308));
  app.get('/docs/*', { schema: { hide: true } }, async (request, reply) => {
    const answer = await serve(request.url);
    const type = answer.headers['content-type'];
    if (type !== undefined) reply.header('content-type', type);
    const scripts = String(type).startsWith('text/html') ? inlineScripts(answer.payload) : [];
    reply.header('content-security-policy', policyWith(scripts));
    return reply.code(answer.statusCode).serializer(passThrough).send(answer.rawPayload);
  });
}

const passThrough = (payload: unknown) => payload as string;

async function openPage(): Promise<FastifyInstance> {
  const [{ default: Fastify }, { default: reference }] = await Promise.all([
    import('fastify'),
    import('@scalar/fastify-api-reference'),
  ]);
  const page = Fastify();
  await page.register(reference, {
    routePrefix: '/docs',
    configuration: {
      url: '/v3/openapi.json',
      // Fonts, telemetry and the request proxy would each call another host.
      withDefaultFonts: false,
      telemetry: false,
      proxyUrl: '',
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  });
  await page.ready();
  return page;
}
