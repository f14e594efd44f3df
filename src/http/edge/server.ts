// HTTP server: request id, credential, route, resource, body, handler, answer, in this order (docs: ARCHITECTURE.md).
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Server as TlsServer } from 'node:tls';
import Fastify, { type FastifyHttpOptions, type FastifyInstance } from 'fastify';
import { problem } from '../../model/problem.ts';
import type { Certificate } from '../../structures/certificate-watch.ts';
import type { Guard } from './admission.ts';
import { addBodyParsers } from './body-parsers.ts';
import type { ServeScreen } from './console.ts';
import { directServing, type ServeDirectly } from './fast-path/direct-serving.ts';
import { answerReports, type EdgeEvents } from './reports.ts';
import { addRoute, servedRoute } from './request-handling.ts';
import { checkRequestHead, maskedPath, pathOf, requestIdOf } from './request-head.ts';
import { type AnswerParts, sendFailure, setEdgeHeaders } from './responses.ts';
import type { Route } from './route.ts';
import { addContentPolicy, addCors, corsHeaders } from './security-headers.ts';
import {
  httpOptions,
  refuseBrokenRequest,
  type ServerTimeouts,
  tlsOptions,
} from './server-options.ts';

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
