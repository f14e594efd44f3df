// JSON answers: with an entity tag when they are read, and compressed when the client accepts it, few at a time.
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib';
import { EdgeResponse } from '../threads/edge-exchange.ts';
import { type LeftJson, textOfLeft, UnwrittenJson } from '../../query/unwritten-json.ts';
import { placeIn } from './direct-exchange.ts';
import type { EdgeReply, EdgeRequest } from './exchange.ts';

// Compression of answers: br or gzip at a cheap level, few at a time to leave room for other work.

/** Shorter answers fit in a few packets in any case. */
const compressedBytesMin = 2 * 1024;
/** Longer ones are compressed on another thread; for shorter ones the way there costs more. */
const ownThreadBytesMax = 16 * 1024;
/** Of the threads that also sync the journal. */
const runningMax = 2;
/** More answers than these are sent as they are. */
const waitingMax = 50;

export type Coding = 'br' | 'gzip';

const brotliOptions = {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: 3,
    // The window decides the memory of each compression.
    [constants.BROTLI_PARAM_LGWIN]: 18,
  },
};
const gzipOptions = { level: 1 };

interface Coder {
  readonly sync: (bytes: Uint8Array) => Uint8Array;
  readonly async: (bytes: Uint8Array) => Promise<Uint8Array>;
}

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

const coders: Readonly<Record<Coding, Coder>> = {
  br: {
    sync: (bytes) => brotliCompressSync(bytes, brotliOptions),
    async: (bytes) => brotliAsync(bytes, brotliOptions),
  },
  gzip: {
    sync: (bytes) => gzipSync(bytes, gzipOptions),
    async: (bytes) => gzipAsync(bytes, gzipOptions),
  },
};

class Compressor {
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** Undefined while too many answers wait: they are sent as they are. */
  compress(coding: Coding, bytes: Uint8Array): Uint8Array | Promise<Uint8Array> | undefined {
    if (bytes.length <= ownThreadBytesMax) return coders[coding].sync(bytes);
    return this.#waiting.length < waitingMax ? this.#inTurn(coding, bytes) : undefined;
  }

  async #inTurn(coding: Coding, bytes: Uint8Array): Promise<Uint8Array> {
    if (this.#running >= runningMax)
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await coders[coding].async(bytes);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

const allCodings: readonly Coding[] = ['br', 'gzip'];

/**
 * The coding that the client prefers of those offered, in their order where it prefers none;
 * undefined for none. `gzip;q=0` is a refusal.
 */
export function acceptedCoding(
  header: string | string[] | undefined,
  offered: readonly Coding[] = allCodings,
): Coding | undefined {
  if (header === undefined) return undefined;
  const weights = weightsOf(String(header));
  let best: Coding | undefined;
  let bestWeight = 0;
  for (const coding of offered) {
    const weight = weights.get(coding) ?? weights.get('*') ?? 0;
    if (weight > bestWeight) [best, bestWeight] = [coding, weight];
  }
  return best;
}

function weightsOf(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const given = parameters.find((parameter) => parameter.startsWith('q='));
    const weight = given === undefined ? 1 : Number(given.slice(2));
    weights.set(name, weight > 0 ? weight : 0);
  }
  return weights;
}

const jsonType = 'application/json; charset=utf-8';

/** One for the process, because its threads are. */
const compressor = new Compressor();

/** Which of the two a request gets; the path says what is tagged. */
type Asked = EdgeRequest;

/** Whether the body is JSON: an object that will be written, or JSON that is written already. */
export function isJsonAnswer(reply: EdgeReply, body: unknown): boolean {
  const type = reply.getHeader('content-type');
  const isNamedJson = typeof type === 'string' && type.includes('json');
  if (typeof body === 'string') return isNamedJson;
  if (typeof body !== 'object' || body === null || body instanceof Uint8Array) return false;
  return type === undefined || isNamedJson;
}

/** `status` and further headers are set. The answer to a tag that the client has is a 304. */
export function sendJson(
  request: Asked,
  reply: EdgeReply,
  body: unknown,
): undefined | Promise<void> {
  const edge = edgeOf(reply);
  if (edge !== undefined && body instanceof UnwrittenJson && !isTagged(request, reply)) {
    const packed = body.packed();
    if (packed !== undefined) return leave(edge, packed, reply);
  }
  const json = textOf(body);
  if (isTagged(request, reply)) {
    const tag = entityTagOf(json);
    reply.header('etag', tag);
    if (namesTag(request.headers['if-none-match'], tag)) {
      reply.code(304);
      reply.send();
      return undefined;
    }
  }
  if (reply.getHeader('content-type') === undefined) reply.header('content-type', jsonType);
  if (edge !== undefined && json.length <= ownThreadBytesMax) return leave(edge, json, reply);
  // No character takes less than a byte.
  if (json.length < compressedBytesMin && Buffer.byteLength(json) < compressedBytesMin) {
    reply.send(json);
    return undefined;
  }
  return sendLong(request, reply, json);
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  return body instanceof UnwrittenJson ? body.text() : JSON.stringify(body);
}

/** The answer, when an edge thread sends it. */
function edgeOf({ raw }: EdgeReply): EdgeResponse | undefined {
  return raw instanceof EdgeResponse && raw.takesJson ? raw : undefined;
}

function leave(edge: EdgeResponse, json: LeftJson, reply: EdgeReply): undefined {
  edge.json = json;
  reply.send('');
}

/**
 * The body of an answer that was left to this thread. `head` has names and values in turn, and becomes
 * what it would be if the main thread had completed it.
 */
export function completeJson(
  head: string[],
  left: LeftJson,
  accepted: string | string[] | undefined,
): string | Uint8Array {
  const json = textOfLeft(left);
  head.splice(placeIn(head, 'content-length'), 2);
  const body =
    Buffer.byteLength(json) < compressedBytesMin ? json : compressed(head, json, accepted);
  head.push('content-length', String(Buffer.byteLength(body)));
  return body;
}

function compressed(
  head: string[],
  json: string,
  accepted: string | string[] | undefined,
): string | Uint8Array {
  const vary = placeIn(head, 'vary');
  if (vary === -1) head.push('vary', varied(undefined));
  else head[vary + 1] = varied(head[vary + 1]);
  const coding = acceptedCoding(accepted);
  if (coding === undefined) return json;
  head.push('content-encoding', coding);
  return coders[coding].sync(Buffer.from(json));
}

function isTagged({ method, url }: Asked, { statusCode }: EdgeReply): boolean {
  return (method === 'GET' || method === 'HEAD') && statusCode === 200 && url.startsWith('/v3/');
}

function sendLong(request: Asked, reply: EdgeReply, json: string): undefined | Promise<void> {
  reply.header('vary', varied(reply.getHeader('vary')));
  const coding = acceptedCoding(request.headers['accept-encoding']);
  const compressed = coding && compressor.compress(coding, Buffer.from(json));
  if (coding === undefined || compressed === undefined) {
    reply.send(json);
    return undefined;
  }
  const send = (bytes: Uint8Array): void => {
    reply.header('content-encoding', coding);
    reply.send(bytes);
  };
  if (compressed instanceof Promise) return compressed.then(send);
  send(compressed);
  return undefined;
}

/** Caches keep an answer for each coding, and for each origin where pages of others may call. */
function varied(known: unknown): string {
  return typeof known === 'string' ? `${known}, Accept-Encoding` : 'Accept-Encoding';
}

// Entity tags: the same JSON has the same tag, so that a client asks for it without reading it again.

/** Weak, because the same JSON is also sent compressed. */
function entityTagOf(json: string): string {
  return `W/"${hash('sha256', json, 'base64url').slice(0, 27)}"`;
}

/** Whether `If-None-Match` names the tag; `*` means every tag. */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const opaque = withoutWeakness(tag);
  return header
    .split(',')
    .map((one) => one.trim())
    .some((one) => one === '*' || withoutWeakness(one) === opaque);
}

function withoutWeakness(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
