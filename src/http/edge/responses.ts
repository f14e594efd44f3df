// Answers: the output of a handler, or the error body of a request that failed.
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { type Payload, payloadHexOf } from '../../model/payload.ts';
import { type Problem, problem } from '../../model/problem.ts';
import { errorBody, problemOf, traceIdOf } from './error-body.ts';
import { type EdgeReply, type EdgeRequest, routeOf, stateOf } from './exchange.ts';
import { isJsonAnswer, sendJson } from './send-json.ts';
import { acceptedCodings } from './request-body.ts';
import { endsConnection, firstOf, pathOf, shownPath } from './admission.ts';
import { Answer, type Route } from './route.ts';
import { isSecure, securityHeaders } from './security-headers.ts';

const retryAfterSeconds = 1;

export interface AnswerParts {
  readonly now: () => number;
  readonly publicUrl: string;
  /** The body of errors of a path that has no route, where clients expect another one. */
  readonly refusalAt?: ((path: string) => Route['refusal']) | undefined;
  readonly events: {
    failed(error: unknown, request: { path: string; requestId: string; errorId: string }): void;
  };
}

/**
 * Sends what a handler returned: 204 for undefined, the status for a body, and an `Answer` as it
 * says. Long JSON is compressed, which may take until the promise resolves.
 */
export function sendOutput(
  request: EdgeRequest,
  reply: EdgeReply,
  output: unknown,
  status: number,
): undefined | Promise<void> {
  if (!(output instanceof Answer)) {
    reply.code(output === undefined ? 204 : status);
    if (isJsonAnswer(reply, output)) return sendJson(request, reply, output);
    reply.send(output);
    return undefined;
  }
  const { body } = output;
  for (const [name, value] of Object.entries(output.headers)) reply.header(name, value);
  reply.code(output.status);
  if (!(body instanceof Readable)) {
    if (isJsonAnswer(reply, body)) return sendJson(request, reply, body);
    reply.send(body);
    return undefined;
  }
  if (request.method !== 'HEAD') {
    reply.send(body);
    return undefined;
  }
  // The answer to HEAD has no body, so the stream is not read.
  body.destroy();
  reply.send();
  return undefined;
}

/** Headers of every answer. */
export function setEdgeHeaders(
  { publicUrl }: AnswerParts,
  request: EdgeRequest,
  reply: EdgeReply,
): void {
  reply.headers(securityHeaders(isSecure(publicUrl)));
  reply.header('x-request-id', request.id);
  if (endsConnection(request.raw)) reply.header('connection', 'close');
}

/**
 * Sends the error body; reports an error that is not a Problem, which the client sees as an
 * internal error.
 */
export function sendFailure(
  parts: AnswerParts,
  error: unknown,
  request: EdgeRequest,
  reply: EdgeReply,
): void {
  const known = problemOf(error, {
    contentType: request.headers['content-type'] ?? 'none',
  });
  if (known?.status === 401) stateOf(request).refusedBy = known.problem;
  const failure = known ?? problem('internal');
  tellRefused(failure, request);
  const { id: requestId } = request;
  const path = shownPath(request);
  const traceId = traceIdOf(firstOf(request.headers['traceparent']));
  const body = errorBody(failure, { path, requestId, traceId }, parts.now());
  if (known === undefined) parts.events.failed(error, { path, requestId, errorId: body.errorId });
  // A request that the framework rejects has not passed the hook that sets them.
  setEdgeHeaders(parts, request, reply);
  setFailureHeaders(reply, failure);
  // Its sender may have much more to send.
  if (failure.status === 413 && !request.raw.complete) reply.header('connection', 'close');
  const route = routeOf(request);
  const refusal = route === undefined ? parts.refusalAt?.(pathOf(request)) : route.refusal;
  const shaped = refusal?.(failure);
  if (shaped !== undefined) {
    void sendOutput(request, reply, shaped, body.status);
    return;
  }
  reply.code(body.status);
  reply.header('content-type', 'application/json; charset=utf-8');
  reply.send(body);
}

function setFailureHeaders(reply: EdgeReply, { problem: name, status, details }: Problem): void {
  const { retryAfterSeconds: declared, allow } = details;
  if (typeof declared === 'number') reply.header('retry-after', declared);
  else if (status === 503) reply.header('retry-after', retryAfterSeconds);
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  if (typeof allow === 'string') reply.header('allow', allow);
  if (name === 'contentEncodingUnsupported') reply.header('accept-encoding', acceptedCodings);
}

// Refused requests: what a route that keeps account of them is told, with the start of the body.

/** Bodies above this are not written as JSON again only to be shown. */
const rewrittenBytesMax = 64 * 1024;
/** Many clients stop in the middle of a body once they have the answer, without an end. */
const unreadMsMax = 1_000;

/** Call it before the answer is sent. */
function tellRefused(failure: Problem, request: EdgeRequest): void {
  const refused = routeOf(request)?.refused;
  if (refused === undefined) return;
  const { headers, query, ip } = request;
  const { bodyBytes } = stateOf(request);
  refused({
    failure,
    headers,
    query,
    ip,
    bytes: bodyBytes || Number(headers['content-length'] ?? 0),
    bodyStart: (bytesMax) => bodyStart(request, bytesMax),
  });
}

async function bodyStart(request: EdgeRequest, bytesMax: number): Promise<Buffer> {
  const { refusedBody, bodyBytes } = stateOf(request);
  if (refusedBody !== undefined) return Buffer.from(refusedBody.subarray(0, bytesMax));
  // It was read and understood, and refused for what it says.
  if (bodyBytes > rewrittenBytesMax) return Buffer.alloc(0);
  if (bodyBytes > 0) return bytesAgain(request).subarray(0, bytesMax);
  return unreadStart(request.raw, bytesMax);
}

function bytesAgain(request: EdgeRequest): Buffer {
  const { body = null } = request;
  if (!routeOf(request)?.payload || body === null) return Buffer.from(JSON.stringify(body));
  const payload = body as Payload;
  const payloadHex = payloadHexOf(payload);
  return payloadHex === null
    ? Buffer.from(JSON.stringify(payload.body))
    : Buffer.from(payloadHex, 'hex');
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
