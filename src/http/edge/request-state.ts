// Request state: the route of a request, and the results of admission and body parsing.
import { largeWorkLimits } from '../../transports/large-work.ts';
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

/**
 * Undefined when the request need not wait for its turn. One with a large body from a device waits
 * until few others of its organization are in progress; `endLarge` must be called when it is done.
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
  stateOf(request).endLarge = await turns.large.begin(organizationId);
  await turns.wait(organizationId);
}

/** The request is answered, or failed. */
export function endLarge(request: EdgeRequest): void {
  const state = stateOf(request);
  state.endLarge?.();
  delete state.endLarge;
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
