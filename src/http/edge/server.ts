// HTTP server: request id, credential, route, resource, body, handler, answer, in this order (docs: ARCHITECTURE.md).
import type { Server } from 'node:http';
import Fastify, {
  type FastifyInstance,
  type FastifyRequest,
  type FastifyHttpOptions,
} from 'fastify';
import { problem } from '../../model/problem.ts';
import type { Guard } from './admission.ts';
import { allowedMethods } from './allowed-methods.ts';
import { bodyBytesMaxDefault, sendFailure, setEdgeHeaders } from './answering.ts';
import { addBodyParsers, jsonType, valuesType } from './body-parsers.ts';
import { addCors } from './cors.ts';
import { refuseTwoHosts } from './host-header.ts';
import { leaveBodies, readLargeBodies } from './large-bodies.ts';
import { refuseBrokenRequest } from './malformed-request.ts';
import { requestIdOf } from './request-id.ts';
import { maskedPath, pathOf, shownPath } from './request-path.ts';
import { stateOf } from './request-state.ts';
import type { Route } from './route.ts';
import { addContentPolicy } from './security-headers.ts';
import { addRoute } from './serving.ts';

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
}

/** Builds the server, which does not listen yet. */
export async function createServer(parts: ServerParts): Promise<FastifyInstance> {
  const app = Fastify(optionsOf(parts));
  addBodyParsers(app);
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.setErrorHandler((error, request, reply) => sendFailure(parts, error, request, reply));
  addNotFound(app, parts.guard);
  app.addHook('onRequest', async (request, reply) => {
    setEdgeHeaders(parts, request, reply);
    refuseTwoHosts(request.raw.rawHeaders);
  });
  addContentPolicy(app);
  addCors(app, parts.corsOrigins ?? []);
  addReports(app, parts.events);
  await addRoutes(app, parts);
  return app;
}

function optionsOf(parts: ServerParts): FastifyHttpOptions<Server> {
  const timeouts = parts.timeouts ?? standardTimeouts;
  return {
    bodyLimit: bodyBytesMaxDefault,
    connectionTimeout: 0,
    keepAliveTimeout: timeouts.keepAliveMs,
    requestTimeout: timeouts.requestMs,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    // A base address with a slash at its end makes paths that begin with two.
    routerOptions: { maxParamLength: 500, ignoreDuplicateSlashes: true },
    genReqId: (raw) => requestIdOf(raw.headers['x-request-id']),
    http: { headersTimeout: timeouts.headersMs, connectionsCheckingInterval: timeouts.checkMs },
    trustProxy: trustedBy(parts),
    clientErrorHandler: (error, socket) => refuseBrokenRequest(error, socket, parts.now()),
    // The framework's log is off: `EdgeEvents` reports what is worth saying.
    logger: false,
    frameworkErrors: (error, request, reply) => void sendFailure(parts, error, request, reply),
  };
}

function trustedBy({ trustedProxies = [] }: ServerParts): string[] | false {
  return trustedProxies.length > 0 && [...trustedProxies];
}

/**
 * Paths without a route: 405 where another method has one; else 401 or 404 under `/v3/`, and 404
 * elsewhere.
 */
function addNotFound(app: FastifyInstance, guard: Guard): void {
  const methodsOf = allowedMethods(app);
  app.setNotFoundHandler(async (request) => {
    const { method } = request;
    const path = pathOf(request);
    const allow = methodsOf(path).join(', ');
    if (allow !== '') throw problem('methodNotAllowed', { method, path, allow });
    if (path.startsWith('/v3/')) await guard.identify(request.headers, method);
    throw problem('noSuchRoute', { method, path: maskedPath(path) });
  });
}

function addReports(app: FastifyInstance, events: EdgeEvents): void {
  app.addHook('onResponse', async (request, reply) => {
    events.answered({
      method: request.method,
      route: request.routeOptions.url ?? 'none',
      path: shownPath(request),
      status: reply.statusCode,
      ms: reply.elapsedTime,
      requestId: request.id,
    });
    if (reply.statusCode === 401) events.credentialRefused?.(refusalOf(request));
  });
}

/**
 * What the log says of a refused credential; `account` is the e-mail address that was typed, cut to
 * the longest possible one.
 */
function refusalOf(request: FastifyRequest) {
  const { refusedBy, principal } = stateOf(request);
  const { email } = (request.body ?? {}) as { readonly email?: unknown };
  const account = principal?.id;
  const refused = {
    address: request.ip,
    route: request.routeOptions.url ?? 'none',
    reason: refusedBy ?? 'invalidClient',
  };
  if (typeof email === 'string') return { ...refused, account: email.slice(0, accountLengthMax) };
  return { ...refused, ...(account !== undefined && { account }) };
}

/**
 * Routes by how their bodies are read: whole, in many turns when they may be large, or by the
 * handler.
 */
async function addRoutes(app: FastifyInstance, { routes, guard }: ServerParts): Promise<void> {
  const groups = Map.groupBy(routes, bodyReading);
  const addAll = (scope: FastifyInstance, reading: BodyReading) => {
    for (const route of groups.get(reading) ?? []) addRoute(scope, route, guard);
  };
  addAll(app, 'whole');
  await app.register(async (large) => {
    readLargeBodies(large, jsonType, (request, bytes) => {
      stateOf(request).bodyBytes = bytes;
    });
    addAll(large, 'large');
  });
  await app.register(async (streamed) => {
    leaveBodies(streamed, valuesType);
    addAll(streamed, 'streamed');
  });
  await app.register(async (streamed) => {
    leaveBodies(streamed, '*');
    addAll(streamed, 'streamedOfAnyType');
  });
}

type BodyReading = 'whole' | 'large' | 'streamed' | 'streamedOfAnyType';

function bodyReading({ streamedBody, anyBodyType, bodyBytesMax = 0 }: Route): BodyReading {
  if (streamedBody) return anyBodyType ? 'streamedOfAnyType' : 'streamed';
  return bodyBytesMax > bodyBytesMaxDefault ? 'large' : 'whole';
}
