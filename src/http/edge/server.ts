// HTTP server: request id, credential, route, resource, body, handler, answer, in this order (docs: ARCHITECTURE.md).
import { type IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Server as TlsServer } from 'node:tls';
import { randomBytes, randomUUID } from 'node:crypto';
import Fastify, { type FastifyHttpOptions, type FastifyInstance } from 'fastify';
import { parse as parseQuery } from 'fast-querystring';
import { problem, type Problem } from '../../model/problem.ts';
import type { Certificate } from '../../structures/certificate-watch.ts';
import {
  checkRequestHead,
  clientAddress,
  type Guard,
  maskedPath,
  pathOf,
  requestIdOf,
} from './admission.ts';
import { addBodyParsers, jsonBodyOf, payloadOf } from './body-parsers.ts';
import type { ServeScreen } from './console.ts';
import {
  answerOnSocket,
  type AnswerParts,
  answerReports,
  type EdgeEvents,
  errorBody,
  type ReportAnswer,
  sendFailure,
  setEdgeHeaders,
} from './responses.ts';
import {
  addRoute,
  admitRequest,
  handleRequest,
  servedRoute,
  type ServedRoute,
} from './request-handling.ts';
import { bodyBytesMaxDefault, type Route } from './route.ts';
import {
  addContentPolicy,
  addCors,
  corsHeaders,
  isSecure,
  type SetCorsHeaders,
} from './security-headers.ts';
import { endLarge, routeOf, turnOf } from './exchange.ts';
import { DirectReply, DirectRequest, plainBodyBytes, readBody } from './direct-exchange.ts';
import { createRouteTree } from './route-tree.ts';

export interface ServerParts {
  readonly routes: readonly Route[];
  readonly guard: Guard;
  readonly events: EdgeEvents;
  readonly now: () => number;
  readonly publicUrl: string;
  /** Addresses or CIDR ranges of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies?: readonly string[];
  /** Origins whose pages may call the interface; without any only our own. */
  readonly corsOrigins?: readonly string[];
  /** Until headers, and the whole request, must have come, and until an idle connection ends. */
  readonly timeouts?: ServerTimeouts;
  /** Serves addresses that are screens of the console and no route. */
  readonly serveScreen?: ServeScreen;
  /** The server speaks HTTPS only. */
  readonly certificate?: Certificate | undefined;
  /** With false, the framework serves everything, for tests that compare both ways. */
  readonly direct?: boolean;
}

/** Builds the server, which does not listen yet. */
export async function createServer(served: ServerParts): Promise<FastifyInstance> {
  const parts = { ...served, refusalAt: refusalsOf(served.routes) };
  const app = Fastify(overTls(optionsOf(parts), parts.certificate));
  serveAllRequests(app.server);
  addBodyParsers(app);
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.setErrorHandler(async (error, request, reply) => {
    sendFailure(parts, error, request, reply);
    return reply;
  });
  addNotFound(app, parts);
  app.addHook('onRequest', async (request, reply) => {
    setEdgeHeaders(parts, request, reply);
    checkRequestHead(request.raw);
  });
  addContentPolicy(app);
  const setCorsHeaders = corsHeaders(parts.corsOrigins ?? []);
  addCors(app, setCorsHeaders);
  const report = answerReports(parts.events, parts.routes);
  app.addHook('onResponse', async (request, reply) => report(request, reply));
  const routes = parts.routes.map(servedRoute);
  for (const served of routes) addRoute(app, served, parts.guard);
  const { trustedProxies = [] } = parts;
  if (parts.direct !== false)
    serveDirectly(app, directServing({ ...parts, routes, trustedProxies, setCorsHeaders, report }));
  return app;
}

/** The form of errors of paths without a route: that of the same path with another method, or of the paths beside it. */
function refusalsOf(routes: readonly Route[]): (path: string) => Route['refusal'] {
  const shaped = routes.filter(({ refusal }) => refusal !== undefined);
  return (path) =>
    shaped.find(
      (route) =>
        route.path === path ||
        (route.refusalBelow !== undefined && path.startsWith(route.refusalBelow)),
    )?.refusal;
}

/** Also those that the server of Node would end by itself, without a body or an answer. */
function serveAllRequests(server: Server): void {
  // Some senders close their side once they have sent everything, and read the answer then.
  Object.assign(server, { httpAllowHalfOpen: true });
  followConnections(server);
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

/** The framework serves what is not served directly, and everything while the server ends. */
function serveDirectly(app: FastifyInstance, serve: ServeDirectly): void {
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.server.removeAllListeners('request');
  app.server.on('request', (request, response) => {
    if (isClosing || !serve(request, response)) app.routing(request, response);
  });
}

/** The framework has other types for both kinds of server; the same is used of both. */
function overTls(
  options: FastifyHttpOptions<Server>,
  certificate: Certificate | undefined,
): FastifyHttpOptions<Server> {
  if (certificate === undefined) return options;
  const https = { ...options.http, ...tlsOptions, ...certificate };
  return { ...options, https } as FastifyHttpOptions<Server>;
}

/** New connections get this certificate. Throws, and changes nothing, when it cannot be used. */
export function renewCertificate({ server }: FastifyInstance, certificate: Certificate): void {
  // Options that are missing here are lost, so that all are repeated.
  (server as unknown as TlsServer).setSecureContext({ ...tlsOptions, ...certificate });
}

function optionsOf(
  parts: ServerParts & Pick<AnswerParts, 'refusalAt'>,
): FastifyHttpOptions<Server> {
  const { keepAliveTimeout, requestTimeout, ...http } = httpOptions(parts.timeouts);
  return {
    connectionTimeout: 0,
    keepAliveTimeout,
    requestTimeout,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    // A base address with a slash at its end makes paths that begin with two.
    routerOptions: { maxParamLength: 500, ignoreDuplicateSlashes: true },
    genReqId: (raw) => requestIdOf(raw.headers['x-request-id']),
    http,
    trustProxy: trustedBy(parts),
    schemaController: {
      compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas },
    },
    clientErrorHandler: (error, socket) => refuseBrokenRequest(error, socket, parts),
    // The framework's log is off: `EdgeEvents` reports what is worth saying.
    logger: false,
    frameworkErrors: (error, request, reply) => sendFailure(parts, error, request, reply),
  };
}

/**
 * Endpoints check their requests without the framework, whose compilers would be a twentieth of the
 * modules of a start.
 */
function noSchemas(): never {
  throw new Error('An endpoint has a schema for the framework');
}

function trustedBy({ trustedProxies = [] }: ServerParts): string[] | false {
  return trustedProxies.length > 0 && [...trustedProxies];
}

/**
 * Paths without a route: a screen for a browser; 405 where another method has one; else 401 or 404 under `/v3/`, and 404
 * elsewhere.
 */
function addNotFound(app: FastifyInstance, { guard, serveScreen }: ServerParts): void {
  const methodsOf = allowedMethods(app);
  app.setNotFoundHandler(async (request, reply) => {
    const screen = serveScreen?.(request, reply);
    if (screen !== undefined) return screen;
    const { method } = request;
    const path = pathOf(request);
    const allow = methodsOf(path).join(', ');
    if (allow !== '') throw problem('methodNotAllowed', { method, path, allow });
    if (path.startsWith('/v3/')) await guard.identify(request.headers, method);
    throw problem('noSuchRoute', { method, path: maskedPath(path) });
  });
}

// Allowed methods of a path, for the answer 405: looked up only when no route was found.

interface KnownRoute {
  readonly steps: readonly string[];
  readonly methods: readonly string[];
}

/**
 * Learns every route that is added from now on; the answer is sorted, and empty for an unknown
 * path.
 */
function allowedMethods(app: FastifyInstance): (path: string) => readonly string[] {
  const routes: KnownRoute[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    routes.push({ steps: url.split('/'), methods: [method].flat() });
  });
  return (path) => {
    // The router takes several slashes for one.
    const steps = path.replaceAll(/\/{2,}/g, '/').split('/');
    const methods = routes
      .filter((route) => isPathOf(route.steps, steps))
      .flatMap((route) => route.methods);
    return [...new Set(methods)].sort();
  };
}

function isPathOf(route: readonly string[], steps: readonly string[]): boolean {
  if (route.at(-1) === '*')
    return (
      route.length <= steps.length && isPathOf(route.slice(0, -1), steps.slice(0, route.length - 1))
    );
  return (
    route.length === steps.length &&
    route.every((step, at) => (step.startsWith(':') ? steps[at] !== '' : step === steps[at]))
  );
}

// Stop of the HTTP server: requests in progress get a second, then their connections are closed.

const requestsEndWithinMs = 1_000;

/** Connections of each server, also those that have sent no request yet. */
const connectionsOf = new WeakMap<Server, Set<Socket>>();

/** Call before the server listens, so that `stopServer` finds all connections. */
function followConnections(server: Server): void {
  const connections = new Set<Socket>();
  connectionsOf.set(server, connections);
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
}

/** Resolves when no connection is left. */
export async function stopServer(app: FastifyInstance): Promise<void> {
  const late = setTimeout(() => {
    app.server.closeAllConnections();
    // Node knows only connections with a request. One that ended while its encryption began, half
    // open, would stay until that has timed out.
    for (const socket of connectionsOf.get(app.server) ?? []) socket.destroy();
  }, requestsEndWithinMs);
  try {
    await app.close();
  } finally {
    clearTimeout(late);
  }
}

// Direct serving: plain requests are answered without the framework, by the same checks in the same order.

interface DirectParts {
  readonly routes: readonly ServedRoute[];
  readonly guard: Guard;
  readonly events: EdgeEvents;
  readonly now: () => number;
  readonly publicUrl: string;
  readonly trustedProxies: readonly string[];
  readonly setCorsHeaders: SetCorsHeaders;
  readonly report: ReportAnswer;
}

/**
 * Serves a request, or returns false for one that is left to the framework: unknown paths, escapes
 * in the path, bodies that are streamed, long, of another type or of unknown length.
 */
type ServeDirectly = (raw: IncomingMessage, response: ServerResponse) => boolean;

interface DirectRoute extends Pick<Route, 'method' | 'path'> {
  readonly served: ServedRoute;
  readonly routeOptions: DirectRequest['routeOptions'];
  readonly isDirect: boolean;
}

interface Accepted {
  readonly served: ServedRoute;
  readonly request: DirectRequest;
  readonly reply: DirectReply;
  readonly bodyBytes: number;
}

function directServing(parts: DirectParts): ServeDirectly {
  const findRoute = createRouteTree(parts.routes.map(directRoute));
  const addressOf = clientAddress(parts.trustedProxies);
  return (raw, response) => {
    const { method = '', url = '' } = raw;
    const queryAt = url.indexOf('?');
    const found = findRoute(method, queryAt === -1 ? url : url.slice(0, queryAt));
    if (found === undefined) return false;
    const { params, route } = found;
    const { served, routeOptions, isDirect } = route;
    if (!isDirect) return false;
    const bodyBytes = plainBodyBytes(raw, served.route);
    if (bodyBytes === undefined) return false;
    const query = parseQuery(queryAt === -1 ? '' : url.slice(queryAt + 1));
    const request = new DirectRequest(raw, routeOptions, params, query, addressOf);
    const reply = new DirectReply(request, response);
    // Its one listener costs less than a second one of 'finish', which comes a moment earlier.
    response.on('close', () => {
      if (response.writableFinished) parts.report(request, reply);
    });
    void answer(parts, { served, request, reply, bodyBytes }, response);
    return true;
  };
}

function directRoute(served: ServedRoute): DirectRoute {
  const { route } = served;
  const { method, path } = route;
  const routeOptions = { url: path, config: { route } };
  return { method, path, served, routeOptions, isDirect: isRead(route) };
}

/** Whether the body is read whole. */
function isRead({ streamedBody, form, bodyBytesMax = 0 }: Route): boolean {
  return streamedBody !== true && form !== true && bodyBytesMax <= bodyBytesMaxDefault;
}

async function answer(
  parts: DirectParts,
  accepted: Accepted,
  response: ServerResponse,
): Promise<void> {
  const { request, reply } = accepted;
  try {
    try {
      await answerGood(parts, accepted);
    } catch (error) {
      sendFailure(parts, error, request, reply);
    } finally {
      endLarge(request);
    }
  } catch (error) {
    // Not even the error body could be written, such as with a header that no answer may have.
    parts.events.failed(error, { path: request.url, requestId: request.id, errorId: request.id });
    response.destroy();
  }
}

async function answerGood(parts: DirectParts, accepted: Accepted): Promise<void> {
  const { served, request, reply, bodyBytes } = accepted;
  setEdgeHeaders(parts, request, reply);
  checkRequestHead(request.raw);
  parts.setCorsHeaders(request, reply);
  // Also when nothing is waited for: a body that came with the head is there after one turn.
  await admitRequest(served.route, { request, reply }, parts.guard);
  if (bodyBytes > 0) await readWhole(request, reply, bodyBytes);
  await handleRequest(served, { request, reply }, parts.guard);
  if (reply.streamed !== undefined) await reply.streamed;
}

async function readWhole(
  request: DirectRequest,
  reply: DirectReply,
  bodyBytes: number,
): Promise<void> {
  try {
    const body = readBody(request.raw, bodyBytes);
    const bytes = body instanceof Promise ? await body : body;
    const waited = turnOf(request, bodyBytes);
    if (waited !== undefined) await waited;
    request.edgeState.bodyBytes = bodyBytes;
    const { payload } = routeOf(request) ?? {};
    const parsed = payload ? payloadOf(request, bytes) : jsonBodyOf(request, bytes);
    request.body = parsed instanceof Promise ? await parsed : parsed;
  } catch (error) {
    // As the framework does, because the sender may send anything after it.
    reply.header('connection', 'close');
    throw error;
  }
}

// Server options: what every HTTP server of the program has in common: time limits, answers before the end of a body, and answers to bytes that are not HTTP.

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

type ServerTimeouts = { readonly [K in keyof typeof standardTimeouts]: number };

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
