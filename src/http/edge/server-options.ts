// Server options: what every HTTP server of the program has in common: time limits, answers before the end of a body, and answers to bytes that are not HTTP.
import { randomBytes, randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { problem, type Problem } from '../../model/problem.ts';
import { answerOnSocket, errorBody } from './responses.ts';
import { isSecure } from './security-headers.ts';

/**
 * How long a client may take; all three are checked once a second, where Node's own default is
 * every 30 s.
 */
const standardTimeouts = {
  headersMs: 20_000,
  requestMs: 120_000,
  keepAliveMs: 75_000,
  checkMs: 1_000,
} as const;

export type ServerTimeouts = { readonly [K in keyof typeof standardTimeouts]: number };

export function httpOptions(timeouts: ServerTimeouts = standardTimeouts) {
  return {
    keepAliveTimeout: timeouts.keepAliveMs,
    requestTimeout: timeouts.requestMs,
    headersTimeout: timeouts.headersMs,
    connectionsCheckingInterval: timeouts.checkMs,
    // Their lack is answered by us, with a body.
    requireHostHeader: false,
    ServerResponse: LingeringResponse,
  } as const satisfies ServerOptions;
}

export const tlsOptions = {
  minVersion: 'TLSv1.2',
  handshakeTimeout: standardTimeouts.headersMs,
  // As connections without TLS are.
  allowHalfOpen: true,
} as const;

// Lingering response: an answer before the end of the body reaches its sender, who may still be sending.

/** Until then the rest of a body is read behind its answer, and ignored. */
const restMsMax = 5_000;

/**
 * Closing a connection on which bytes arrive resets it, and a reset discards the answer that the
 * sender has not read yet. So the answer goes out at once, and its end waits for the end of the body.
 */
class LingeringResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  override end(chunk?: unknown, ...others: unknown[]): this {
    const { req, socket } = this;
    if (isReceived(req) || req.destroyed || socket === null || this.writableEnded)
      return super.end(chunk as never, ...(others as []));
    const callback = [chunk, ...others].find((one) => typeof one === 'function');
    this.#send(chunk);
    const end = () => {
      clearTimeout(late);
      req.off('end', end);
      req.off('close', end);
      super.end(callback as never);
    };
    const late = setTimeout(end, restMsMax).unref();
    req.once('end', end);
    req.once('close', end);
    req.resume();
    return this;
  }

  #send(chunk: unknown): void {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return this.flushHeaders();
    // The sender must see the end of the answer while the end of the connection waits.
    if (!this.headersSent) this.setHeader('content-length', Buffer.byteLength(chunk));
    this.write(chunk);
  }
}

function isReceived({ complete, headers }: IncomingMessage): boolean {
  if (complete) return true;
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  return length === '0' && encoding === undefined;
}

// Malformed requests: bytes that are not HTTP, headers beyond the limit, a request that never ends.

const problemsByCode: Readonly<Record<string, () => Problem>> = {
  HPE_HEADER_OVERFLOW: () => problem('headersTooLarge'),
  HPE_INVALID_URL: () =>
    problem('invalidRequest', {
      reason:
        'The address holds a character that must be percent-encoded, such as %C3%BC for ü and %20 for a space',
    }),
  ERR_HTTP_REQUEST_TIMEOUT: () => problem('requestTimeout'),
};

/**
 * Answers with the error body of interface 7 and closes the connection; nothing is known of the
 * request, not even its path.
 */
export function refuseBrokenRequest(
  error: { readonly code?: string | undefined },
  socket: Socket,
  { now, publicUrl }: { readonly now: () => number; readonly publicUrl: string },
): void {
  if (socket.destroyed) return;
  if (error.code === 'ECONNRESET') {
    // A half-open connection does not end by itself.
    socket.destroy();
    return;
  }
  // Nothing can be said over a connection whose encryption has not begun.
  if (error.code?.startsWith('ERR_SSL_') === true || error.code?.startsWith('ERR_TLS_') === true) {
    socket.destroy();
    return;
  }
  const refused =
    problemsByCode[error.code ?? '']?.() ??
    problem('invalidRequest', { reason: 'The request is not valid HTTP' });
  const request = { path: '', requestId: randomUUID(), traceId: randomBytes(16).toString('hex') };
  const body = errorBody(refused, request, now());
  if (socket.writable) answerOnSocket(socket, body, isSecure(publicUrl));
  else socket.destroy();
}
