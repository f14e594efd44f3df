// Content policy of the reference page: allows the script within it by hash.
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';

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
