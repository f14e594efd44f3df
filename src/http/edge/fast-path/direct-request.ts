// Direct request: a request that is served without the framework, as the edge reads it.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { EdgeRequest, RequestState } from '../exchange.ts';
import { requestIdOf } from '../request-id.ts';

/** What a direct request takes from its route. */
export interface DirectTarget {
  readonly routeOptions: NonNullable<EdgeRequest['routeOptions']>;
  readonly params: unknown;
  readonly query: unknown;
  readonly addressOf: (raw: IncomingMessage) => string;
}

// A class, because there is one for each request, and most of its getters are not read.
export class DirectRequest implements EdgeRequest {
  readonly id: string;
  readonly raw: IncomingMessage;
  readonly params: unknown;
  readonly query: unknown;
  readonly routeOptions: NonNullable<EdgeRequest['routeOptions']>;
  readonly edgeState: RequestState = { bodyBytes: 0 };
  body: unknown;
  readonly #addressOf: DirectTarget['addressOf'];

  constructor(raw: IncomingMessage, target: DirectTarget) {
    this.id = requestIdOf(raw.headers['x-request-id']);
    this.raw = raw;
    this.params = target.params;
    this.query = target.query;
    this.routeOptions = target.routeOptions;
    this.body = undefined;
    this.#addressOf = target.addressOf;
  }

  get method(): string {
    return this.raw.method ?? '';
  }

  get url(): string {
    return this.raw.url ?? '';
  }

  get headers(): IncomingHttpHeaders {
    return this.raw.headers;
  }

  get ip(): string {
    return this.#addressOf(this.raw);
  }
}
