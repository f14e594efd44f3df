// Connections for loading a peer that takes whole HTTP requests and answers each with a status of success.
import { type HttpTarget, mustSucceed, openConnections } from '../load/http.ts';
import type { Lane } from './peer.ts';

export async function openHttpLanes(target: HttpTarget, count: number): Promise<Lane[]> {
  const connections = await openConnections(target, count);
  return connections.map((connection) => ({
    send: async (request) => void mustSucceed(await connection.send(request)),
    close: connection.close,
  }));
}
