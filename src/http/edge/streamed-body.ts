// Streamed bodies: limited, with back-pressure, and read to the end so that an error arrives.
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BodyStream } from '../../contract/endpoint.ts';
import { Problem, problem } from '../../model/problem.ts';
import type { EdgeReply } from './exchange.ts';

/**
 * What is read of a body after its request was refused, so that the sender gets to reading the
 * answer.
 */
const restBytesMax = 64 * 1024 * 1024;

/**
 * Throws Problem `payloadTooLarge`, for a body that says its length before anything is read, else
 * with the chunk that passes the limit.
 */
export async function* streamedBody(
  message: IncomingMessage,
  bytesMax: number | undefined,
): AsyncGenerator<Uint8Array> {
  const limit = bytesMax ?? Number.POSITIVE_INFINITY;
  if (Number(message.headers['content-length'] ?? 0) > limit)
    throw problem('payloadTooLarge', { bytesMax: limit });
  let bytes = 0;
  // The socket must outlive a reader that stops early: the answer goes back on it.
  for await (const chunk of message.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Uint8Array).byteLength;
    if (bytes > limit) throw problem('payloadTooLarge', { bytesMax: limit });
    yield chunk as Uint8Array;
  }
}

/**
 * Waits for the handler; when it refuses in the middle of the body, reads what is left, since many
 * clients look for an answer only when they have sent everything. Beyond a limit the connection is
 * closed behind the answer.
 */
export async function withRestRead<T>(
  handled: T | Promise<T>,
  message: IncomingMessage,
  reply: EdgeReply,
): Promise<T> {
  try {
    return await handled;
  } catch (error) {
    if (!(await readRest(message))) reply.header('connection', 'close');
    throw error;
  }
}

/**
 * Reads what is left of a refused body and ignores it. False when it is too long, or its sender is
 * gone.
 */
export async function readRest(message: IncomingMessage): Promise<boolean> {
  if (message.readableEnded || message.destroyed) return true;
  if (Number(message.headers['content-length'] ?? 0) > restBytesMax) return false;
  let bytes = 0;
  try {
    for await (const chunk of message.iterator({ destroyOnReturn: false })) {
      bytes += (chunk as Uint8Array).byteLength;
      if (bytes > restBytesMax) return false;
    }
    return true;
  } catch {
    // The sender went away; nobody reads the answer.
    return false;
  }
}

/**
 * Waits for a body; reads what is left of one that is refused, and a body that breaks off is the
 * sender's fault (400).
 */
export async function withBodyRead<T>(body: Promise<T>, message: IncomingMessage): Promise<T> {
  try {
    return await body;
  } catch (error) {
    await readRest(message);
    if (error instanceof Problem) throw error;
    throw Object.assign(error as Error, { statusCode: 400 });
  }
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
