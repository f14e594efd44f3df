// The HTTP edge: request id, credential, route, place, body, handler, answer, in this order (docs: ARCHITECTURE.md).
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { problem } from '../../model/problem.ts';
import type { Principal } from '../../model/principal.ts';
import { allowedMethods } from './allowed-methods.ts';
import { actorOf, admit, admitBody, type Guard } from './admission.ts';
import { requestChecks } from './request-validation.ts';
import { addCors } from './cors.ts';
import { refuseBrokenRequest } from './malformed-request.ts';
import { errorBody, problemOf, traceIdOf } from './error-body.ts';
import { refuseTwoHosts } from './host-header.ts';
import { parseJsonBody } from './json-body.ts';
import { leaveBodies, readLargeBodies } from './large-bodies.ts';
import { Answer, type Route, type RouteInput } from './route.ts';
import { addContentPolicy, setSecurityHeaders } from './security-headers.ts';
import { streamedBody, withRestRead } from './streamed-body.ts';

const bodyBytesMaxDefault = 4 * 1024 * 1024;
/** How long a client may take; all three are checked once a second, where Node's own default is every 30 s. */
const standardTimeouts = {
  headersMs: 20_000,
  requestMs: 120_000,
  keepAliveMs: 75_000,
  checkMs: 1_000,
} as const;
const retryAfterSeconds = 1;
const accountLengthMax = 254;
const jsonType = /^application\/(?:[\w.-]+\+)?json(?:;|$)/;

/** What the edge tells about requests; log and metrics stand behind it. */
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
  /** An answer 401: who asked, for which route and why it was refused. */
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
  /** Addresses or CIDR ranges of proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies?: readonly string[];
  /** Origins whose pages may call the interface; without any, none but our own. */
  readonly corsOrigins?: readonly string[];
  /** Until headers, and the whole request, must have come, and until an idle connection ends. */
  readonly timeouts?: { readonly [K in keyof typeof standardTimeouts]: number };
}

interface RequestState {
  principal?: Principal;
  /** What the `admit` of an open route returned. */
  found?: unknown;
  refusedBy?: string;
  bodyBytes: number;
}

const states = new WeakMap<FastifyRequest, RequestState>();

function stateOf(request: FastifyRequest): RequestState {
  let state = states.get(request);
  if (state === undefined) {
    state = { bodyBytes: 0 };
    states.set(request, state);
  }
  return state;
}

/** Builds the server; listening is the caller's. */
export async function createServer(parts: ServerParts): Promise<FastifyInstance> {
  const timeouts = parts.timeouts ?? standardTimeouts;
  const app = Fastify({
    bodyLimit: bodyBytesMaxDefault,
    connectionTimeout: 0,
    keepAliveTimeout: timeouts.keepAliveMs,
    requestTimeout: timeouts.requestMs,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    // A base address with a slash at its end makes paths that begin with two.
    routerOptions: { maxParamLength: 500, ignoreDuplicateSlashes: true },
    genReqId: (raw) => acceptableRequestId(raw.headers['x-request-id']) ?? randomUUID(),
    http: { headersTimeout: timeouts.headersMs, connectionsCheckingInterval: timeouts.checkMs },
    trustProxy: parts.trustedProxies?.length ? [...parts.trustedProxies] : false,
    clientErrorHandler: (error, socket) => refuseBrokenRequest(error, socket, parts.now()),
    // The framework's own log is off: one function per event says what is worth saying.
    logger: false,
    frameworkErrors: (error, request, reply) =>
      void sendFailure(parts, error, request as FastifyRequest, reply as FastifyReply),
  });
  readBodies(app);
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.setErrorHandler((error, request, reply) => sendFailure(parts, error, request, reply));
  const methodsOf = allowedMethods(app);
  app.setNotFoundHandler(async (request) => {
    const path = pathOf(request);
    const allow = methodsOf(path).join(', ');
    if (allow !== '') throw problem('methodNotAllowed', { method: request.method, path, allow });
    if (path.startsWith('/v3/')) await parts.guard.identify(request.headers, request.method);
    throw problem('noSuchRoute', { method: request.method, path: maskedPath(path) });
  });
  app.addHook('onRequest', async (request, reply) => {
    setEdgeHeaders(parts, request, reply);
    refuseTwoHosts(request.raw.rawHeaders);
  });
  addContentPolicy(app);
  addCors(app, parts.corsOrigins ?? []);
  app.addHook('onResponse', async (request, reply) => {
    parts.events.answered({
      method: request.method,
      route: request.routeOptions.url ?? 'none',
      path: shownPath(request),
      status: reply.statusCode,
      ms: reply.elapsedTime,
      requestId: request.id,
    });
    if (reply.statusCode === 401) parts.events.credentialRefused?.(refusalOf(request));
  });
  const isLarge = ({ bodyBytesMax = 0 }: Route) => bodyBytesMax > bodyBytesMaxDefault;
  const read = parts.routes.filter((route) => route.streamedBody === undefined);
  for (const route of read) if (!isLarge(route)) addRoute(app, route, parts);
  await app.register(async (large) => {
    readLargeBodies(
      large,
      jsonType,
      routeOf,
      (request, bytes) => void (stateOf(request).bodyBytes = bytes),
    );
    for (const route of read) if (isLarge(route)) addRoute(large, route, parts);
  });
  for (const anyBodyType of [undefined, true] as const) {
    await app.register(async (streaming) => {
      leaveBodies(streaming, anyBodyType === true ? '*' : jsonType);
      for (const route of parts.routes) {
        if (route.streamedBody === true && route.anyBodyType === anyBodyType)
          addRoute(streaming, route, parts);
      }
    });
  }
  return app;
}

function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(jsonType, { parseAs: 'buffer' }, (request, body, done) => {
    const bytes = body as Buffer;
    if (routeOf(request)?.form) return done(problem('formExpected'));
    readJson(request, bytes, done);
  });
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (request, body, done) => {
      if (routeOf(request)?.form) return done(null, body);
      if (routeOf(request)?.jsonOfAnyType && isJson(body as string))
        return readJson(request, Buffer.from(body), done);
      done(problem('unsupportedMediaType', { contentType: 'application/x-www-form-urlencoded' }));
    },
  );
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    const contentType = request.headers['content-type'];
    if (contentType === undefined && routeOf(request)?.jsonOfAnyType)
      return readJson(request, body as Buffer, done);
    done(problem('unsupportedMediaType', { contentType: contentType ?? 'none' }));
  });
}

type BodyDone = (error: Error | null, body?: unknown) => void;

function readJson(request: FastifyRequest, bytes: Buffer, done: BodyDone): void {
  stateOf(request).bodyBytes = bytes.length;
  try {
    done(null, parseJsonBody(bytes.toString('utf8')));
  } catch (error) {
    done(error as Error);
  }
}

function isJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

function routeOf(request: FastifyRequest): Route | undefined {
  return (request.routeOptions?.config as { readonly route?: Route } | undefined)?.route;
}

function addRoute(app: FastifyInstance, route: Route, parts: ServerParts): void {
  const isOpen = 'open' in route.access;
  const checks = requestChecks(route);
  app.route({
    // Load balancers and browsers ask for heads.
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    url: route.path,
    config: { route },
    ...(route.bodyBytesMax === undefined ? {} : { bodyLimit: route.bodyBytesMax }),
    onRequest: async (request, reply) => {
      const state = stateOf(request);
      if (isOpen) state.found = await route.admit?.(request.headers, request.query as never);
      else state.principal = await admit(route, request, reply, parts.guard);
    },
    handler: async (request, reply) => {
      const { principal, found, bodyBytes } = stateOf(request);
      const input: RouteInput<unknown, unknown, unknown> = {
        params: checks.params(request.params),
        query: checks.query(request.query),
        body: route.streamedBody
          ? streamedBody(request.raw, route.bodyBytesMax)
          : checks.body(request.body),
        headers: request.headers,
        requestId: request.id,
        ip: request.ip,
        path: pathOf(request),
        bodyBytes,
        get signal() {
          return request.signal;
        },
      };
      const admitted =
        principal === undefined
          ? found
          : await admitBody(route, input.body, principal, parts.guard);
      const handle = () => route.handle(input as never, admitted as never);
      const { actAs } = parts.guard;
      const quiet = principal === undefined || actAs === undefined || route.method === 'GET';
      const handled = quiet ? handle() : actAs(actorOf(principal, request), handle);
      const output: unknown = route.streamedBody
        ? await withRestRead(handled, request.raw, reply)
        : await handled;
      return sendOutput(reply, output, route.status ?? 200);
    },
  });
}

function sendOutput(reply: FastifyReply, output: unknown, status: number): FastifyReply {
  if (!(output instanceof Answer)) {
    return output === undefined ? reply.code(204).send() : reply.code(status).send(output);
  }
  for (const [name, value] of Object.entries(output.headers))
    reply.header(name, typeof value === 'string' ? value : [...value]);
  const { status: ownStatus, body } = output;
  if (reply.request.method !== 'HEAD' || !(body instanceof Readable))
    return reply.code(ownStatus).send(body);
  // A stream that nobody reads the bytes of is not read either.
  body.destroy();
  return reply.code(ownStatus).send();
}

function setEdgeHeaders(parts: ServerParts, request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id);
  reply.header('cache-control', 'no-store');
  setSecurityHeaders(reply, parts.publicUrl.startsWith('https:'));
}

function sendFailure(
  parts: ServerParts,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const traceId = traceIdOf(single(request.headers['traceparent']));
  const limits = {
    bytesMax: request.routeOptions?.bodyLimit ?? bodyBytesMaxDefault,
    contentType: request.headers['content-type'] ?? 'none',
  };
  const known = problemOf(error, limits);
  if (known?.status === 401) stateOf(request).refusedBy = known.problem;
  const path = shownPath(request);
  const body = errorBody(
    known ?? problem('internal'),
    { path, requestId: request.id, traceId },
    parts.now(),
  );
  if (known === undefined)
    parts.events.failed(error, { path, requestId: request.id, errorId: body.errorId });
  // A request that the framework refuses by itself has not passed the hook that sets them.
  setEdgeHeaders(parts, request, reply);
  const wait =
    known?.details['retryAfterSeconds'] ?? (body.status === 503 ? retryAfterSeconds : undefined);
  if (typeof wait === 'number') reply.header('retry-after', wait);
  if (body.status === 401) reply.header('www-authenticate', 'Bearer');
  if (typeof known?.details['allow'] === 'string') reply.header('allow', known.details['allow']);
  const shaped = routeOf(request)?.refusal?.(known ?? problem('internal'));
  if (shaped !== undefined) return sendOutput(reply, shaped, body.status);
  return reply
    .code(body.status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(body);
}

/** Whom the log names for a refused credential; `account` is what was typed as e-mail address, cut to what one can be long. */
function refusalOf(request: FastifyRequest) {
  const { refusedBy, principal } = stateOf(request);
  const email = (request.body as { readonly email?: unknown } | null | undefined)?.email;
  const account = typeof email === 'string' ? email.slice(0, accountLengthMax) : principal?.id;
  const route = request.routeOptions.url ?? 'none';
  return {
    address: request.ip,
    route,
    reason: refusedBy ?? 'invalidClient',
    ...(account === undefined ? {} : { account }),
  };
}

/** The path as logs and error bodies may show it. */
function shownPath(request: FastifyRequest): string {
  const route = routeOf(request);
  return route?.secretPath ? route.path : maskedPath(pathOf(request));
}

/** Links that are mailed hold a secret, also when they are mistyped and no route has them. */
function maskedPath(path: string): string {
  return path.replace(/(\/(?:invitations|password-reset))\/.+/i, '$1/***');
}

function pathOf(request: FastifyRequest): string {
  const end = request.url.indexOf('?');
  return end === -1 ? request.url : request.url.slice(0, end);
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** A caller may name its request, in a form that is safe to log. */
function acceptableRequestId(header: string | string[] | undefined): string | undefined {
  const id = single(header);
  return id !== undefined && /^[\w.:-]{1,128}$/.test(id) ? id : undefined;
}
