// Stop of the HTTP server: requests in progress get a second, then their connections are closed.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

const requestsEndWithinMs = 1_000;

/** Connections of each server, also those that have sent no request yet. */
const connectionsOf = new WeakMap<Server, Set<Socket>>();

/** Call before the server listens, so that `stopServer` finds all connections. */
export function followConnections(server: Server): void {
  const connections = new Set<Socket>();
  connectionsOf.set(server, connections);
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
}

/** Resolves when no connection is left. */
export async function stopServer(app: FastifyInstance): Promise<void> {
  const late = setTimeout(() => {
    app.server.closeAllConnections();
    // Node knows only connections with a request. One that ended while its encryption began, half
    // open, would stay until that has timed out.
    for (const socket of connectionsOf.get(app.server) ?? []) socket.destroy();
  }, requestsEndWithinMs);
  try {
    await app.close();
  } finally {
    clearTimeout(late);
  }
}
