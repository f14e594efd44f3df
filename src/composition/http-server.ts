// Connects the HTTP server: routes behind the checks of access, the interface reference and the pages of access.
import type { FastifyInstance } from 'fastify';
import { guardOf } from './access.ts';
import type { Parts } from './platform-parts.ts';
import { addAccessPages } from '../http/edge/access-pages.ts';
import { addDocs } from '../http/edge/docs.ts';
import { addDocsPolicy } from '../http/edge/docs-policy.ts';
import type { Route } from '../http/edge/route.ts';
import { createServer } from '../http/edge/server.ts';

/** The caller makes it listen. */
export async function composeHttpServer(
  parts: Parts,
  routes: readonly Route[],
): Promise<FastifyInstance> {
  const { config, telemetry, access, now } = parts;
  const { publicUrl, trustedProxies, corsOrigins } = config;
  const guard = guardOf(access, config, now);
  const edge = { routes, guard, events: telemetry, now };
  const app = await createServer({ ...edge, publicUrl, trustedProxies, corsOrigins });
  addDocs(app, routes, publicUrl);
  addAccessPages(app);
  addDocsPolicy(app);
  return app;
}
