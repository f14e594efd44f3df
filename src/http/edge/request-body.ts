// Request body: inflated, limited and with back-pressure, in one place for every route (contract 42).
import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import type { BodyStream } from '../../contract/endpoint.ts';
import { problem } from '../../model/problem.ts';
import { Utf8Check } from '../../structures/bytes.ts';

/** Chunks of inflated bodies: short ones, and those of bodies that may be long, which have memory of their own. */
const shortBytes = 16 * 1024;
export const longBytes: number = 128 * 1024;

/** What a refused coding is told to send instead (RFC 7694). */
export const acceptedCodings = 'gzip, deflate, br';

/** How the inflating of a body shares memory and time with others. */
export interface Inflation {
  /** Told of received bytes before they are kept. Throws Problem `intakeFull` when too many wait. */
  readonly take: (bytes: number) => void;
  /** Told the bytes that were inflated so far; resolves when the next ones may be. */
  readonly next: (bytes: number) => Promise<void> | undefined;
}

interface BodyOptions {
  readonly bytesMax: number;
  /** Counts the bytes as they arrive. */
  readonly received?: { bytes: number };
  /** The longest chunk of an inflated body. */
  readonly chunkBytes?: number;
  /** Without it a body is inflated as fast as it is read. */
  readonly inflation?: Inflation | undefined;
}

/**
 * The body as its sender wrote it, chunk by chunk. A compressed one is received whole before it is
 * inflated: a slow sender must not keep a place that others wait for. Throws Problem 415 for an
 * unknown coding, 400 for a compressed body that is not valid, and 413: for a body that says its
 * length before anything is read, else with the chunk that passes the limit, received or inflated.
 * A body that breaks off throws an error with status 400.
 */
export async function* bodyChunks(
  message: IncomingMessage,
  options: BodyOptions,
): AsyncGenerator<Uint8Array> {
  const { bytesMax } = options;
  refuseMore(Number(message.headers['content-length'] ?? 0), bytesMax);
  const coding = codingOf(message);
  let bytes = 0;
  const chunks =
    coding === 'identity'
      ? receivedChunks(message, options.received)
      : inflated(message, coding, options);
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    refuseMore(bytes, bytesMax);
    yield chunk;
  }
}

function refuseMore(bytes: number, bytesMax: number): void {
  if (bytes > bytesMax) throw problem('payloadTooLarge', { bytesMax });
}

/** The chunks of a text. Throws Problem 400 for one that is not UTF-8. */
export async function* utf8Chunks(body: BodyStream): AsyncGenerator<Uint8Array> {
  const check = new Utf8Check();
  for await (const chunk of body) {
    refuseFault(check.add(chunk));
    yield chunk;
  }
  refuseFault(check.end());
}

function refuseFault(byte: number | undefined): void {
  if (byte !== undefined) throw problem('notUtf8', { byte });
}

/** Whether the bytes that arrive are the body. */
export function isPlain({ headers }: IncomingMessage): boolean {
  return headers['content-encoding'] === undefined;
}

type Coding = 'identity' | 'gzip' | 'deflate' | 'br';

const codings: Readonly<Record<string, Coding>> = {
  identity: 'identity',
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  br: 'br',
};

function codingOf({ headers }: IncomingMessage): Coding {
  const sent = headers['content-encoding'] ?? '';
  const names = sent.split(',').map((name) => name.trim().toLowerCase());
  const applied = names.filter((name) => name !== '' && name !== 'identity');
  const [name = 'identity', ...others] = applied;
  const coding = codings[name];
  if (coding === undefined || others.length > 0)
    throw problem('contentEncodingUnsupported', { coding: sent.slice(0, 100) });
  return coding;
}

async function* receivedChunks(
  message: IncomingMessage,
  received = { bytes: 0 },
): AsyncGenerator<Uint8Array> {
  try {
    // The socket must outlive a reader that stops early: the answer goes back on it.
    for await (const chunk of message.iterator({ destroyOnReturn: false })) {
      received.bytes += (chunk as Uint8Array).length;
      yield chunk as Uint8Array;
    }
  } catch (error) {
    throw Object.assign(error as Error, { statusCode: 400 });
  }
}

async function* inflated(
  message: IncomingMessage,
  coding: Exclude<Coding, 'identity'>,
  { chunkBytes = shortBytes, inflation, ...options }: BodyOptions,
): AsyncGenerator<Uint8Array> {
  const sent = await compressedBody(message, { ...options, inflation });
  const [first] = sent;
  // Some senders name a coding and send nothing.
  if (first === undefined) return;
  const inflater = inflaterOf(coding, first, { chunkSize: chunkBytes });
  for (const chunk of sent) inflater.write(chunk);
  inflater.end();
  const chunks = inflater[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let bytes = 0;
  try {
    for (;;) {
      // The inflater stops when what is ahead of its reader is a chunk or two.
      const waited = inflation?.next(bytes);
      if (waited !== undefined) await waited;
      const next = await chunks.next().catch((error: unknown) => {
        throw problem('compressedBodyInvalid', { reason: reasonOf(error) });
      });
      if (next.done === true) return;
      bytes += next.value.byteLength;
      yield next.value;
    }
  } finally {
    inflater.destroy();
  }
}

async function compressedBody(
  message: IncomingMessage,
  { bytesMax, received, inflation }: BodyOptions,
): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of receivedChunks(message, received)) {
    bytes += chunk.byteLength;
    refuseMore(bytes, bytesMax);
    inflation?.take(chunk.byteLength);
    chunks.push(chunk);
  }
  return chunks;
}

const zlibMethod = 8;

function inflaterOf(
  coding: Exclude<Coding, 'identity'>,
  first: Uint8Array,
  options: { readonly chunkSize: number },
): Transform {
  if (coding === 'gzip') return createGunzip(options);
  if (coding === 'br') return createBrotliDecompress(options);
  // Some senders leave the header of zlib out.
  const isWrapped = ((first[0] ?? 0) & 0x0f) === zlibMethod;
  return isWrapped ? createInflate(options) : createInflateRaw(options);
}

/** In the words of the server that senders of line protocol know. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'Z_BUF_ERROR' ? 'unexpected EOF' : message;
}

/** Bytes copied in one turn of the event loop. */
const bytesPerTurn = 8 * 1024 * 1024;

/** The entire body in a separate buffer; the route's `bodyBytesMax` bounds it. */
export async function bytesOf(body: BodyStream): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
  }
  const whole = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    if (Math.floor((at + chunk.length) / bytesPerTurn) > Math.floor(at / bytesPerTurn))
      await nextTurn();
    at += chunk.length;
  }
  return whole;
}

// Multipart bodies: the first file of a multipart/form-data body (RFC 7578), the only part that uploads use.

interface UploadedFile {
  readonly name: string;
  readonly contentType: string | undefined;
  readonly content: Buffer;
}

// Not @fastify/multipart: it takes the body over, with other limits and error answers than those of
// the uploads without multipart.
const headersLengthMax = 8 * 1024;

/**
 * The whole body as a file of the query's name, or the first file of a multipart body. Throws 400
 * when there is none.
 */
export function uploadedFile(
  contentType: string | undefined,
  body: Buffer,
  name: string | undefined,
): UploadedFile {
  if (!contentType?.toLowerCase().startsWith('multipart/form-data')) {
    return { name: name ?? 'blob', contentType, content: body };
  }
  const boundary = /boundary=(?:"([^"]{1,70})"|([^\s;,]{1,70}))/i.exec(contentType);
  const mark = boundary?.[1] ?? boundary?.[2];
  if (mark === undefined) throw refused('the content type has no boundary');
  const file = firstFile(body, mark);
  return { ...file, name: name ?? file.name };
}

function refused(reason: string) {
  return problem('invalidRequest', { reason: `Invalid multipart body: ${reason}` });
}

function firstFile(body: Buffer, mark: string): UploadedFile {
  const opening = Buffer.from(`--${mark}`);
  const next = Buffer.from(`\r\n--${mark}`);
  let at = body.indexOf(opening);
  while (at !== -1) {
    const start = at + opening.length;
    if (body.subarray(start, start + 2).toString('latin1') === '--') break;
    const headersEnd = body.indexOf('\r\n\r\n', start);
    if (headersEnd === -1 || headersEnd - start > headersLengthMax)
      throw refused('the headers of a part are not terminated');
    const end = body.indexOf(next, headersEnd);
    if (end === -1) throw refused('a part is not terminated');
    const headers = body.subarray(start, headersEnd).toString('utf8');
    const fileName = /filename="((?:[^"\\]|\\.)*)"/i.exec(headers)?.[1];
    if (fileName !== undefined) {
      const type = /^content-type:\s*(\S[^\r\n]*)$/im.exec(headers)?.[1];
      const content = body.subarray(headersEnd + 4, end);
      return { name: fileName.replaceAll('\\"', '"') || 'blob', contentType: type, content };
    }
    at = end + 2;
  }
  throw refused('it contains no file');
}
