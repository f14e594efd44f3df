// Guarded connections: TCP and TLS sockets to the checked addresses of a host.
import { connect as netConnect, type Socket } from 'node:net';
import { connect as tlsConnect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { type HostCheck, readHost } from './host-check.ts';

const connectionLimits = {
  /** For name, connection and TLS together; a request has its own limit above this. */
  connectTimeoutMs: 8_000,
  /** Addresses of one name that are tried, one after the other. */
  addressesTriedMax: 4,
} as const;

interface EgressTarget {
  readonly host: string;
  readonly port: number;
  readonly signal?: AbortSignal;
}

export interface GuardedConnections {
  /** A connected socket to a checked address; rejects with EgressRefused or the network's error. */
  connect(target: EgressTarget): Promise<Socket>;
  /** The same with TLS on top: the certificate is checked for `servername`, by default the host. */
  connectTls(target: EgressTarget, tls?: ConnectionOptions): Promise<TLSSocket>;
}

export function createGuardedConnections({ placesOf }: HostCheck): GuardedConnections {
  async function connect({ host, port, signal }: EgressTarget): Promise<Socket> {
    const ends = withTimeout(signal);
    const addresses = await until(ends, placesOf(host, port));
    let failure: unknown;
    for (const { address } of addresses.slice(0, connectionLimits.addressesTriedMax)) {
      try {
        return await connected(netConnect({ host: address, port, noDelay: true }), 'connect', ends);
      } catch (error) {
        failure = error;
        if (ends.aborted) break;
      }
    }
    throw failure;
  }

  async function connectTls(target: EgressTarget, tls: ConnectionOptions = {}): Promise<TLSSocket> {
    const socket = await connect(target);
    const ends = withTimeout(target.signal);
    const secured = tlsConnect({ ...tlsHost(target.host), ...tls, socket });
    return connected(secured, 'secureConnect', ends);
  }

  return { connect, connectTls };
}

/** Addresses have no server name indication. */
function tlsHost(text: string): ConnectionOptions {
  const host = readHost(text);
  if (host === undefined) return { host: text };
  if (host.isAddress) return { host: host.name };
  return { host: host.name, servername: host.name };
}

function withTimeout(signal: AbortSignal | undefined): AbortSignal {
  const timeout = AbortSignal.timeout(connectionLimits.connectTimeoutMs);
  if (signal === undefined) return timeout;
  return AbortSignal.any([signal, timeout]);
}

/** Resolves with the socket after the event; destroys the socket if the event does not come. */
function connected<S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  ends: AbortSignal,
): Promise<S> {
  const done = new Promise<S>((resolve, reject) => {
    socket.once(event, () => resolve(socket));
    socket.once('error', reject);
    socket.once('close', () =>
      reject(new Error('The connection was closed before it was established')),
    );
  });
  return until(ends, done).catch((error: unknown) => {
    socket.destroy();
    throw error;
  });
}

function until<T>(ends: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(ends.reason as Error);
    if (ends.aborted) stop();
    ends.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => ends.removeEventListener('abort', stop));
  });
}
