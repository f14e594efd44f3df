// Serving: adds routes to the framework; each request is admitted, checked, handled and answered, in this order.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { actorOf, admit, admitBody, type Guard } from './admission.ts';
import { sendOutput } from './answering.ts';
import { pathOf } from './request-path.ts';
import { stateOf } from './request-state.ts';
import { type RequestChecks, requestChecks } from './request-validation.ts';
import type { Route, RouteInput } from './route.ts';
import { streamedBody, withRestRead } from './streamed-body.ts';

type Input = RouteInput<unknown, unknown, unknown>;

export function addRoute(app: FastifyInstance, route: Route, guard: Guard): void {
  const { method, path, bodyBytesMax } = route;
  const isOpen = 'open' in route.access;
  const checks = requestChecks(route);
  app.route({
    method: servedMethods[method],
    url: path,
    config: { route },
    ...(bodyBytesMax !== undefined && { bodyLimit: bodyBytesMax }),
    onRequest: async (request, reply) => {
      const state = stateOf(request);
      if (isOpen) state.found = await route.admit?.(request.headers, request.query as never);
      else state.principal = await admit(route, request, reply, guard);
    },
    handler: async (request, reply) => {
      const input = inputOf(route, checks, request);
      const output = await outputOf(route, input, guard, { request, reply });
      return sendOutput(reply, output, route.status ?? 200);
    },
  });
}

/** Load balancers and browsers send HEAD where others send GET. */
const servedMethods = {
  GET: ['GET', 'HEAD'],
  POST: 'POST',
  PUT: 'PUT',
  DELETE: 'DELETE',
} satisfies Record<Route['method'], string | string[]>;

/** The checked parts of the request. Throws Problem `invalidRequest`. */
function inputOf(route: Route, checks: RequestChecks, request: FastifyRequest): Input {
  return {
    params: checks.params(request.params),
    query: checks.query(request.query),
    body: bodyOf(route, checks, request),
    headers: request.headers,
    requestId: request.id,
    ip: request.ip,
    path: pathOf(request),
    bodyBytes: stateOf(request).bodyBytes,
    get signal() {
      return request.signal;
    },
  };
}

function bodyOf(route: Route, checks: RequestChecks, request: FastifyRequest): unknown {
  if (route.streamedBody) return streamedBody(request.raw, route.bodyBytesMax);
  return checks.body(request.body);
}

async function outputOf(
  route: Route,
  input: Input,
  guard: Guard,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<unknown> {
  const { principal, found } = stateOf(request);
  const admitted = principal && (await admitBody(route, input.body, principal, guard));
  const handle = () => route.handle(input as never, (admitted ?? found) as never);
  // What a request changes is announced under the name of its principal; a GET changes nothing.
  const isNamed = principal !== undefined && route.method !== 'GET';
  const handled =
    isNamed && guard.actAs ? guard.actAs(actorOf(principal, request), handle) : handle();
  if (route.streamedBody) return withRestRead(handled, request.raw, reply);
  return handled;
}
