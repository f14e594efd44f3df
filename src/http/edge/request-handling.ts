// Serving: each request of a route is admitted, checked, handled and answered, in this order.
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import Type, { type TSchema } from 'typebox';
import type { BodyStream } from '../../contract/endpoint.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Found } from '../../uplinks/capture/capture-senders.ts';
import { actorOf, admit, admitBody, type Guard, pathOf, refuseUnshared } from './admission.ts';
import {
  charged,
  type EdgeReply,
  type EdgeRequest,
  endLarge,
  inflationOf,
  type RequestState,
  stateOf,
  turnOf,
} from './exchange.ts';
import { bodyChunks, isPlain, longBytes, utf8Chunks } from './request-body.ts';
import {
  ignoredHeader,
  requestChecks,
  type RequestChecks,
  unknownMembers,
  unknownReason,
} from './request-validation.ts';
import { sendOutput } from './responses.ts';
import { EdgeMessage } from '../threads/edge-exchange.ts';
import { bodyBytesMaxDefault, type EdgeWork, type Route, type RouteInput } from './route.ts';
import { listOf } from './list-query.ts';

type Input = RouteInput<unknown, unknown, unknown>;

/** A route with its checks, which both ways of serving share. */
export interface ServedRoute {
  readonly route: Route;
  readonly checks: RequestChecks;
}

interface Exchange {
  readonly request: EdgeRequest;
  readonly reply: EdgeReply;
}

export function servedRoute(route: Route): ServedRoute {
  return { route, checks: requestChecks(route) };
}

/** Adds the route to the framework. */
export function addRoute(app: FastifyInstance, served: ServedRoute, guard: Guard): void {
  const { route } = served;
  const { method, path } = route;
  app.route({
    method: servedMethods[method],
    url: path,
    config: { route },
    onRequest: async (request, reply) => admitRequest(route, { request, reply }, guard),
    handler: async (request, reply) => {
      try {
        await handleRequest(served, { request, reply }, guard);
      } finally {
        endLarge(request);
      }
      return reply;
    },
  });
}

/** Load balancers and browsers send HEAD where others send GET. */
export const servedMethods = {
  GET: ['GET', 'HEAD'],
  POST: ['POST'],
  PUT: ['PUT'],
  DELETE: ['DELETE'],
} satisfies Record<Route['method'], string[]>;

/** Before the body is read. Throws the Problem of the refusal. Undefined when nothing is waited for. */
export function admitRequest(
  route: Route,
  { request, reply }: Exchange,
  guard: Guard,
): undefined | Promise<void> {
  if ('open' in route.access) {
    const found = admitOpen(route, request);
    if (found instanceof Promise)
      return found.then((known: unknown) => foundOpen(request, known, guard));
    foundOpen(request, found, guard);
    return undefined;
  }
  const principal = admit(route, request, reply, guard);
  if (principal instanceof Promise)
    return principal.then((found) => admitted(request, found, guard));
  admitted(request, principal, guard);
  return undefined;
}

function admitted(request: EdgeRequest, principal: Principal, guard: Guard): void {
  stateOf(request).principal = principal;
  takeTurns(request, guard);
}

function takeTurns(request: EdgeRequest, { turns }: Guard): void {
  const state = stateOf(request);
  const organizationId = organizationOf(state);
  if (turns !== undefined && organizationId !== undefined) state.turn = { organizationId, turns };
}

/** What the route finds of its sender, or a promise of it. */
function admitOpen(route: Route, request: EdgeRequest): unknown {
  const { 'x-api-key': key, authorization } = request.headers;
  if (key !== undefined && authorization !== undefined) throw problem('twoCredentials');
  return route.admit?.(request.headers, request.query as never);
}

function foundOpen(request: EdgeRequest, found: unknown, guard: Guard): void {
  stateOf(request).found = found;
  takeTurns(request, guard);
}

/** Of the caller, or of the device connector that it sends for; undefined for others. */
function organizationOf({ principal, found }: RequestState): string | undefined {
  return (
    principal?.organizationId ?? (found as Partial<Found<unknown>> | undefined)?.organizationId
  );
}

/**
 * The checked parts of a request. Its constructor throws Problem `invalidRequest`. A class, because
 * an object with its own getters has its own hidden class, which keeps the request in memory until
 * the next full garbage collection.
 */
class CheckedInput implements Input {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
  readonly path: string;
  readonly bodyBytes: number;
  readonly #exchange: Exchange;

  constructor({ route, checks }: ServedRoute, exchange: Exchange) {
    const { request } = exchange;
    this.params = checks.params(request.params);
    this.query = checks.query(request.query);
    this.body = bodyOf(route, checks, request);
    this.headers = request.headers;
    this.requestId = request.id;
    this.path = pathOf(request);
    this.bodyBytes = stateOf(request).bodyBytes;
    this.#exchange = exchange;
  }

  get ip(): string {
    return this.#exchange.request.ip;
  }

  get edge(): EdgeWork | undefined {
    const { raw } = this.#exchange.request;
    return raw instanceof EdgeMessage ? raw.work : undefined;
  }

  get signal(): AbortSignal {
    return goneSignal(this.#exchange.reply.raw);
  }
}

/** When the body is there, or is read by the handler. Throws the Problem of the refusal. */
export async function handleRequest(
  served: ServedRoute,
  exchange: Exchange,
  guard: Guard,
): Promise<void> {
  const input = new CheckedInput(served, exchange);
  const { route } = served;
  const { request, reply } = exchange;
  noteUnknown(route, input.body, reply);
  const output = await outputOf(route, input, guard, exchange);
  const shown = withRowFields(route, input.query, output);
  await sendOutput(request, reply, shown, route.status ?? 200);
}

/** Throws Problem 400 for unknown members where they cannot be meant for another product. */
function noteUnknown(route: Route, body: unknown, reply: EdgeReply): void {
  if (typeof body !== 'object' || body === null || route.streamedBody) return;
  const unknown = unknownMembers(route.bodyShown ?? route.body, body);
  if (unknown.length === 0) return;
  const refused = route.ownBody === 'record' ? unknownMembers(recordShape(route), body) : unknown;
  if (route.ownBody && refused.length > 0)
    throw problem('invalidRequest', { reason: unknownReason(refused) });
  reply.header('x-ignored-members', ignoredHeader(unknown));
}

const recordShapes = new WeakMap<Route, TSchema>();

/** The body, with the members of the record that the route answers. */
function recordShape(route: Route): TSchema | undefined {
  const { body, response } = route;
  if (body === undefined || response === undefined) return body;
  let shape = recordShapes.get(route);
  if (shape === undefined) recordShapes.set(route, (shape = Type.Union([body, response])));
  return shape;
}

/** Aborted when the client goes away before it has the answer. */
function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}

function bodyOf(route: Route, checks: RequestChecks, request: EdgeRequest): unknown {
  if (route.streamedBody) return streamedBody(route, request);
  return checks.body(request.body);
}

function streamedBody(
  { anyBodyType, readings, bodyBytesMax: bytesMax = bodyBytesMaxDefault }: Route,
  request: EdgeRequest,
): BodyStream {
  const { raw } = request;
  const inflation = isPlain(raw) ? undefined : inflationOf(request);
  const body = bodyChunks(raw, { bytesMax, chunkBytes: longBytes, inflation });
  if (readings) return wholeReadings(request, body);
  return anyBodyType ? body : utf8Chunks(body);
}

/** It ends at the turn of the request, which then has a place when the body is large. */
async function* wholeReadings(request: EdgeRequest, body: BodyStream): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    yield chunk;
  }
  await turnOf(request, bytes);
}

/** What the handler returns: a value, or mostly a promise of it. */
function outputOf(route: Route, input: Input, guard: Guard, { request }: Exchange): unknown {
  const { principal, found } = stateOf(request);
  if (principal === undefined)
    return charged(request, () => route.handle(input as never, found as never));
  const handle = (admitted: Principal) => {
    if (admitted.share !== undefined) refuseUnshared(route, admitted.share, input as never);
    const work = () => charged(request, () => route.handle(input as never, admitted as never));
    // What a request changes is announced under the name of its principal; a GET changes nothing.
    const isNamed = route.method !== 'GET';
    return isNamed && guard.actAs ? guard.actAs(actorOf(principal, request), work) : work();
  };
  const named = admitBody(route, input.body, principal, guard);
  return named instanceof Promise ? named.then(handle) : handle(named);
}

// Row fields: `fields=` narrows the rows of a page to the members that it names (contract 37).

/** A row, or several forms of one. */
interface RowShape {
  readonly properties?: object;
  readonly anyOf?: readonly RowShape[];
}

/** What is read of the schema of a page. */
interface PageShape {
  readonly properties: {
    readonly content: { readonly items: RowShape | undefined };
  };
}

interface Rows {
  readonly content: readonly object[];
}

/**
 * The page with narrowed rows; any other output, and one without `fields`, as it is. Throws 400 for
 * a member that no row has.
 */
function withRowFields(route: Route, query: unknown, output: unknown): unknown {
  if (!takesFields(route) || !isPage(output)) return output;
  const names = listOf(query as object, 'fields');
  if (names === undefined) return output;
  const known = membersOf(route.response);
  const unknown = known && names.find((name) => !known.has(name));
  if (unknown !== undefined) {
    const reason = `query fields: unknown field ${unknown.slice(0, 100)}`;
    throw problem('invalidRequest', { reason });
  }
  return { ...output, content: output.content.map((row) => narrowed(row, names)) };
}

function takesFields({ query }: Route): boolean {
  return query !== undefined && Type.IsObject(query) && 'fields' in query.properties;
}

function isPage(output: unknown): output is Rows {
  return typeof output === 'object' && output !== null && 'content' in output;
}

function narrowed(row: object, names: readonly string[]): object {
  const kept = names.filter((name) => Object.hasOwn(row, name));
  return Object.fromEntries(kept.map((name) => [name, row[name as keyof typeof row]]));
}

/** The members of a row by its schema; undefined where the schema does not name them. */
function membersOf(response: TSchema | undefined): ReadonlySet<string> | undefined {
  const row = (response as Partial<PageShape>)?.properties?.content?.items;
  const names = (row?.anyOf ?? [row]).flatMap((form) => Object.keys(form?.properties ?? {}));
  return names.length === 0 ? undefined : new Set(names);
}
