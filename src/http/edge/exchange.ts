// Exchange: what the edge reads of a request and sets of its answer, by whichever way it is served.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { WorkTurns } from '../../transports/work-turns.ts';
import type { Principal } from '../../model/principal.ts';

export type RequestTurns = Pick<WorkTurns, 'run' | 'wait' | 'charge' | 'large'>;

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
