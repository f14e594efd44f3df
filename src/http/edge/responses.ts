// Answers: the output of a handler, or the error body of a request that failed.
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { type Duplex, Readable } from 'node:stream';
import { randomUUID } from 'node:crypto';
import { type Payload, payloadHexOf } from '../../model/payload.ts';
import { problem, Problem } from '../../model/problem.ts';
import { type EdgeReply, type EdgeRequest, routeOf, stateOf } from './exchange.ts';
import { isJsonAnswer, sendJson } from './send-json.ts';
import { acceptedCodings } from './request-body.ts';
import { endsConnection, firstOf, loggedPaths, pathOf, shownPath } from './admission.ts';
import { Answer, type Route } from './route.ts';
import { isSecure, securityHeaders } from './security-headers.ts';
import { formatInstant } from '../../model/instant.ts';

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

// Error body: every Problem and internal error in the form of interface 7, over HTTP, a raw socket and CoAP.

interface ErrorBody {
  readonly timestamp: string;
  readonly path: string;
  readonly status: number;
  readonly error: string;
  readonly message: string;
  readonly requestId: string;
  readonly errorId: string;
  readonly traceId: string;
  readonly errorCode: string;
  /** What became of a backfill's samples (contract 35). */
  readonly accepted?: number;
  readonly duplicates?: number;
  readonly rejected?: readonly unknown[];
  /** Which limit refused, and what it allows (contract 36). */
  readonly limitName?: string;
  readonly limitMax?: number;
}

/** Details of a refusal that its body carries for programs to read. */
const shownDetails = [
  'accepted',
  'duplicates',
  'rejected',
  'limitName',
  'limitMax',
  'position',
] as const;

export function errorBody(
  failure: Problem,
  request: {
    readonly path: string;
    readonly requestId: string;
    readonly traceId: string;
  },
  nowMs: number,
): ErrorBody {
  return {
    timestamp: formatInstant(nowMs),
    path: request.path,
    status: failure.status,
    error: STATUS_CODES[failure.status] ?? 'Error',
    message: failure.message,
    requestId: request.requestId,
    errorId: randomUUID(),
    traceId: request.traceId,
    errorCode: failure.code,
    ...Object.fromEntries(
      shownDetails
        .filter((name) => name in failure.details)
        .map((name) => [name, failure.details[name]]),
    ),
  };
}

const frameworkProblems: Readonly<Record<string, (error: FrameworkError) => Problem>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: (error) =>
    problem('unsupportedMediaType', { contentType: error.contentType ?? 'none' }),
  FST_ERR_BAD_URL: () => problem('invalidRequest', { reason: 'The path is not a valid URL' }),
};

interface FrameworkError extends Error {
  readonly code?: string;
  readonly statusCode?: number;
  readonly contentType?: string;
}

/** The Problem behind anything thrown on the way; undefined when the fault is ours. */
function problemOf(error: unknown, limits: { contentType: string }): Problem | undefined {
  if (error instanceof Problem) return error;
  if (!(error instanceof Error)) return undefined;
  const framework: FrameworkError = Object.assign(error, limits);
  const known = frameworkProblems[framework.code ?? ''];
  if (known !== undefined) return known(framework);
  const { statusCode } = framework;
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return problem('invalidRequest', { reason: error.message });
  }
  return undefined;
}

const traceparentPattern = /^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The trace id of the caller's `traceparent` header (W3C Trace Context), or a new one. */
export function traceIdOf(traceparent: string | undefined): string {
  return traceparentPattern.exec(traceparent ?? '')?.[1] ?? randomUUID().replaceAll('-', '');
}

// Socket answer: an error body for a request that no server response exists for, written to its connection.

/** Closes the connection behind the answer. `secure`: see `securityHeaders`. */
export function answerOnSocket(
  socket: Duplex,
  body: ErrorBody,
  secure: boolean,
  others: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(body);
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'x-request-id': body.requestId,
    connection: 'close',
    ...securityHeaders(secure),
    ...others,
  };
  const head = [
    `HTTP/1.1 ${body.status} ${STATUS_CODES[body.status] ?? 'Error'}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
}

// CoAP errors: the error body of interface 7 for a CoAP request, and what the log says of it.

type CoapEvents = Pick<EdgeEvents, 'failed' | 'credentialRefused'>;

/**
 * Returns the body of an error; `sender` is address and port. An error that is not a Problem is
 * logged as internal.
 */
export function createCoapErrors(
  events: CoapEvents,
  now: () => number,
): (error: unknown, path: string, sender: string) => ErrorBody {
  return (error, path, sender) => {
    const request = { path, requestId: randomUUID(), traceId: traceIdOf(undefined) };
    if (!(error instanceof Problem)) {
      const body = errorBody(problem('internal'), request, now());
      events.failed(error, { ...request, errorId: body.errorId });
      return body;
    }
    if (error.status === 401) {
      const [address = ''] = sender.split(' ');
      const route = 'CoAP /v3/capture';
      events.credentialRefused?.({ address, route, reason: error.problem });
    }
    return errorBody(error, request, now());
  };
}

// Reports of answers, for log and metrics: what was answered, and which credentials were refused.

const accountLengthMax = 254;

/** Reports about requests, for log and metrics. */
export interface EdgeEvents {
  answered(request: {
    method: string;
    route: string;
    path: string;
    status: number;
    ms: number;
    requestId: string;
  }): void;
  failed(error: unknown, request: { path: string; requestId: string; errorId: string }): void;
  /** An answer 401: the caller, the route and the reason. */
  credentialRefused?(refused: {
    address: string;
    route: string;
    reason: string;
    account?: string | undefined;
  }): void;
}

/** To be called once for each answer, when its last byte is written. */
export type ReportAnswer = (request: EdgeRequest, reply: EdgeReply) => void;

export function answerReports(
  events: EdgeEvents,
  routes: readonly { readonly path: string }[],
): ReportAnswer {
  const pathOf = loggedPaths(routes);
  return (request, reply) => {
    events.answered({
      method: request.method,
      route: request.routeOptions?.url ?? 'none',
      path: pathOf(request),
      status: reply.statusCode,
      ms: reply.elapsedTime,
      requestId: request.id,
    });
    if (reply.statusCode === 401) events.credentialRefused?.(refusalOf(request));
  };
}

/**
 * What the log says of a refused credential; `account` is the e-mail address that was typed, cut to
 * the longest possible one.
 */
function refusalOf(request: EdgeRequest) {
  const { refusedBy, principal } = stateOf(request);
  const { email } = (request.body ?? {}) as { readonly email?: unknown };
  const account = principal?.id;
  const refused = {
    address: request.ip,
    route: request.routeOptions?.url ?? 'none',
    reason: refusedBy ?? 'invalidClient',
  };
  if (typeof email === 'string') return { ...refused, account: email.slice(0, accountLengthMax) };
  return { ...refused, ...(account !== undefined && { account }) };
}
