// Request paths: without the query, and without the secrets that some of them contain.
import type { EdgeRequest } from './exchange.ts';
import { routeOf } from './request-state.ts';

/** The path without the query. */
export function pathOf({ url }: { readonly url: string }): string {
  const end = url.indexOf('?');
  if (end === -1) return url;
  return url.slice(0, end);
}

/** The path as logs and error bodies may show it. */
export function shownPath(request: EdgeRequest): string {
  const route = routeOf(request);
  if (route?.secretPath) return route.path;
  const path = pathOf(request);
  // Most requests: what is written in the code contains no secret.
  return path === route?.path ? path : maskedPath(path);
}

/**
 * How a path is logged that no route has: only the steps that some route has, as others may be keys
 * at the wrong place.
 */
export function loggedPaths(
  routes: readonly { readonly path: string }[],
): (request: EdgeRequest) => string {
  const known = new Set(routes.flatMap(({ path }) => path.split('/')));
  return (request) => {
    if (request.routeOptions?.url !== undefined) return shownPath(request);
    const steps = pathOf(request).split('/', stepsMax);
    return steps.map((step) => (known.has(step) && !step.startsWith(':') ? step : '***')).join('/');
  };
}

/** More of an unknown path say nothing. */
const stepsMax = 10;

/** Mailed links contain a secret, also when they are mistyped and no route has them. */
export function maskedPath(path: string): string {
  return path.replace(/(\/(?:invitations|password-reset))\/.+/i, '$1/***');
}
