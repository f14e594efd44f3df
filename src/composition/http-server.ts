// Connects the HTTP server: routes behind the checks of access, the interface reference and the console.
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { guardOf } from './access.ts';
import { followCertificate, readCertificate } from './certificates.ts';
import type { Parts } from './platform-parts.ts';
import { consoleOf } from '../http/edge/console.ts';
import { tileOrigin } from '../model/map-tiles.ts';
import { addDocs } from '../http/edge/docs.ts';
import { addDocsPolicy } from '../http/edge/docs-policy.ts';
import type { Route } from '../http/edge/route.ts';
import type { Certificate } from '../structures/certificate-watch.ts';
import { createServer, renewCertificate } from '../http/edge/server.ts';

// The same place in the source tree and in the build.
const consoleFolder = fileURLToPath(new URL('../../console/dist/', import.meta.url));

/** The caller makes it listen. */
export async function composeHttpServer(
  parts: Parts,
  routes: readonly Route[],
): Promise<FastifyInstance> {
  const { config, telemetry, access, now } = parts;
  const { publicUrl, trustedProxies, corsOrigins, mapTiles, tls } = config;
  const guard = guardOf(access, config, now, parts.turns);
  const edge = { routes, guard, events: telemetry, now };
  const { addFiles, serveScreen } = consoleOf(
    consoleFolder,
    mapTiles === undefined ? [] : [tileOrigin(mapTiles.url)],
  );
  const certificate = tls && readCertificate(tls);
  const app = await createServer({
    ...edge,
    ...{ publicUrl, trustedProxies, corsOrigins, serveScreen, certificate },
  });
  addFiles(app);
  addDocs(app, routes);
  addDocsPolicy(app);
  if (tls !== undefined && certificate !== undefined) {
    const renew = (next: Certificate) => renewCertificate(app, next);
    const followed = { what: 'HTTPS', files: tls, inUse: certificate, renew };
    const stopFollowing = followCertificate(followed, telemetry);
    app.addHook('onClose', async () => stopFollowing());
  }
  return app;
}
