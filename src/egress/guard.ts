// The guard on outgoing connections whose target a user may choose: resolve, check every address, connect to that very one.
// Nothing follows redirects, so no answer leads anywhere else.
import { lookup as systemLookup } from 'node:dns/promises';
import { connect as netConnect, type LookupFunction, type Socket } from 'node:net';
import { type ConnectionOptions, connect as tlsConnect, type TLSSocket } from 'node:tls';
import { createRequire } from 'node:module';
import type * as Undici from 'undici';
import type { Agent, buildConnector, Dispatcher, RequestInit, Response } from 'undici';
import { callbackify } from 'node:util';
import { problem } from '../model/problem.ts';
import { addressCheck } from './address.ts';
import { EgressRefused } from './egress-refused.ts';
import { type Host, isLocalName, readHost } from './host.ts';
import { createBoundedMap } from '../structures/bounded-map.ts';

const require = createRequire(import.meta.url);

/** The HTTP client takes 20 MiB and a tenth of a second, so a platform that sends nothing does without it. */
const httpClient = () => require('undici') as typeof Undici;

const egressLimits = {
  /** For name, connection and TLS together; a request has its own limit above this. */
  connectTimeoutMs: 8_000,
  /** Addresses of one name that are tried, one after the other. */
  addressesTriedMax: 4,
  connectionsPerOriginMax: 16,
  keepAliveMs: 10_000,
  /** Pools with TLS settings of their own that are kept. */
  poolsMax: 64,
  headersBytesMax: 64 * 1024,
} as const;

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>;

export interface EgressTarget {
  readonly host: string;
  readonly port: number;
  readonly signal?: AbortSignal;
}

export interface EgressGuard {
  /** Throws Problem `egressRefused` (400) for a host that is a forbidden address in any notation, a local name, or no host. */
  checkLiteral(host: string): void;
  /** The same for the host of an http or https URL; throws Problem `invalidRequest` for what is no such URL. */
  checkUrl(url: string, where: string): void;
  /** In place of `dns.lookup`; fails with EgressRefused. Not called by net.connect for numeric hosts: check those first. */
  readonly lookup: LookupFunction;
  /** A connected socket to a checked address; rejects with EgressRefused or the network's error. */
  connect(target: EgressTarget): Promise<Socket>;
  /** The same with TLS on top: the certificate is checked for `servername`, by default the host. */
  connectTls(target: EgressTarget, tls?: ConnectionOptions): Promise<TLSSocket>;
  /** A redirect is an answer like any other and is not followed. */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  /** A pool of connections made by the guard, for undici's request. `tls` is for certificates of one's own. */
  dispatcher(tls?: ConnectionOptions): Dispatcher;
  close(): Promise<void>;
}

export interface EgressOptions {
  /** CIDR ranges that may be reached although they are not public (`EGRESS_ALLOW`). */
  readonly allow: readonly string[];
  readonly resolve?: Resolve;
}

/** Makes the guard; it owns the connections of `fetch` and `dispatcher` until it is closed. */
export function createEgressGuard({
  allow,
  resolve = resolveBySystem,
}: EgressOptions): EgressGuard {
  const check = addressCheck(allow);
  const agents = createBoundedMap<string, Agent>(egressLimits.poolsMax, (agent) => {
    // Requests in progress end first.
    void agent.close().catch(() => undefined);
  });

  function checked(address: string, host: string): string {
    const reason = check(address);
    if (reason !== undefined) throw new EgressRefused(host, reason);
    return address;
  }

  function checkedHost(text: string): Host {
    const host = readHost(text);
    if (host === undefined) throw new EgressRefused(text, 'unreadable');
    if (host.isAddress) checked(host.name, host.name);
    else if (isLocalName(host.name)) checked('127.0.0.1', host.name);
    return host;
  }

  /** Every address of the host, all of them checked: one forbidden address among good ones is how guards are led astray. */
  async function addressesOf(text: string): Promise<readonly ResolvedAddress[]> {
    const host = checkedHost(text);
    if (host.isAddress) return [{ address: host.name, family: host.name.includes(':') ? 6 : 4 }];
    const addresses = await resolve(host.name);
    if (addresses.length === 0) throw new Error(`${host.name} has no address`);
    for (const { address } of addresses) checked(address, host.name);
    return addresses;
  }

  async function connect({ host, port, signal }: EgressTarget): Promise<Socket> {
    const timeout = AbortSignal.timeout(egressLimits.connectTimeoutMs);
    const ends = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    const addresses = await until(ends, addressesOf(host));
    let failure: unknown;
    for (const { address } of addresses.slice(0, egressLimits.addressesTriedMax)) {
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
    const host = readHost(target.host);
    const servername = host === undefined || host.isAddress ? {} : { servername: host.name };
    const timeout = AbortSignal.timeout(egressLimits.connectTimeoutMs);
    const ends = target.signal === undefined ? timeout : AbortSignal.any([target.signal, timeout]);
    const secured = tlsConnect({ host: host?.name ?? target.host, ...servername, ...tls, socket });
    return connected(secured, 'secureConnect', ends);
  }

  function connector(tls: ConnectionOptions): buildConnector.connector {
    const open = callbackify(
      async ({ hostname, protocol, port }: buildConnector.Options): Promise<Socket> => {
        const isTls = protocol === 'https:';
        const target = { host: hostname, port: Number(port) || (isTls ? 443 : 80) };
        return isTls
          ? connectTls(target, { ALPNProtocols: ['http/1.1'], ...tls })
          : connect(target);
      },
    );
    return (options, done) =>
      open(options, (error, socket) => (error === null ? done(null, socket) : done(error, null)));
  }

  function dispatcher(tls: ConnectionOptions = {}): Dispatcher {
    const key = JSON.stringify(tls);
    const known = agents.use(key);
    if (known !== undefined) return known;
    const agent = new (httpClient().Agent)({
      connect: connector(tls),
      connections: egressLimits.connectionsPerOriginMax,
      keepAliveTimeout: egressLimits.keepAliveMs,
      maxHeaderSize: egressLimits.headersBytesMax,
      pipelining: 1,
    });
    agents.set(key, agent);
    return agent;
  }

  const askAddresses = callbackify(addressesOf);
  const lookup: LookupFunction = (hostname, options, callback) => {
    askAddresses(hostname, (error, addresses) => {
      if (error !== null) return callback(error, '', 0);
      const wanted = options.family === 4 || options.family === 6 ? options.family : undefined;
      const usable = addresses.filter(({ family }) => wanted === undefined || family === wanted);
      const first = usable[0];
      if (first === undefined)
        return callback(new Error(`${hostname} has no address of the family`), '', 0);
      return options.all === true
        ? callback(null, [...usable])
        : callback(null, first.address, first.family);
    });
  };

  function refusal(error: unknown): unknown {
    return error instanceof EgressRefused
      ? problem('egressRefused', { host: error.host, reason: error.reason })
      : error;
  }

  function checkLiteral(host: string): void {
    try {
      checkedHost(host);
    } catch (error) {
      throw refusal(error);
    }
  }

  return {
    checkLiteral,
    checkUrl(url, where) {
      const parsed = readUrl(url);
      if (parsed === undefined) {
        throw problem('invalidRequest', {
          reason: `body ${where}: must be an http or https URL without user and password`,
        });
      }
      checkLiteral(parsed.hostname);
    },
    lookup,
    connect,
    connectTls,
    async fetch(url, init = {}) {
      const parsed = readUrl(String(url));
      if (parsed === undefined) throw new EgressRefused(String(url), 'unreadable');
      checkedHost(parsed.hostname);
      return httpClient().fetch(parsed, {
        ...init,
        redirect: 'manual',
        dispatcher: init.dispatcher ?? dispatcher(),
      });
    },
    dispatcher,
    async close() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()));
    },
  };
}

/** Undefined for anything but a plain http or https URL. */
function readUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  return url.username === '' && url.password === '' ? url : undefined;
}

async function resolveBySystem(host: string): Promise<readonly ResolvedAddress[]> {
  return systemLookup(host, { all: true });
}

/** Resolves when the socket says so; otherwise the socket is destroyed. */
function connected<S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  ends: AbortSignal,
): Promise<S> {
  const done = new Promise<S>((resolve, reject) => {
    socket.once(event, () => resolve(socket));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('The connection was closed while it was opened')));
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
