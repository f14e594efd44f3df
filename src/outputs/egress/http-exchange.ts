// HTTP exchange: sends requests over guarded connections and reads the beginning of each answer.
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { callbackify } from 'node:util';
import type * as Undici from 'undici';
import type { Agent, buildConnector, Dispatcher } from 'undici';
import { createBoundedMap } from '../../structures/caches.ts';
import { GuardedConnections, HostCheck, type HostCheckOptions } from './host-check.ts';

// HTTP pools: kept connections of the HTTP client, guarded ones per set of certificates.

const poolLimits = {
  connectionsPerOriginMax: 16,
  keepAliveMs: 10_000,
  /** Pools with certificates of their own that are kept. */
  poolsMax: 64,
  headersBytesMax: 64 * 1024,
} as const;

class HttpPools {
  readonly #connections: GuardedConnections;
  readonly #httpClient: () => typeof Undici;
  readonly #options = {
    connections: poolLimits.connectionsPerOriginMax,
    keepAliveTimeout: poolLimits.keepAliveMs,
    maxHeaderSize: poolLimits.headersBytesMax,
    pipelining: 1,
  } as const;
  readonly #withCertificates;
  #plain: Agent | undefined;
  #operators: Agent | undefined;

  constructor(connections: GuardedConnections, httpClient: () => typeof Undici) {
    this.#connections = connections;
    this.#httpClient = httpClient;
    // Requests in progress end first.
    const closed = (agent: Agent): void => void agent.close().catch(() => undefined);
    this.#withCertificates = createBoundedMap<string, Agent>(poolLimits.poolsMax, closed);
  }

  readonly close = async (): Promise<void> => {
    const agents = [this.#plain, this.#operators, ...this.#withCertificates.values()];
    await Promise.all(agents.flatMap((agent) => agent?.destroy() ?? []));
  };

  /** Connections to any target, made with the certificates. */
  poolOf({ ca, isOperators }: { readonly ca?: string; readonly isOperators?: true }): Dispatcher {
    if (isOperators === true) return (this.#operators ??= this.#made());
    if (ca === undefined)
      return (this.#plain ??= this.#made(createConnector(this.#connections, {})));
    return this.#poolWith(ca);
  }

  #made(connect?: buildConnector.connector): Agent {
    return new (this.#httpClient().Agent)({
      ...this.#options,
      ...(connect !== undefined && { connect }),
    });
  }

  #poolWith(ca: string): Agent {
    const known = this.#withCertificates.use(ca);
    if (known !== undefined) return known;
    const agent = this.#made(createConnector(this.#connections, { ca }));
    this.#withCertificates.set(ca, agent);
    return agent;
  }
}

function createConnector(
  connections: GuardedConnections,
  tls: ConnectionOptions,
): buildConnector.connector {
  const open = callbackify(
    async ({ hostname, protocol, port }: buildConnector.Options): Promise<Socket> => {
      if (protocol !== 'https:')
        return connections.connect({ host: hostname, port: Number(port) || 80 });
      const target = { host: hostname, port: Number(port) || 443 };
      return connections.connectTls(target, { ALPNProtocols: ['http/1.1'], ...tls });
    },
  );
  return (options, done) => {
    open(options, (error, socket) => {
      if (error === null) done(null, socket);
      else done(error, null);
    });
  };
}

const require = createRequire(import.meta.url);

/** Loaded with the first request, because the HTTP client takes 20 MiB and a tenth of a second. */
const httpClient = () => require('undici') as typeof Undici;

const answerLimits = {
  /** The part of an answer that is kept when the call names no other. */
  keptBytesMax: 16 * 1024,
  /** The part that is read, so that the connection can be used again. */
  readBytesMax: 256 * 1024,
} as const;

/** Addresses of requests that are kept after they were parsed. */
const addressesMax = 1_000;

export interface HttpCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Certificates in PEM that the target may have besides those of the system. */
  readonly ca?: string;
  /** The address comes from the operator, and the guard does not check it. */
  readonly isOperators?: true;
  /** The part of the answer that is kept, 16 KiB by default. */
  readonly answerBytesMax?: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly retryAfter?: string | undefined;
  readonly location?: string | undefined;
  readonly contentType?: string | undefined;
  readonly text: string;
}

export interface HttpExchange {
  /**
   * Sends the request. Calls `done` once, never before it returns, with the answer, EgressRefused or
   * the network's error. The returned function ends the request without a call of `done`.
   */
  start(call: HttpCall, done: (result: HttpAnswer | Error) => void): () => void;
  /** Ends all requests and connections. */
  close(): Promise<void>;
}

/** An exchange in this thread. It follows no redirect, so an answer cannot lead to another target. */
export function createHttpExchange(options: HostCheckOptions): HttpExchange {
  const pools = new HttpPools(new GuardedConnections(new HostCheck(options)), httpClient);
  const addresses = createBoundedMap<string, Address>(addressesMax);

  function addressOf(url: string): Address {
    const known = addresses.get(url);
    if (known !== undefined) return known;
    const address = parseAddress(url);
    addresses.set(url, address);
    return address;
  }

  return {
    start(call, done) {
      const reading = createAnswerReading(call.answerBytesMax ?? answerLimits.keptBytesMax, done);
      try {
        const { method, headers, body } = call;
        const request = {
          ...addressOf(call.url),
          method,
          headers,
          ...(body !== undefined && { body }),
        };
        pools.poolOf(call).dispatch(request, reading.handler);
      } catch (error) {
        queueMicrotask(() => reading.failed(error as Error));
      }
      return reading.stop;
    },
    close: pools.close,
  };
}

interface Address {
  readonly origin: string;
  readonly path: string;
}

/** Throws a TypeError for an invalid URL. */
function parseAddress(url: string): Address {
  const { origin, protocol, pathname, search } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new (httpClient().errors.InvalidArgumentError)('the URL must start with http: or https:');
  return { origin, path: pathname + search };
}

/**
 * Collects the beginning of an answer. The rest of a longer one is not read. `request` of the package
 * creates a stream for each answer, which costs more than everything else.
 */
function createAnswerReading(keptBytesMax: number, done: (result: HttpAnswer | Error) => void) {
  const kept: Buffer[] = [];
  let bytes = 0;
  let head: Omit<HttpAnswer, 'text'> | undefined;
  let running: Dispatcher.DispatchController | undefined;
  let isOver = false;
  const end = (result: HttpAnswer | Error): void => {
    if (isOver) return;
    isOver = true;
    done(result);
  };
  const answered = (): void => {
    if (head === undefined) end(new Error('The connection closed without a response'));
    else end({ ...head, text: textOf(kept) });
  };
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(controller) {
      running = controller;
      if (isOver) controller.abort(new Error('The request was aborted'));
    },
    onResponseStart(_controller, status, headers) {
      if (status < 200) return;
      const header = (name: string) => [headers[name]].flat()[0];
      head = {
        status,
        retryAfter: header('retry-after'),
        location: header('location'),
        contentType: header('content-type'),
      };
    },
    onResponseData(controller, chunk) {
      if (bytes < keptBytesMax) kept.push(chunk.subarray(0, keptBytesMax - bytes));
      bytes += chunk.length;
      if (bytes <= answerLimits.readBytesMax) return;
      answered();
      controller.abort(new Error('The response exceeds the size limit'));
    },
    onResponseEnd: answered,
    onResponseError: (_controller, error) => end(error),
  };
  return {
    handler,
    failed: end,
    stop() {
      isOver = true;
      running?.abort(new Error('The request was aborted'));
    },
  };
}

function textOf(kept: readonly Buffer[]): string {
  const [only] = kept;
  if (only === undefined) return '';
  return (kept.length === 1 ? only : Buffer.concat(kept)).toString('utf8');
}
