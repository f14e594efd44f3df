// Requests: one call with its retries, which an Idempotency-Key makes harmless.
import { type Answer, withIdleLimit } from './idle-limit.ts';
import type { CallSettings } from './interface-calls.ts';
import { refusalOf, unreachable } from './refusal.ts';

export interface ClientOptions {
  /** Address of the platform, such as `https://iot.example.com`. */
  readonly url: string;
  readonly apiKey?: string | undefined;
  /** Instead of an API key: an access token, or a function that returns a current one. */
  readonly accessToken?: string | (() => string | Promise<string>) | undefined;
  /** Tries of a call; 5 by default, 1 for no retries. */
  readonly triesMax?: number;
  /** How long a try waits for the headers, and for each part of the body; 60 seconds by default. */
  readonly timeoutMs?: number;
  /** Bodies of at least this many bytes are sent gzipped; none by default. */
  readonly gzipFromBytes?: number;
  /** Sends one try in place of the `fetch` of the runtime; rejects without an answer. */
  readonly fetch?: (address: string, request: FetchRequest) => Promise<Answer>;
}

/** A part of `RequestInit`. */
export interface FetchRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly signal: AbortSignal;
}

export interface AnyCall extends CallSettings {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** Resolves with an answer of success, whose body is not read yet. Throws HeliographError. */
export type Send = (method: string, path: string, call?: AnyCall) => Promise<Answer>;

const firstPauseMs = 250;
const pauseMsMax = 30_000;
/** Answers after which the same call can succeed. */
const passing: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504, 507]);

export function createSend(options: ClientOptions): Send {
  const { url, triesMax = 5, timeoutMs = 60_000 } = options;
  const base = url.replace(/\/+$/, '');
  const send = options.fetch ?? fetch;

  async function attempt(request: Prepared, signal: AbortSignal | undefined): Promise<Answer> {
    const headers = { ...request.headers, ...(await credentialOf(options)) };
    const { method, address, body } = request;
    return withIdleLimit(timeoutMs, signal, (ended) =>
      send(address, { method, headers, signal: ended, ...(body !== undefined && { body }) }),
    );
  }

  return async (method, path, call = {}) => {
    const request = await gzipped(prepared(base, method, path, call), options.gzipFromBytes);
    const what = `${request.method} ${path}`;
    const { signal } = call;
    for (let tries = 1; ; tries++) {
      signal?.throwIfAborted();
      let answer: Answer | undefined;
      try {
        answer = await attempt(request, signal);
      } catch (error) {
        signal?.throwIfAborted();
        if (tries >= triesMax) throw unreachable(what, error);
      }
      if (answer?.ok === true) return answer;
      if (answer !== undefined && (!passing.has(answer.status) || tries >= triesMax))
        throw refusalOf(what, answer, await bodyOf(answer));
      await pause(pauseMs(tries, answer), signal);
    }
  };
}

/** JSON as a value, other bodies as strings; undefined for an empty one. */
export async function bodyOf(answer: Answer): Promise<unknown> {
  const text = await answer.text();
  if (text === '') return undefined;
  const isJson = /^application\/(?:.+\+)?json/.test(answer.headers.get('content-type') ?? '');
  return isJson ? JSON.parse(text) : text;
}

interface Prepared {
  readonly method: string;
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
}

function prepared(base: string, method: string, path: string, call: AnyCall): Prepared {
  const { body, contentType = 'application/json', idempotencyKey } = call;
  const isSent = body !== undefined;
  const verb = method.toUpperCase();
  return {
    method: verb,
    address: base + filledIn(path, call.path) + queryText(call.query),
    headers: {
      accept: 'application/json, */*;q=0.5',
      ...call.headers,
      ...(isSent && { 'content-type': contentType }),
      ...(verb === 'POST' &&
        idempotencyKey !== '' && { 'idempotency-key': idempotencyKey ?? randomKey() }),
    },
    body: isSent ? bytesOf(body) : undefined,
  };
}

/** Browsers have `randomUUID` only on pages over HTTPS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function bytesOf(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (body instanceof Uint8Array) return body as Uint8Array<ArrayBuffer>;
  return typeof body === 'string' ? body : JSON.stringify(body);
}

async function gzipped(request: Prepared, fromBytes = Number.POSITIVE_INFINITY): Promise<Prepared> {
  const { body, headers } = request;
  if (body === undefined || body.length < fromBytes) return request;
  const compressed = new Response(body).body?.pipeThrough(new CompressionStream('gzip'));
  const bytes = await new Response(compressed ?? null).arrayBuffer();
  return {
    ...request,
    headers: { ...headers, 'content-encoding': 'gzip' },
    body: new Uint8Array(bytes),
  };
}

/** Throws for a name without a value. */
function filledIn(path: string, values: AnyCall['path'] = {}): string {
  return path.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined || value === '') throw new TypeError(`${path} needs path.${name}`);
    return encodeURIComponent(String(value));
  });
}

/** Lists are repeated names; what is undefined is not sent. */
function queryText(query: AnyCall['query'] = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const one of values) if (one !== undefined) parameters.append(name, String(one));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

async function credentialOf({ apiKey, accessToken }: ClientOptions) {
  if (apiKey !== undefined) return { 'x-api-key': apiKey };
  if (accessToken === undefined) return {};
  const token = typeof accessToken === 'string' ? accessToken : await accessToken();
  return { authorization: `Bearer ${token}` };
}

/** What the platform asks for, else twice as long each time, and not the same for all clients. */
function pauseMs(tries: number, answer: Answer | undefined): number {
  const asked = Number(answer?.headers.get('retry-after') ?? Number.NaN) * 1_000;
  if (asked >= 0) return Math.min(asked, pauseMsMax);
  return Math.min(firstPauseMs * 2 ** (tries - 1), pauseMsMax) * (0.5 + Math.random() / 2);
}

/** Rejects when the signal ends it. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const ended = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', ended);
      resolve();
    }, ms);
    signal?.addEventListener('abort', ended, { once: true });
  });
}
