// Route: an endpoint of the contract with the handler that serves it, and what a handler checks and waits for.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Static, TSchema } from 'typebox';
import type {
  CredentialAccess,
  Endpoint,
  OpenAccess,
  PermissionAccess,
} from '../../contract/endpoint.ts';
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import type { PayloadHints } from '../../model/payload.ts';
import { holds, type Principal, type Scope, type Verb } from '../../model/principal.ts';
import { problem, type Problem } from '../../model/problem.ts';
import type { Place } from '../../model/record.ts';
import type { UnwrittenJson } from '../../query/unwritten-json.ts';
import type { EarlyCapture } from '../../uplinks/capture/capture.ts';

/** Bodies of routes that declare no limit. */
export const bodyBytesMaxDefault = 4 * 1024 * 1024;

export interface RouteInput<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
  /** The address of the caller. */
  readonly ip: string;
  /** The path without query string. */
  readonly path: string;
  /** Bytes of the body as it came in; 0 for one that the handler reads itself. */
  readonly bodyBytes: number;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** Of a request that an edge thread received; undefined for others. */
  readonly edge?: EdgeWork | undefined;
}

/** What an edge thread did for a capture, and may do for the next ones of its device. */
export interface EdgeWork {
  readonly run: EarlyCapture | undefined;
  /** To be told the route of every capture. */
  readonly found: (route: UplinkRoute) => void;
}

type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;

/** An answer with another status, headers or a stream; a handler may also return the plain body. */
export class Answer<T> {
  readonly status: number;
  readonly body: T | Readable | undefined;
  readonly headers: AnswerHeaders;

  constructor(status: number, body?: T | Readable, headers: AnswerHeaders = {}) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

const jsonType = { 'content-type': 'application/json; charset=utf-8' };

/** A successful answer whose JSON is written already. */
export function writtenAnswer(json: string, headers: AnswerHeaders = {}): Answer<never> {
  return new Answer<never>(200, json as never, { ...jsonType, ...headers });
}

/** A successful answer that is written by the thread that sends it. */
export function unwrittenAnswer(json: UnwrittenJson, headers: AnswerHeaders = {}): Answer<never> {
  return new Answer<never>(200, json as never, { ...jsonType, ...headers });
}

/** A request that was refused. */
export interface RefusedRequest {
  readonly failure: Problem;
  readonly headers: IncomingHttpHeaders;
  /** As it was sent. */
  readonly query: unknown;
  /** The address of the caller. */
  readonly ip: string;
  /** Bytes of the body, as far as they are known. */
  readonly bytes: number;
  /**
   * The first bytes of the body, read as far as they have not been. Call it at once: an unread body
   * is dropped with the answer.
   */
  readonly bodyStart: (bytesMax: number) => Promise<Buffer>;
}

/**
 * The endpoint of a route with its server part, the type parameters forgotten so that routes of all
 * kinds fit one list.
 */
export interface Route extends Endpoint {
  /** The second argument is the principal, or what `admit` returned. */
  readonly handle: (input: never, admitted: never) => unknown;
  /** Finds the resource that the path or the body names, as `access.resource` says. */
  readonly findResource?: (named: never, principal: never) => Place | Promise<Place>;
  /** For open routes: runs before the body is read, with the query as it was sent. */
  readonly admit?: (headers: IncomingHttpHeaders, query: never) => unknown;
  /** For routes of payloads: what is known of one besides its bytes, of what `admit` returned. */
  readonly payloadHints?: (
    found: never,
    headers: IncomingHttpHeaders,
  ) => PayloadHints | Promise<PayloadHints>;
  /** For open routes: told of every request that was refused, before its answer. */
  readonly refused?: (request: RefusedRequest) => void;
  /** Body of errors where clients expect another one than that of interface 7. */
  readonly refusal?: (refused: Problem) => Answer<unknown>;
  /** Paths below it that have no route are refused in the same form. */
  readonly refusalBelow?: string;
}

type Part = 'params' | 'query' | 'body' | 'response';

/** The type of what a schema of the endpoint describes; unknown without that schema. */
type Of<E extends Endpoint, P extends Part> = E extends {
  readonly [Name in P]: infer S extends TSchema;
}
  ? Static<S>
  : unknown;

export type InputOf<E extends Endpoint> = RouteInput<
  Of<E, 'params'>,
  Of<E, 'query'>,
  Of<E, 'body'>
>;

/** What a handler returns: the described body, an `Answer`, or nothing for 204. */
type OutputOf<E extends Endpoint> = E extends { readonly response: infer S extends TSchema }
  ? Static<S> | Answer<Static<S>> | undefined
  : // biome-ignore lint/suspicious/noConfusingVoidType: handlers without a body return the promise of their last call.
    Answer<unknown> | undefined | void;

type Handled<E extends Endpoint> = OutputOf<E> | Promise<OutputOf<E>>;

/** Open endpoints have no principal. */
export type HandlerOf<E extends Endpoint> = E['access'] extends OpenAccess
  ? (input: InputOf<E>) => Handled<E>
  : (input: InputOf<E>, principal: Principal) => Handled<E>;

type EndpointBy<A> = Endpoint & { readonly access: A };

/**
 * The handler of an open endpoint, of one for every credential, or of one that finds its resources
 * itself.
 */
export function route<
  E extends EndpointBy<OpenAccess | CredentialAccess | PermissionAccess<'handler'>>,
>(endpoint: E, handle: HandlerOf<E>): Route {
  return { ...endpoint, handle };
}

/**
 * The handler of an endpoint that names one resource; `findResource` throws Problem `notFound` for
 * an unknown one.
 */
export function resourceRoute<E extends EndpointBy<PermissionAccess<'path' | 'body'>>>(
  endpoint: E,
  findResource: (
    named: E['access']['resource'] extends 'path' ? Of<E, 'params'> : Of<E, 'body'>,
    principal: Principal,
  ) => Place | Promise<Place>,
  handle: HandlerOf<E>,
): Route {
  return { ...endpoint, findResource, handle };
}

/**
 * The handler of an open endpoint; `admit` runs before the body is read, may throw a Problem, and
 * returns what the handler receives.
 */
export function admittedRoute<E extends EndpointBy<OpenAccess>, F>(
  endpoint: E,
  admit: (headers: IncomingHttpHeaders, query: Of<E, 'query'>) => F | Promise<F>,
  handle: (input: InputOf<E>, found: F) => Handled<E>,
): Route {
  return { ...endpoint, admit, handle };
}

// Further permissions: what a handler checks besides the scope and verb of its endpoint (contract 36).

/**
 * Throws 403 when the principal, who may call the route in the workspace, lacks the further
 * permission there.
 */
export function alsoNeeds(
  principal: Principal,
  scope: Scope,
  verb: Verb,
  workspaceId: string | null,
): void {
  if (!holds(principal, scope, verb, workspaceId)) throw problem('permissionDenied');
}

// Settled routes: a route that reads what followers write waits until they have written it.

/**
 * `settled` resolves when everything that was acknowledged is readable. Its failures are reported
 * by the follower itself.
 */
export function settledRoute(settled: () => Promise<void>, route: Route): Route {
  return {
    ...route,
    handle: async (input: never, admitted: never) => {
      // What is there can be read although something could not be written.
      await settled().catch(() => undefined);
      return route.handle(input, admitted);
    },
  };
}
