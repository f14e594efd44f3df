// Routes of health, metrics and the facts about the installation; open, because they contain no customer data.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Static } from 'typebox';
import { about, type aboutSchema, health } from '../../contract/health.ts';
import { problem } from '../../model/problem.ts';
import { Answer, route, type Route } from '../edge/route.ts';

export function healthRoutes(parts: {
  /** Undefined when ready, else why not. */
  readonly notReadyBecause: () => string | undefined;
  /** Warnings for the operator while requests are served. */
  readonly notes: () => readonly string[];
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
}): readonly Route[] {
  return [
    route(health.live, () => ({ status: 'UP' as const })),
    route(health.ready, () => {
      const reason = parts.notReadyBecause();
      const notes = parts.notes();
      const noted = notes.length > 0 && { notes: [...notes] };
      if (reason === undefined) return { status: 'UP' as const, ...noted };
      return new Answer(503, { status: 'DOWN' as const, reason, ...noted });
    }),
    route(health.metrics, async () => {
      const { contentType, text } = await parts.metrics();
      return new Answer(200, text, { 'content-type': contentType });
    }),
  ];
}

// Route of the facts about the installation that need no credential (contract 37).

type About = Static<typeof aboutSchema>;

export interface AboutParts {
  readonly installation: Pick<
    About,
    'version' | 'features' | 'ports' | 'mapTiles' | 'signInKinds' | 'provider'
  >;
  /** Whether a device was ever created, as far as the records know. */
  readonly hasDevices: () => Promise<boolean>;
  /** Whether the headers have a valid credential; never throws a Problem. */
  readonly isSignedIn: (headers: IncomingHttpHeaders) => Promise<boolean>;
}

export function aboutRoute({ installation, hasDevices, isSignedIn }: AboutParts): Route {
  // Once there was a device, the first run is over.
  let hadDevices = false;
  return route(about.read, async ({ headers }) => {
    const signedIn = await isSignedIn(headers);
    hadDevices ||= await hasDevices();
    return {
      name: 'Heliograph',
      ...installation,
      signedIn,
      firstRun: !hadDevices,
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    };
  });
}

// Token of `/metrics` (`METRICS_TOKEN`): without one, everyone may read the metrics.

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
