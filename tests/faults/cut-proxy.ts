// Cut proxy: passes TCP connections on, until a test cuts them: refused, or silent as a broken network is.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/**
 * `refused` as by a machine without the program; `silent` keeps connections open and passes nothing
 * on, and what waits is passed on later.
 */
export type CutMode = 'open' | 'refused' | 'silent';

export interface CutProxy {
  readonly port: number;
  set(mode: CutMode): Promise<void>;
  close(): Promise<void>;
}

export interface CutProxyParts {
  /** Where it listens; a free port by default. */
  readonly host?: string;
  readonly port?: number;
  readonly target: { readonly host: string; readonly port: number };
}

export async function startCutProxy({
  host = '127.0.0.1',
  port: wanted = 0,
  target,
}: CutProxyParts): Promise<CutProxy> {
  const sockets = new Set<Socket>();
  let mode: CutMode = 'open';

  function keep(socket: Socket, other: Socket): void {
    sockets.add(socket);
    socket.on('error', () => other.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      // A cut network does not say that the other end is gone.
      if (mode !== 'silent') other.destroySoon();
    });
    socket.on('data', (bytes) => {
      if (!other.write(bytes)) socket.pause();
    });
    other.on('drain', () => {
      if (mode !== 'silent') socket.resume();
    });
    socket.on('end', () => void (mode === 'silent' || other.end()));
    if (mode === 'silent') socket.pause();
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const sent = connect({ ...target, allowHalfOpen: true });
    keep(client, sent);
    keep(sent, client);
  });
  async function listen(port: number): Promise<void> {
    server.listen(port, host);
    await once(server, 'listening');
  }

  async function refuse(): Promise<void> {
    if (!server.listening) return;
    server.close();
    for (const socket of sockets) socket.resetAndDestroy();
    await once(server, 'close');
  }

  await listen(wanted);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port');
  const { port } = address;
  return {
    port,
    async set(next) {
      mode = next;
      if (mode === 'refused') return refuse();
      if (!server.listening) await listen(port);
      for (const socket of sockets) {
        if (mode === 'silent') socket.pause();
        else socket.resume();
      }
    },
    async close() {
      mode = 'refused';
      await refuse();
    },
  };
}
