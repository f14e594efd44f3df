// Stop of the HTTP server: requests in progress get a second, then their connections are closed.
import type { FastifyInstance } from 'fastify';

const requestsEndWithinMs = 1_000;

/** Resolves when no connection is left. */
export async function stopServer(app: FastifyInstance): Promise<void> {
  const late = setTimeout(() => app.server.closeAllConnections(), requestsEndWithinMs);
  try {
    await app.close();
  } finally {
    clearTimeout(late);
  }
}
