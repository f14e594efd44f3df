// Exchange: what the edge reads of a request and sets of its answer, and the state of the request between.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../../model/principal.ts';
import type { UnreadableSamples } from '../../storage/samples/sample-store.ts';
import { refuseUnreadable } from '../../storage/samples/reported-reads.ts';
import type { HeldBytes } from '../../transports/byte-budget.ts';
import { largeWorkLimits } from '../../transports/large-work.ts';
import type { WorkTurns } from '../../transports/work-turns.ts';
import type { Inflation } from './request-body.ts';
import { Answer, type Route } from './route.ts';

export type RequestTurns = Pick<
  WorkTurns,
  'slice' | 'nextTurn' | 'wait' | 'charge' | 'large' | 'compressed'
>;

export interface RequestState {
  principal?: Principal;
  /** What the `admit` of an open route returned. */
  found?: unknown;
  /** The problem of a 401. */
  refusedBy?: string;
  /** Bytes of the body as it was received. */
  bodyBytes: number;
  /** The body that was refused as it was received. */
  refusedBody?: Buffer;
  /** Whose turn the work of the request waits for; absent for requests of nobody. */
  turn?: { readonly organizationId: string; readonly turns: RequestTurns };
  /** Ends the place of the request among the large ones of its organization; absent for others. */
  endLarge?: () => void;
  /** Bytes of the body as they came, of a compressed one. */
  compressed?: HeldBytes;
}

/** A request of the framework, or one that is served directly. */
export interface EdgeRequest {
  readonly id: string;
  readonly method: string;
  /** Path and query as they were sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The address of the caller. */
  readonly ip: string;
  readonly raw: IncomingMessage;
  readonly params: unknown;
  readonly query: unknown;
  readonly body?: unknown;
  /** What is known of the route; the framework has none for a request that it rejects. */
  readonly routeOptions?: {
    readonly url?: string | undefined;
    readonly config?: unknown;
  };
  /** See `stateOf`. */
  edgeState?: RequestState;
}

/** A reply of the framework, or one that is written directly. Names of headers are in lower case. */
export interface EdgeReply {
  readonly request: EdgeRequest;
  readonly raw: ServerResponse;
  readonly statusCode: number;
  /** Milliseconds since the request came. */
  readonly elapsedTime: number;
  getHeader(name: string): unknown;
  header(name: string, value: unknown): unknown;
  headers(values: Readonly<Record<string, string>>): unknown;
  code(status: number): unknown;
  /** JSON, a string, bytes, a stream, or nothing. */
  send(body?: unknown): unknown;
}

// Incomplete answers: damaged samples are skipped, and the answer says so (contract 36).

/** On every answer that skips damaged samples. */
export const incompleteHeader = { 'x-incomplete': 'true' } as const;

/** For one request. */
export class Completeness {
  #first: UnreadableSamples | undefined;

  /** Passed to the store with the read. */
  readonly unreadable = (samples: UnreadableSamples): void => {
    this.#first ??= samples;
  };

  readonly isIncomplete = (): boolean => this.#first !== undefined;

  /** Throws Problem `samplesDamaged` when the read skipped something. */
  readonly refuse = (): void => {
    if (this.#first !== undefined) refuseUnreadable(this.#first);
  };

  /** The answer with the header when the read skipped something, else the plain body. */
  readonly answer = <T>(body: T): T | Answer<T> => {
    if (this.#first === undefined) return body;
    return new Answer(200, body, incompleteHeader);
  };
}

// Request state: the route of a request, and the results of admission and body parsing.

export function stateOf(request: EdgeRequest): RequestState {
  request.edgeState ??= { bodyBytes: 0 };
  return request.edgeState;
}

/** Undefined for a path without a route, and for the pages and documents beside the interface. */
export function routeOf({ routeOptions }: EdgeRequest): Route | undefined {
  return (routeOptions?.config as { readonly route?: Route } | undefined)?.route;
}

/**
 * Undefined when the request need not wait for its turn. One with a large body from a device waits
 * until few others of its organization are in progress, once; `endLarge` must be called when it is
 * done.
 */
export function turnOf(request: EdgeRequest, bodyBytes: number): Promise<void> | undefined {
  const { turn } = stateOf(request);
  if (turn === undefined) return undefined;
  if (bodyBytes <= largeWorkLimits.bytesMin || !routeOf(request)?.readings)
    return turn.turns.wait(turn.organizationId);
  return beginLarge(request, turn);
}

async function beginLarge(
  request: EdgeRequest,
  { turns, organizationId }: NonNullable<RequestState['turn']>,
): Promise<void> {
  const state = stateOf(request);
  state.endLarge ??= await turns.large.begin(organizationId);
  await turns.nextTurn(organizationId);
}

/**
 * For a compressed body, which is inflated at the turns of its organization; what it takes is given
 * back by `endLarge`. Undefined for requests of nobody.
 */
export function inflationOf(request: EdgeRequest): Inflation | undefined {
  const { turn } = stateOf(request);
  if (turn === undefined) return undefined;
  const state = stateOf(request);
  state.compressed = turn.turns.compressed.open(turn.organizationId);
  return {
    take: state.compressed.take,
    // What is short is inflated at once.
    next: (bytes) =>
      bytes <= largeWorkLimits.bytesMin ? undefined : nextPart(request, bytes, turn),
  };
}

function nextPart(
  request: EdgeRequest,
  bytes: number,
  { turns, organizationId }: NonNullable<RequestState['turn']>,
): Promise<void> | undefined {
  return routeOf(request)?.readings ? turnOf(request, bytes) : turns.nextTurn(organizationId);
}

/** The request is answered, or failed. */
export function endLarge(request: EdgeRequest): void {
  const state = stateOf(request);
  state.endLarge?.();
  delete state.endLarge;
  state.compressed?.release();
}

/** Does work of the request at once, and charges it. */
export function charged<T>(request: EdgeRequest, work: () => T): T {
  const { turn } = stateOf(request);
  if (turn === undefined) return work();
  const startedAt = performance.now();
  try {
    return work();
  } finally {
    turn.turns.charge(turn.organizationId, performance.now() - startedAt);
  }
}
