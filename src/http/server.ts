// The HTTP edge: request id, credential, route, place, body, handler, answer, in this order (docs: ARCHITECTURE.md).
import { randomUUID } from 'node:crypto';
import fastifySwagger from '@fastify/swagger';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { problem } from '../model/problem.ts';
import type { Scope, Verb } from '../model/permission.ts';
import type { Place } from '../model/place.ts';
import type { Principal } from '../model/principal.ts';
import { requestChecks } from './body-check.ts';
import { refuseBrokenRequest } from './broken-request.ts';
import { errorBody, problemOf, traceIdOf } from './error-body.ts';
import { parseJsonBody } from './json-body.ts';
import { openApiOptions, swaggerSchema } from './open-api.ts';
import { type Access, Answer, type Route, type RouteInput } from './route.ts';
import { streamedBody, withRestRead } from './streamed-body.ts';

const bodyBytesMaxDefault = 4 * 1024 * 1024;
const headersTimeoutMs = 20_000;
const requestTimeoutMs = 120_000;
const keepAliveTimeoutMs = 75_000;
const retryAfterSeconds = 1;
const jsonType = /^application\/(?:[\w.-]+\+)?json(?:;|$)/;

export interface Guard {
  /** Throws Problem 401 when the headers hold no valid credential, or two. */
  identify(headers: Readonly<Record<string, string | string[] | undefined>>): Principal | Promise<Principal>;
  /** Throws Problem 403, or 404 for a place of another organization. Without a place only scope and verb count. */
  authorize(principal: Principal, scope: Scope, verb: Verb, place?: Place): void;
}

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
}

export interface ServerParts {
  readonly routes: readonly Route[];
  readonly guard: Guard;
  readonly events: EdgeEvents;
  readonly now: () => number;
  readonly publicUrl: string;
}

interface RequestState {
  principal?: Principal;
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
  const app = Fastify({
    bodyLimit: bodyBytesMaxDefault,
    connectionTimeout: 0,
    keepAliveTimeout: keepAliveTimeoutMs,
    requestTimeout: requestTimeoutMs,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    // A base address with a slash at its end makes paths that begin with two.
    routerOptions: { maxParamLength: 500, ignoreDuplicateSlashes: true },
    genReqId: (raw) => acceptableRequestId(raw.headers['x-request-id']) ?? randomUUID(),
    http: { headersTimeout: headersTimeoutMs },
    clientErrorHandler: (error, socket) => refuseBrokenRequest(error, socket, parts.now()),
    // The framework's own log is off: one function per event says what is worth saying.
    logger: false,
    frameworkErrors: (error, request, reply) =>
      void sendFailure(parts, error, request as FastifyRequest, reply as FastifyReply),
  });
  readBodies(app);
  // Checks run in the routes, compiled on first use, so that a cold start compiles nothing.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.setErrorHandler((error, request, reply) => sendFailure(parts, error, request, reply));
  app.setNotFoundHandler(async (request) => {
    const path = pathOf(request);
    if (path.startsWith('/v3/')) await parts.guard.identify(request.headers);
    throw problem('noSuchRoute', { method: request.method, path });
  });
  app.addHook('onRequest', async (request, reply) => {
    setEdgeHeaders(request, reply);
  });
  app.addHook('onResponse', async (request, reply) => {
    parts.events.answered({
      method: request.method,
      route: request.routeOptions.url ?? 'none',
      path: pathOf(request),
      status: reply.statusCode,
      ms: reply.elapsedTime,
      requestId: request.id,
    });
  });
  await app.register(fastifySwagger, openApiOptions(parts.publicUrl));
  for (const route of parts.routes) if (route.streamedBody === undefined) addRoute(app, route, parts);
  for (const anyBodyType of [undefined, true] as const) {
    await app.register(async (streaming) => {
      leaveBodies(streaming, anyBodyType === true ? '*' : jsonType);
      for (const route of parts.routes) {
        if (route.streamedBody === true && route.anyBodyType === anyBodyType) addRoute(streaming, route, parts);
      }
    });
  }
  return app;
}

function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(jsonType, { parseAs: 'buffer' }, (request, body, done) => {
    const bytes = body as Buffer;
    stateOf(request).bodyBytes = bytes.length;
    try {
      done(null, parseJsonBody(bytes.toString('utf8')));
    } catch (error) {
      done(error as Error);
    }
  });
}

/** Routes that read their body themselves are given it unread. */
function leaveBodies(app: FastifyInstance, type: RegExp | string): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(type, (_request, _payload, done) => done(null));
}

function addRoute(app: FastifyInstance, route: Route, parts: ServerParts): void {
  const { access } = route;
  const checks = requestChecks(route);
  app.route({
    method: route.method,
    url: route.path,
    schema: swaggerSchema(route),
    ...(route.bodyBytesMax === undefined ? {} : { bodyLimit: route.bodyBytesMax }),
    onRequest: async (request) => {
      const principal = await admit(access, request, parts.guard);
      if (principal !== undefined) stateOf(request).principal = principal;
    },
    handler: async (request, reply) => {
      const { principal, bodyBytes } = stateOf(request);
      const input: RouteInput<unknown, unknown, unknown> = {
        params: checks.params(request.params),
        query: checks.query(request.query),
        body: route.streamedBody ? streamedBody(request.raw, route.bodyBytesMax) : checks.body(request.body),
        headers: request.headers,
        requestId: request.id,
        path: pathOf(request),
        bodyBytes,
        get signal() {
          return request.signal;
        },
      };
      await admitBody(access, input.body, principal, parts.guard);
      const handled = route.handle(input as never, principal as never);
      const output: unknown = route.streamedBody ? await withRestRead(handled, request.raw, reply) : await handled;
      return sendOutput(reply, output, route.status ?? 200);
    },
  });
}

/** 401, then 404 for the place, then 403; all before the body is read. */
async function admit(
  access: Access<never, never>,
  request: FastifyRequest,
  guard: Guard,
): Promise<Principal | undefined> {
  if ('open' in access) {
    await access.admit?.(request.headers, request.query);
    return undefined;
  }
  const principal = await guard.identify(request.headers);
  if ('anyCredential' in access) return principal;
  if (access.userOnly && principal.kind !== 'USER') throw problem('permissionDenied');
  const place = 'byParams' in access.place ? await access.place.byParams(request.params as never) : undefined;
  guard.authorize(principal, access.scope, access.verb, place);
  return principal;
}

async function admitBody(
  access: Access<never, never>,
  body: unknown,
  principal: Principal | undefined,
  guard: Guard,
): Promise<void> {
  if (principal === undefined || !('scope' in access) || !('byBody' in access.place)) return;
  guard.authorize(principal, access.scope, access.verb, await access.place.byBody(body as never, principal));
}

function sendOutput(reply: FastifyReply, output: unknown, status: number): FastifyReply {
  if (!(output instanceof Answer)) {
    return output === undefined ? reply.code(204).send() : reply.code(status).send(output);
  }
  for (const [name, value] of Object.entries(output.headers)) reply.header(name, value);
  return reply.code(output.status).send(output.body);
}

function setEdgeHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id);
  reply.header('cache-control', 'no-store');
  reply.header('x-content-type-options', 'nosniff');
}

function sendFailure(parts: ServerParts, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const traceId = traceIdOf(single(request.headers['traceparent']));
  const limits = {
    bytesMax: request.routeOptions?.bodyLimit ?? bodyBytesMaxDefault,
    contentType: request.headers['content-type'] ?? 'none',
  };
  const known = problemOf(error, limits);
  const path = pathOf(request);
  const body = errorBody(known ?? problem('internal'), { path, requestId: request.id, traceId }, parts.now());
  if (known === undefined) parts.events.failed(error, { path, requestId: request.id, errorId: body.errorId });
  // A request that the framework refuses by itself has not passed the hook that sets them.
  setEdgeHeaders(request, reply);
  if (body.status === 503) reply.header('retry-after', retryAfterSeconds);
  return reply.code(body.status).header('content-type', 'application/json; charset=utf-8').send(body);
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
