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

/** Undefined when the request need not wait for its turn. */
export function turnOf(request: EdgeRequest): Promise<void> | undefined {
  const { turn } = stateOf(request);
  return turn?.turns.wait(turn.organizationId);
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
