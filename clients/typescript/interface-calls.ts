// Interface calls: the paths, parameters, bodies and answers of each endpoint, as types.
import type { paths } from './generated/interface-types.ts';

export type Method = 'get' | 'post' | 'put' | 'delete';

/** Paths that have the method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [K in M]: { responses: unknown } } ? P : never;
}[keyof paths];

type OperationOf<P extends keyof paths, M extends Method> = paths[P][M];

type PathPart<O> = O extends { parameters: { path: infer T } } ? { readonly path: T } : unknown;

type QueryPart<O> = O extends { parameters: { query: infer T } }
  ? { readonly query: T }
  : O extends { parameters: { query?: never } }
    ? unknown
    : O extends { parameters: { query?: infer T } }
      ? { readonly query?: T }
      : unknown;

/** JSON as a value or as bytes that are sent as they are; other types of content as string or bytes. */
type ContentOf<C> = C extends { 'application/json': infer J }
  ? J | Uint8Array
  : string | Uint8Array;

type BodyPart<O> = O extends { requestBody?: never }
  ? unknown
  : O extends { requestBody: { content: infer C } }
    ? { readonly body: ContentOf<C> }
    : O extends { requestBody?: { content: infer C } }
      ? { readonly body?: ContentOf<C> }
      : unknown;

export interface CallSettings {
  /** Ends the call, and its retries. */
  readonly signal?: AbortSignal;
  /**
   * Repetitions of a POST with the same key have the same effect as one; by default a new key for
   * each call. An empty one sends none.
   */
  readonly idempotencyKey?: string;
  /** Further headers, such as `range`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Type of a body that is not JSON. */
  readonly contentType?: string;
}

export type CallOf<P extends keyof paths, M extends Method> = PathPart<OperationOf<P, M>> &
  QueryPart<OperationOf<P, M>> &
  BodyPart<OperationOf<P, M>> &
  CallSettings;

/** The options may be absent where none is needed. */
export type ArgumentsOf<P extends keyof paths, M extends Method> =
  CallSettings extends CallOf<P, M> ? [call?: CallOf<P, M>] : [call: CallOf<P, M>];

type Success = 200 | 201 | 202 | 204;

type AnswerFrom<R> = R extends { content: { 'application/json': infer J } }
  ? J
  : R extends { content?: never }
    ? undefined
    : string;

export type AnswerOf<P extends keyof paths, M extends Method> =
  OperationOf<P, M> extends { responses: infer R }
    ? { [S in keyof R & Success]: AnswerFrom<R[S]> }[keyof R & Success]
    : never;

/** The items of a list. */
export type ItemOf<Answer> = Answer extends { content: readonly (infer Item)[] } ? Item : never;
