// Lingering response: an answer before the end of the body reaches its sender, who may still be sending.
import { type IncomingMessage, ServerResponse } from 'node:http';

/** Until then the rest of a body is read behind its answer, and ignored. */
const restMsMax = 5_000;

/**
 * Closing a connection on which bytes arrive resets it, and a reset discards the answer that the
 * sender has not read yet. So the answer goes out at once, and its end waits for the end of the body.
 */
export class LingeringResponse<
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
