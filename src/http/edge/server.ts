// HTTP server: request id, credential, route, resource, body, handler, answer, in this order (docs: ARCHITECTURE.md).
import type { Server } from 'node:http';
import type { Server as TlsServer } from 'node:tls';
import Fastify, { type FastifyInstance, type FastifyHttpOptions } from 'fastify';
import { problem } from '../../model/problem.ts';
import type { Certificate } from '../../structures/certificate-watch.ts';
import type { Guard } from './admission.ts';
import { allowedMethods } from './allowed-methods.ts';
import { type AnswerParts, sendFailure, setEdgeHeaders } from './answering.ts';
import { addBodyParsers } from './body-parsers.ts';
import type { ServeScreen } from './console.ts';
import { addCors, corsHeaders } from './cors.ts';
import { directServing, type ServeDirectly } from './direct/direct-serving.ts';
import { LingeringResponse } from './lingering-response.ts';
import { refuseBrokenRequest } from './malformed-request.ts';
import { checkRequestHead } from './request-head.ts';
import { requestIdOf } from './request-id.ts';
import { answerReports, type EdgeEvents } from './reports.ts';
import { maskedPath, pathOf } from './request-path.ts';
import type { Route } from './route.ts';
import { addContentPolicy } from './security-headers.ts';
import { addRoute, servedRoute } from './serving.ts';
import { followConnections } from './stop-server.ts';

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
  readonly timeouts?: { readonly [K in keyof typeof standardTimeouts]: number };
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

const tlsOptions = {
  minVersion: 'TLSv1.2',
  handshakeTimeout: standardTimeouts.headersMs,
  // As connections without TLS are.
  allowHalfOpen: true,
} as const;

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
  const timeouts = parts.timeouts ?? standardTimeouts;
  return {
    connectionTimeout: 0,
    keepAliveTimeout: timeouts.keepAliveMs,
    requestTimeout: timeouts.requestMs,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    // A base address with a slash at its end makes paths that begin with two.
    routerOptions: { maxParamLength: 500, ignoreDuplicateSlashes: true },
    genReqId: (raw) => requestIdOf(raw.headers['x-request-id']),
    http: {
      headersTimeout: timeouts.headersMs,
      connectionsCheckingInterval: timeouts.checkMs,
      // Their lack is answered by us, with a body.
      requireHostHeader: false,
      ServerResponse: LingeringResponse,
    },
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
