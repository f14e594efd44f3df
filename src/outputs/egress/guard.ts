// Egress guard: connections to targets that a user may choose go to checked addresses only.
// It does not follow redirects, so an answer cannot lead to another target.
import type { LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { problem } from '../../model/problem.ts';
import {
  EgressRefused,
  GuardedConnections,
  HostCheck,
  type HostCheckOptions,
  readHttpUrl,
} from './host-check.ts';
import {
  createHttpExchange,
  type HttpAnswer,
  type HttpCall,
  type HttpExchange,
} from './http-exchange.ts';

export class EgressGuard extends GuardedConnections {
  readonly #hosts: HostCheck;
  readonly #http: HttpExchange;
  /**
   * In place of `dns.lookup`; fails with EgressRefused. Not called by net.connect for numeric
   * hosts: check those first.
   */
  readonly lookup: LookupFunction;

  /** `http` sends the requests; it is closed with the guard. */
  constructor(options: HostCheckOptions, http: HttpExchange = createHttpExchange(options)) {
    const hosts = new HostCheck(options);
    super(hosts);
    this.#hosts = hosts;
    this.#http = http;
    this.lookup = createLookup(hosts);
  }

  /**
   * Throws Problem `egressRefused` (400) for a host that is a forbidden address in any notation, a
   * local name, or no host.
   */
  checkLiteral(host: string): void {
    try {
      this.#hosts.checkedHost(host);
    } catch (error) {
      if (!(error instanceof EgressRefused)) throw error;
      throw problem('egressRefused', { host: error.host, reason: error.reason });
    }
  }

  /**
   * The same for the host of an http or https URL; throws Problem `invalidRequest` for what is no
   * such URL.
   */
  checkUrl(url: string, where: string): void {
    const parsed = readHttpUrl(url);
    if (parsed === undefined) {
      throw problem('invalidRequest', {
        reason: `body ${where}: must be an http or https URL without credentials`,
      });
    }
    this.checkLiteral(parsed.hostname);
  }

  /** Rejects with EgressRefused for a port of the platform itself; for clients that connect alone. */
  async refuseOwn(host: string, port: number): Promise<void> {
    await this.#hosts.placesOf(host, port);
  }

  /**
   * Sends the request and reads the beginning of its answer. A redirect is an answer like any other
   * and is not followed. Rejects with EgressRefused, a network error, or the reason of the signal when
   * that ends the request.
   */
  request(call: HttpCall, signal: AbortSignal): Promise<HttpAnswer> {
    return requestBy(this.#http, call, signal);
  }

  close(): Promise<void> {
    return this.#http.close();
  }
}

function requestBy(http: HttpExchange, call: HttpCall, signal: AbortSignal): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const abort = (): void => {
      stop();
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', abort, { once: true });
    const stop = http.start(call, (result) => {
      signal.removeEventListener('abort', abort);
      if (result instanceof Error) reject(result);
      else resolve(result);
    });
  });
}

function createLookup(hosts: HostCheck): LookupFunction {
  const askAddresses = callbackify((host: string) => hosts.addressesOf(host));
  return (hostname, options, callback) => {
    askAddresses(hostname, (error, addresses) => {
      if (error !== null) return callback(error, '', 0);
      const usable = addresses.filter(
        ({ family }) => (familyOf(options.family) ?? family) === family,
      );
      const [first] = usable;
      if (first === undefined)
        return callback(new Error(`${hostname} has no address in this address family`), '', 0);
      if (options.all === true) return callback(null, [...usable]);
      return callback(null, first.address, first.family);
    });
  };
}

/** Undefined for any family. */
function familyOf(asked: unknown): 4 | 6 | undefined {
  if (asked === 4 || asked === 6) return asked;
  return undefined;
}

// Guarded fetch: requests of libraries that expect `fetch`, sent through the egress guard.

type GuardedFetch = (
  url: string,
  init: {
    readonly method?: string | undefined;
    readonly headers?: Headers | Readonly<Record<string, string>> | undefined;
    readonly body?: unknown;
    readonly signal?: AbortSignal | null | undefined;
  },
) => Promise<Response>;

const fetchLimits = { answerBytesMax: 256 * 1024, waitMs: 10_000 } as const;
/** A `Response` of these has no body. */
const bodiless = new Set([204, 205, 304]);

/**
 * The guard does not check addresses of the origin that the operator trusts. Redirects are answers
 * like any other.
 */
export function createGuardedFetch(egress: EgressGuard, trustedUrl: string): GuardedFetch {
  const { origin } = new URL(trustedUrl);
  return async (url, { method = 'GET', headers = {}, body, signal }) => {
    const late = AbortSignal.timeout(fetchLimits.waitMs);
    const answer = await egress.request(
      {
        method,
        url,
        headers: Object.fromEntries(new Headers(headers).entries()),
        ...(body !== undefined && body !== null && { body: textOf(body) }),
        ...(new URL(url).origin === origin && { isOperators: true as const }),
        answerBytesMax: fetchLimits.answerBytesMax,
      },
      signal === undefined || signal === null ? late : AbortSignal.any([signal, late]),
    );
    const { status, contentType, text } = answer;
    return new Response(bodiless.has(status) ? null : text, {
      status,
      headers: contentType === undefined ? {} : { 'content-type': contentType },
    });
  };
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  if (body instanceof Uint8Array) return Buffer.from(body).toString('utf8');
  throw new TypeError('The body of a request must be a string, bytes or form fields');
}
