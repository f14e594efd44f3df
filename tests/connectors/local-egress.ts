// An egress guard for tests that lets targets on this machine be reached.
import { lookup } from 'node:dns';
import { once } from 'node:events';
import { connect, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { fetch, Agent } from 'undici';
import type { EgressGuard } from '../../src/connectors/connector.ts';

export function localEgress(ca?: string): EgressGuard {
  return {
    checkLiteral() {},
    lookup,
    async connect({ host, port, signal }) {
      const socket = connect({ host, port, noDelay: true });
      await once(socket, 'connect', { signal: signal! });
      return socket;
    },
    async connectTls({ host, port, signal }, tls = {}) {
      const socket = connectTls({ host, port, ...tls, ...(isIP(host) === 0 ? { servername: host } : {}) });
      await once(socket, 'secureConnect', { signal: signal! });
      return socket;
    },
    fetch: (u, i) => fetch(u, { ...i, dispatcher: new Agent({ connect: ca === undefined ? {} : { ca } }) }),
  };
}
