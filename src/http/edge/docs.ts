// API reference: a page for readers at /docs and its document, without any request to another host.
import { readFileSync } from 'node:fs';
import type { FastifyInstance, RouteHandlerMethod } from 'fastify';
import type { Endpoint } from '../../contract/endpoint.ts';
import { problem } from '../../model/problem.ts';
import { openApiDocument } from './open-api.ts';
import type { OperationExamples } from './open-api-operation.ts';
import { sendJson } from './representation/send-json.ts';
import { pathOf } from './request-path.ts';

// The page cannot connect to another server, regardless of its script.
const contentSecurityPolicy = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "worker-src 'self' blob:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Adds `/v3/openapi.json` and `/docs`; document, page and its script are created at the first request
 * for them.
 */
export function addDocs(app: FastifyInstance, endpoints: readonly Endpoint[]): void {
  let page: Promise<FastifyInstance> | undefined;
  let document: string | undefined;
  const get = (url: string, handler: RouteHandlerMethod) =>
    app.route({ method: ['GET', 'HEAD'], url, handler });
  get('/v3/openapi.json', async (request, reply) => {
    document ??= JSON.stringify(openApiDocument(endpoints, readExamples()));
    reply.serializer(passThrough);
    await sendJson(request, reply, document);
    return reply;
  });
  // Where many tools look for it.
  get('/openapi.json', async (_request, reply) => reply.redirect('/v3/openapi.json', 308));
  const serve = async (url: string) => {
    page ??= openPage();
    return (await page).inject({ method: 'GET', url });
  };
  // The page names its script from where it stands, so it must stand at a folder.
  get('/docs', async (_request, reply) => reply.redirect('/docs/', 308));
  get('/docs/*', async (request, reply) => {
    const answer = await serve(request.url);
    if (answer.statusCode === 404) {
      throw problem('noSuchRoute', { method: request.method, path: pathOf(request) });
    }
    const type = answer.headers['content-type'];
    if (type !== undefined) reply.header('content-type', type);
    reply.header('content-security-policy', contentSecurityPolicy);
    // The page of the package says neither its language nor whose it is.
    const isPage = String(type).startsWith('text/html');
    const payload = isPage ? ownPage(answer.payload) : answer.rawPayload;
    return reply.code(answer.statusCode).serializer(passThrough).send(payload);
  });
}

/** Read for the document alone, which most platforms are never asked for. */
function readExamples(): OperationExamples {
  const place = new URL('../../contract/examples.json', import.meta.url);
  return JSON.parse(readFileSync(place, 'utf8')) as OperationExamples;
}

const passThrough = (payload: unknown) => payload as string;

function ownPage(html: string): string {
  return html
    .replace(/<html[^>]*>/, '<html lang="en">')
    .replace(/<title>[^<]*<\/title>/, '<title>API reference · Heliograph</title>');
}

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
