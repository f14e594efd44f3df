// HTTP dispatchers: pools of guarded connections for the HTTP client, one per set of TLS options.
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { createRequire } from 'node:module';
import { callbackify } from 'node:util';
import type * as Undici from 'undici';
import type { Agent, buildConnector, Dispatcher } from 'undici';
import { createBoundedMap } from '../structures/bounded-map.ts';
import type { GuardedConnections } from './guarded-connections.ts';

const require = createRequire(import.meta.url);

/** Loaded with the first request, because the HTTP client takes 20 MiB and a tenth of a second. */
export const httpClient = () => require('undici') as typeof Undici;

const poolLimits = {
  connectionsPerOriginMax: 16,
  keepAliveMs: 10_000,
  /** Pools with TLS settings of their own that are kept. */
  poolsMax: 64,
  headersBytesMax: 64 * 1024,
} as const;

export interface HttpDispatchers {
  /**
   * A pool of guarded connections, for undici's request. `tls` is for certificates of one's own.
   */
  dispatcher(tls?: ConnectionOptions): Dispatcher;
  close(): Promise<void>;
}

export function createHttpDispatchers(connections: GuardedConnections): HttpDispatchers {
  const agents = createBoundedMap<string, Agent>(poolLimits.poolsMax, (agent) => {
    // Requests in progress end first.
    void agent.close().catch(() => undefined);
  });
  return {
    dispatcher(tls = {}) {
      const key = JSON.stringify(tls);
      const known = agents.use(key);
      if (known !== undefined) return known;
      const agent = new (httpClient().Agent)({
        connect: createConnector(connections, tls),
        connections: poolLimits.connectionsPerOriginMax,
        keepAliveTimeout: poolLimits.keepAliveMs,
        maxHeaderSize: poolLimits.headersBytesMax,
        pipelining: 1,
      });
      agents.set(key, agent);
      return agent;
    },
    async close() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()));
    },
  };
}

function createConnector(
  { connect, connectTls }: GuardedConnections,
  tls: ConnectionOptions,
): buildConnector.connector {
  const open = callbackify(
    async ({ hostname, protocol, port }: buildConnector.Options): Promise<Socket> => {
      if (protocol !== 'https:') return connect({ host: hostname, port: Number(port) || 80 });
      const target = { host: hostname, port: Number(port) || 443 };
      return connectTls(target, { ALPNProtocols: ['http/1.1'], ...tls });
    },
  );
  return (options, done) => {
    open(options, (error, socket) => {
      if (error === null) done(null, socket);
      else done(error, null);
    });
  };
}
