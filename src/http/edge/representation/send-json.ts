// JSON answers: with an entity tag when they are read, and compressed when the client accepts it.
import type { EdgeReply, EdgeRequest } from '../exchange.ts';
import { acceptedCoding, compressedBytesMin, createCompressor } from './compression.ts';
import { entityTagOf, namesTag } from './entity-tag.ts';

const jsonType = 'application/json; charset=utf-8';

/** One for the process, because its threads are. */
const compressor = createCompressor();

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
  const json = typeof body === 'string' ? body : JSON.stringify(body);
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
  // No character takes less than a byte.
  if (json.length < compressedBytesMin && Buffer.byteLength(json) < compressedBytesMin) {
    reply.send(json);
    return undefined;
  }
  return sendLong(request, reply, json);
}

function isTagged({ method, url }: Asked, { statusCode }: EdgeReply): boolean {
  return (method === 'GET' || method === 'HEAD') && statusCode === 200 && url.startsWith('/v3/');
}

function sendLong(request: Asked, reply: EdgeReply, json: string): undefined | Promise<void> {
  vary(reply);
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
function vary(reply: EdgeReply): void {
  const known = reply.getHeader('vary');
  const origin = typeof known === 'string' ? `${known}, ` : '';
  reply.header('vary', `${origin}Accept-Encoding`);
}
