// Peer server: a server with one connection to it, which may be ended and started again.
import { type RunningServer, untilReady } from '../load/server-process.ts';

export interface PeerServer<Connection> {
  readonly connection: () => Connection;
  /** See `RunningServer`. */
  readonly memoryBytes: () => number;
  readonly processorUs: () => number;
  /** See `Engine.restart`. */
  readonly restart: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

export interface PeerServerParts<Connection> {
  readonly launch: () => RunningServer;
  /** Throws as long as the server does not answer. */
  readonly probe: () => Promise<boolean>;
  readonly connect: () => Promise<Connection>;
}

export async function openPeerServer<Connection extends { close: () => void }>({
  launch,
  probe,
  connect,
}: PeerServerParts<Connection>): Promise<PeerServer<Connection>> {
  let server = launch();
  await untilReady(server, probe);
  let connection = await connect();
  const stop = async (): Promise<void> => {
    connection.close();
    await server.stop();
  };
  return {
    connection: () => connection,
    memoryBytes: () => server.memoryBytes(),
    processorUs: () => server.processorUs(),
    stop,
    restart: async () => {
      await stop();
      const startMs = performance.now();
      server = launch();
      await untilReady(server, probe);
      connection = await connect();
      return startMs;
    },
  };
}
