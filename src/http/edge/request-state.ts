// Request state: the route of a request, and the results of admission and body parsing.
import type { EdgeRequest, RequestState } from './exchange.ts';
import type { Route } from './route.ts';

export function stateOf(request: EdgeRequest): RequestState {
  request.edgeState ??= { bodyBytes: 0 };
  return request.edgeState;
}

/** Undefined for a path without a route, and for the pages and documents beside the interface. */
export function routeOf({ routeOptions }: EdgeRequest): Route | undefined {
  return (routeOptions?.config as { readonly route?: Route } | undefined)?.route;
}
