// HTTP pools: kept connections of the HTTP client, guarded ones per set of certificates.
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { callbackify } from 'node:util';
import type * as Undici from 'undici';
import type { Agent, buildConnector, Dispatcher } from 'undici';
import { createBoundedMap } from '../structures/bounded-map.ts';
import type { GuardedConnections } from './guarded-connections.ts';

const poolLimits = {
  connectionsPerOriginMax: 16,
  keepAliveMs: 10_000,
  /** Pools with certificates of their own that are kept. */
  poolsMax: 64,
  headersBytesMax: 64 * 1024,
} as const;

export interface HttpPools {
  /** Connections to any target, made with the certificates. */
  poolOf(target: { readonly ca?: string; readonly isOperators?: true }): Dispatcher;
  close(): Promise<void>;
}

export function createHttpPools(
  connections: GuardedConnections,
  httpClient: () => typeof Undici,
): HttpPools {
  const options = {
    connections: poolLimits.connectionsPerOriginMax,
    keepAliveTimeout: poolLimits.keepAliveMs,
    maxHeaderSize: poolLimits.headersBytesMax,
    pipelining: 1,
  } as const;
  const made = (connect?: buildConnector.connector): Agent =>
    new (httpClient().Agent)({ ...options, ...(connect !== undefined && { connect }) });
  // Requests in progress end first.
  const closed = (agent: Agent): void => void agent.close().catch(() => undefined);
  const withCertificates = createBoundedMap<string, Agent>(poolLimits.poolsMax, closed);
  let plain: Agent | undefined;
  let operators: Agent | undefined;

  function poolWith(ca: string): Agent {
    const known = withCertificates.use(ca);
    if (known !== undefined) return known;
    const agent = made(createConnector(connections, { ca }));
    withCertificates.set(ca, agent);
    return agent;
  }

  return {
    poolOf({ ca, isOperators }) {
      if (isOperators === true) return (operators ??= made());
      if (ca === undefined) return (plain ??= made(createConnector(connections, {})));
      return poolWith(ca);
    },
    async close() {
      const agents = [plain, operators, ...withCertificates.values()];
      await Promise.all(agents.flatMap((agent) => agent?.destroy() ?? []));
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
