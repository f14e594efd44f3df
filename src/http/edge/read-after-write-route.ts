// Settled routes: a route that reads what followers write waits until they have written it.
import type { Route } from './route.ts';

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
