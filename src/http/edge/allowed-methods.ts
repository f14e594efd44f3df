// Allowed methods of a path, for the answer 405: looked up only when no route was found.
import type { FastifyInstance } from 'fastify';

interface KnownRoute {
  readonly steps: readonly string[];
  readonly methods: readonly string[];
}

/**
 * Learns every route that is added from now on; the answer is sorted, and empty for an unknown
 * path.
 */
export function allowedMethods(app: FastifyInstance): (path: string) => readonly string[] {
  const routes: KnownRoute[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    routes.push({ steps: url.split('/'), methods: [method].flat() });
  });
  return (path) => {
    // The router takes several slashes for one.
    const steps = path.replaceAll(/\/{2,}/g, '/').split('/');
    const methods = routes
      .filter((route) => isPathOf(route.steps, steps))
      .flatMap((route) => route.methods);
    return [...new Set(methods)].sort();
  };
}

function isPathOf(route: readonly string[], steps: readonly string[]): boolean {
  if (route.at(-1) === '*')
    return (
      route.length <= steps.length && isPathOf(route.slice(0, -1), steps.slice(0, route.length - 1))
    );
  return (
    route.length === steps.length &&
    route.every((step, at) => (step.startsWith(':') ? steps[at] !== '' : step === steps[at]))
  );
}
