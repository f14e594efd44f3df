// Refused requests: what a route that keeps account of them is told, with the start of the body.
import type { IncomingMessage } from 'node:http';
import type { Problem } from '../../model/problem.ts';
import type { EdgeRequest } from './exchange.ts';
import { routeOf, stateOf } from './request-state.ts';

/** Bodies above this are not written as JSON again only to be shown. */
const rewrittenBytesMax = 64 * 1024;
/** Many clients stop in the middle of a body once they have the answer, without an end. */
const unreadMsMax = 1_000;

/** Call it before the answer is sent. */
export function tellRefused(failure: Problem, request: EdgeRequest): void {
  const refused = routeOf(request)?.refused;
  if (refused === undefined) return;
  const { headers, query, ip } = request;
  const { bodyBytes } = stateOf(request);
  refused({
    ...{ failure, headers, query, ip },
    bytes: bodyBytes || Number(headers['content-length'] ?? 0),
    bodyStart: (bytesMax) => bodyStart(request, bytesMax),
  });
}

async function bodyStart(request: EdgeRequest, bytesMax: number): Promise<Buffer> {
  const { refusedBody, bodyBytes } = stateOf(request);
  if (refusedBody !== undefined) return Buffer.from(refusedBody.subarray(0, bytesMax));
  // It was read and understood, and refused for what it says.
  if (bodyBytes > rewrittenBytesMax) return Buffer.alloc(0);
  if (bodyBytes > 0) return Buffer.from(JSON.stringify(request.body ?? null)).subarray(0, bytesMax);
  return unreadStart(request.raw, bytesMax);
}

/** Reads the rest too, as the server does with a body that nobody reads. */
function unreadStart(message: IncomingMessage, bytesMax: number): Promise<Buffer> {
  if (message.readableDidRead || message.destroyed) return Promise.resolve(Buffer.alloc(0));
  const start = Buffer.allocUnsafeSlow(bytesMax);
  let used = 0;
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(late);
      resolve(Buffer.from(start.subarray(0, used)));
    };
    const late = setTimeout(done, unreadMsMax).unref();
    message.on('data', (chunk: Buffer) => {
      used += chunk.copy(start, used);
    });
    // From now on the body is read, also by the server, which else drops it with the answer.
    message.read(0);
    message.once('end', done).once('error', done).once('close', done);
  });
}
