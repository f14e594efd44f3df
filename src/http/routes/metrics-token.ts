// Token of `/metrics` (`METRICS_TOKEN`): without one, everyone may read the metrics.
import { createHash, timingSafeEqual } from 'node:crypto';
import { problem } from '../../model/problem.ts';
import type { Route } from '../edge/route.ts';

/** The routes, of which `/metrics` asks for the token when there is one. */
export function withMetricsToken(
  routes: readonly Route[],
  token: string | undefined,
): readonly Route[] {
  if (token === undefined) return routes;
  return routes.map((route) =>
    route.path !== '/metrics'
      ? route
      : {
          ...route,
          access: { open: 'send METRICS_TOKEN as a bearer token' },
          admit: ({ authorization }) => refuseOthers(token, authorization),
        },
  );
}

/** Compares hashes, so that the time says nothing about the token. Throws Problem 401. */
function refuseOthers(token: string, authorization: string | undefined): void {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  const sent = /^bearer +(.+)$/i.exec(authorization ?? '')?.[1] ?? '';
  if (!timingSafeEqual(hash(sent), hash(token))) throw problem('unauthorized');
}
