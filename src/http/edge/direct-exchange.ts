// Direct exchange: a request that is read, and an answer that is written, without the framework.
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { missing } from '../../structures/missing.ts';
import { joinedChunks } from '../../structures/bytes.ts';
import { isReadWhole } from './body-parsers.ts';
import type { EdgeReply, EdgeRequest, RequestState } from './exchange.ts';
import { isPlain } from './request-body.ts';
import { requestIdOf } from './admission.ts';
import { bodyBytesMaxDefault } from './route.ts';
import { setContentPolicy } from './security-headers.ts';

// Plain bodies: JSON and payloads of a known length within the limit. The framework reads every other body.

/** Most requests: what needs no look at its parts. */
const jsonTypes = new Set([
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=utf-8',
  'application/json; charset=UTF-8',
  'application/json;charset=UTF-8',
]);

/** The bytes of the body that follows; undefined when it is not plain. */
export function plainBodyBytes(
  message: IncomingMessage,
  route: { readonly bodyBytesMax?: number; readonly payload?: true },
): number | undefined {
  const { method, headers } = message;
  const { bodyBytesMax = bodyBytesMaxDefault } = route;
  if (headers['transfer-encoding'] !== undefined) return undefined;
  const bytes = Number(headers['content-length'] ?? 0);
  if (!(bytes <= bodyBytesMax)) return undefined;
  const type = headers['content-type'];
  if (method === 'GET' || method === 'HEAD') return bytes === 0 ? 0 : undefined;
  if (type === undefined && bytes === 0) return 0;
  const isWhole = (type !== undefined && jsonTypes.has(type)) || isReadWhole(route, headers);
  return isWhole && isPlain(message) ? bytes : undefined;
}

/**
 * Reads the whole body, without waiting when all of it is there. Throws an error with status 400 when the
 * sender breaks it off.
 */
export function readBody(raw: IncomingMessage, bytes: number): Buffer | Promise<Buffer> {
  const begun = raw.read() as Buffer | null;
  if (begun?.length === bytes) return begun;
  return readRest(raw, begun === null ? [] : [begun]);
}

function readRest(raw: IncomingMessage, chunks: Buffer[]): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(Object.assign(error, { statusCode: 400 }));
    // The sender may have left during admission.
    if (raw.destroyed) return fail(new Error('The client aborted the request'));
    raw.on('data', (chunk: Buffer) => void chunks.push(chunk));
    raw.once('end', () => resolve(joinedChunks(chunks)));
    raw.once('error', fail);
  });
}

// Direct request: a request that is served without the framework, as the edge reads it.

// A class, because there is one for each request, and most of its getters are not read.
export class DirectRequest implements EdgeRequest {
  readonly id: string;
  readonly raw: IncomingMessage;
  readonly params: unknown;
  readonly query: unknown;
  readonly routeOptions: NonNullable<EdgeRequest['routeOptions']>;
  readonly edgeState: RequestState = { bodyBytes: 0 };
  body: unknown;
  readonly #addressOf: (raw: IncomingMessage) => string;

  constructor(
    raw: IncomingMessage,
    routeOptions: NonNullable<EdgeRequest['routeOptions']>,
    params: unknown,
    query: unknown,
    addressOf: (raw: IncomingMessage) => string,
  ) {
    this.id = requestIdOf(raw.headers['x-request-id']);
    this.raw = raw;
    this.params = params;
    this.query = query;
    this.routeOptions = routeOptions;
    this.body = undefined;
    this.#addressOf = addressOf;
  }

  get method(): string {
    return this.raw.method ?? '';
  }

  get url(): string {
    return this.raw.url ?? '';
  }

  get headers(): IncomingHttpHeaders {
    return this.raw.headers;
  }

  get ip(): string {
    return this.#addressOf(this.raw);
  }
}

type HeaderValue = string | readonly string[];

const jsonType = 'application/json; charset=utf-8';
const stringType = 'text/plain; charset=utf-8';
const bytesType = 'application/octet-stream';

// A class, because there is one for each request.
export class DirectReply implements EdgeReply {
  readonly request: EdgeRequest;
  readonly raw: ServerResponse;
  statusCode = 200;
  /** Resolves when a stream is answered, rejects when it failed before its first byte. */
  streamed: Promise<void> | undefined;
  /** Names and values in turn. */
  #head: HeaderValue[] = [];
  readonly #startedAt = performance.now();

  constructor(request: EdgeRequest, response: ServerResponse) {
    this.request = request;
    this.raw = response;
  }

  get elapsedTime(): number {
    return performance.now() - this.#startedAt;
  }

  code(status: number): void {
    this.statusCode = status;
  }

  getHeader(name: string): HeaderValue | undefined {
    const at = this.#placeOf(name);
    return at === -1 ? undefined : this.#head[at + 1];
  }

  header(name: string, value: unknown): void {
    const written = Array.isArray(value) ? value.map(String) : String(value);
    const at = this.#placeOf(name);
    if (at === -1) this.#head.push(name, written);
    else this.#head[at + 1] = written;
  }

  headers(values: Readonly<Record<string, string>>): void {
    // Those of every answer come first and are always the same.
    if (this.#head.length === 0) this.#head = headOf(values).slice();
    else for (const name of Object.keys(values)) this.header(name, values[name]);
  }

  send(body?: unknown): void {
    if (body === undefined) return this.#end(undefined);
    if (body instanceof Readable) {
      this.streamed = this.#stream(body);
      return undefined;
    }
    return this.#end(this.#written(body));
  }

  /** The body as it goes out; sets its content type, as the framework does. */
  #written(body: unknown): string | Uint8Array {
    const type = this.getHeader('content-type');
    if (type === undefined) this.header('content-type', typeOf(body));
    else if (typeof type === 'string' && type.includes('json') && !type.includes('charset'))
      this.header('content-type', `${type}; charset=utf-8`);
    if (typeof body === 'string' || body instanceof Uint8Array) return body;
    return JSON.stringify(body);
  }

  #end(body: string | Uint8Array | undefined): void {
    const { statusCode } = this;
    setContentPolicy(this);
    if (body !== undefined) this.header('content-length', Buffer.byteLength(body));
    else if (statusCode !== 204 && statusCode !== 304 && this.request.method !== 'HEAD')
      this.header('content-length', '0');
    this.raw.writeHead(statusCode, this.#head as string[]).end(body);
  }

  async #stream(body: Readable): Promise<void> {
    const response = this.raw;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    try {
      // A stream that fails before its first byte is answered with an error body.
      if (!body.readableEnded) await once(body, 'readable', { signal: gone.signal });
    } catch (error) {
      body.destroy();
      if (gone.signal.aborted) return;
      throw error;
    }
    setContentPolicy(this);
    response.statusCode = this.statusCode;
    const head = this.#head;
    // Written with the first byte, so that an empty stream has a length.
    for (let at = 0; at < head.length; at += 2)
      response.setHeader(head[at] as string, head[at + 1] ?? missing('header value'));
    // Later failures end the connection, so that the client knows.
    await pipeline(body, response).catch(() => response.destroy());
  }

  #placeOf(name: string): number {
    return placeIn(this.#head, name);
  }
}

/** Where the field stands in a head of names and values in turn; -1 where it does not. */
export function placeIn(head: readonly HeaderValue[], name: string): number {
  for (let at = 0; at < head.length; at += 2) if (head[at] === name) return at;
  return -1;
}

const heads = new WeakMap<Readonly<Record<string, string>>, readonly string[]>();

/** Names and values in turn, kept for the next answer. */
function headOf(values: Readonly<Record<string, string>>): readonly string[] {
  const known = heads.get(values);
  if (known !== undefined) return known;
  const head = Object.entries(values).flat();
  heads.set(values, head);
  return head;
}

function typeOf(body: unknown): string {
  if (typeof body === 'string') return stringType;
  return body instanceof Uint8Array ? bytesType : jsonType;
}
