// Request state: the route of a request, and the results of admission and body parsing.
import type { FastifyRequest } from 'fastify';
import type { Principal } from '../../model/principal.ts';
import type { Route } from './route.ts';

export interface RequestState {
  principal?: Principal;
  /** What the `admit` of an open route returned. */
  found?: unknown;
  /** The problem of a 401. */
  refusedBy?: string;
  /** Bytes of the body as it came in. */
  bodyBytes: number;
}

const states = new WeakMap<FastifyRequest, RequestState>();

export function stateOf(request: FastifyRequest): RequestState {
  const known = states.get(request);
  if (known !== undefined) return known;
  const state: RequestState = { bodyBytes: 0 };
  states.set(request, state);
  return state;
}

/** Undefined for a path without a route, and for the pages and documents beside the interface. */
export function routeOf(request: FastifyRequest): Route | undefined {
  return (request.routeOptions?.config as { readonly route?: Route } | undefined)?.route;
}
