// The one way to declare a route: without saying who may call it, a route does not compile.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Static, TSchema } from 'typebox';
import type { Scope, Verb } from '../../model/permission.ts';
import type { Place } from '../../model/resource-ref.ts';
import type { Principal } from '../../model/principal.ts';
import type { Problem } from '../../model/problem.ts';

/** Anyone may call the route; `open` says why that is right. */
export interface OpenAccess<F> {
  readonly open: string;
  /** Runs before the body is read and may throw a Problem. The handler receives what it returns. */
  readonly admit?: (headers: IncomingHttpHeaders, query: unknown) => F | Promise<F>;
  /** The secret that stands for a credential, for the interface reference. */
  readonly secret?: 'uplinkSecret';
}

/** Who may call a route, and how the place of what it touches is found. */
export type Access<P, B> = OpenAccess<unknown> | GuardedAccess<P, B>;

export type GuardedAccess<P, B> =
  /** Every valid credential; the handler answers only what the principal may see. The text says why. */
  | { readonly anyCredential: string; readonly userOnly?: true }
  | {
      readonly scope: Scope;
      readonly verb: Verb;
      /** Asked in the same place besides (contract 36). */
      readonly also?: readonly (readonly [Scope, Verb])[];
      /** Only a signed-in user, never a key or a token (contract 35). */
      readonly userOnly?: true;
      readonly place: PlaceFinder<P, B>;
    };

export type PlaceFinder<P, B> =
  /** Found by the path before the body is read: an unknown record is a 404, a forbidden one a 403. */
  | { readonly byParams: (params: P) => Place | Promise<Place> }
  /** Named in the body, so checked after the body. */
  | { readonly byBody: (body: B, principal: Principal) => Place | Promise<Place> }
  /** A list: the handler narrows it to the principal's reach. */
  | { readonly narrowedByHandler: true };

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

/** Content type to schema. */
type ContentTypes = Readonly<Record<string, TSchema>>;

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

interface RouteShape<P extends TSchema, Q extends TSchema, B extends TSchema, R extends TSchema> {
  readonly method: Method;
  /** Path with `:name` parameters, for example `/v3/devices/:deviceId`. */
  readonly path: string;
  /** One sentence for the interface reference. */
  readonly summary: string;
  /** Groups routes in the interface reference: the resource, for example `Devices`. */
  readonly tag: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** What the interface reference shows of the body, where the handler checks more closely than `body` does. */
  readonly bodyShown?: TSchema;
  /** Success status; default 200, or 204 without `response` and `answerTypes`. */
  readonly status?: number;
  readonly response?: R;
  /** Name in the interface reference; made of method and path when absent. */
  readonly operationId?: string;
  /** What the permission of `access` does not cover, as sentences for the interface reference. */
  readonly needsAlso?: string;
  /** For the interface reference: schemas of the request body by content type, when it is not JSON alone. */
  readonly bodyTypes?: ContentTypes;
  /** For the interface reference: schemas of the answer by content type, when it is not JSON alone. */
  readonly answerTypes?: ContentTypes;
  /** For the interface reference: other answers than success and the common refusals, by status; JSON. */
  readonly otherAnswers?: Readonly<Record<number, TSchema>>;
  /** For the interface reference: headers that an answer may carry, with what they say. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
  readonly bodyBytesMax?: number;
  /**
   * Whether the handler reads the body itself while it comes in, bounded by `bodyBytesMax`: declare `body` as
   * `Type.Unsafe<BodyStream>(...)`, whose schema then only documents it. Success means that the body was read to its end.
   */
  readonly streamedBody?: true;
  /** Whether a streamed body may be of any content type; else it must be JSON. */
  readonly anyBodyType?: true;
  /** Whether JSON is also taken without a content type or under that of a form, as simple clients send it. */
  readonly jsonOfAnyType?: true;
  /** Whether the body is a form (`application/x-www-form-urlencoded`), handed over as text; other routes refuse forms. */
  readonly form?: true;
  /** Whether the path holds a secret: logs and error bodies name the route instead. */
  readonly secretPath?: true;
  /** How refusals look where clients expect another body than that of interface 7. */
  readonly refusal?: (refused: Problem) => Answer<unknown>;
  /** For the interface reference: the schema of those refusals. */
  readonly refusalSchema?: TSchema;
}

type Output<R extends TSchema> = Static<R> | Answer<Static<R>> | undefined;

/** A declared route, its type parameters forgotten so that routes of all kinds fit one list. */
export interface Route extends RouteShape<TSchema, TSchema, TSchema, TSchema> {
  readonly access: Access<never, never>;
  readonly handle: (input: never, admitted: never) => unknown;
}

type OpenRoute<
  P extends TSchema,
  Q extends TSchema,
  B extends TSchema,
  R extends TSchema,
  F,
> = RouteShape<P, Q, B, R> & {
  readonly access: OpenAccess<F>;
  readonly handle: (
    input: RouteInput<Static<P>, Static<Q>, Static<B>>,
    found: F,
  ) => Output<R> | Promise<Output<R>>;
};

type GuardedRoute<
  P extends TSchema,
  Q extends TSchema,
  B extends TSchema,
  R extends TSchema,
> = RouteShape<P, Q, B, R> & {
  readonly access: GuardedAccess<Static<P>, Static<B>>;
  readonly handle: (
    input: RouteInput<Static<P>, Static<Q>, Static<B>>,
    principal: Principal,
  ) => Output<R> | Promise<Output<R>>;
};

/** Declares a route that needs a credential; its handler is given the principal. */
export function guardedRoute<
  P extends TSchema,
  Q extends TSchema,
  B extends TSchema,
  R extends TSchema,
>(route: GuardedRoute<P, Q, B, R>): Route {
  return route;
}

/** Declares a route that anyone may call; its handler is given what `access.admit` returns. */
export function openRoute<
  P extends TSchema,
  Q extends TSchema,
  B extends TSchema,
  R extends TSchema,
  F = undefined,
>(route: OpenRoute<P, Q, B, R, F>): Route {
  return route;
}
