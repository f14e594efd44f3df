// Routes of health, metrics and the facts about the installation; open, because they contain no customer data.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Static } from 'typebox';
import { about, type aboutSchema, health } from '../../contract/health.ts';
import { problem } from '../../model/problem.ts';
import { Answer, route, type Route } from '../edge/route.ts';

/** Without a token, everyone may read the metrics. */
export function healthRoutes(
  /** Undefined when ready, else why not. */
  notReadyBecause: () => string | undefined,
  /** Warnings for the operator while requests are served. */
  notesOf: () => readonly string[],
  metricsNow: () => Promise<{ readonly contentType: string; readonly text: string }>,
  metricsToken: string | undefined,
): readonly Route[] {
  const metrics = route(health.metrics, async () => {
    const { contentType, text } = await metricsNow();
    return new Answer(200, text, { 'content-type': contentType });
  });
  return [
    route(health.live, () => ({ status: 'UP' as const })),
    route(health.ready, () => {
      const reason = notReadyBecause();
      const notes = notesOf();
      const noted = notes.length > 0 && { notes: [...notes] };
      if (reason === undefined) return { status: 'UP' as const, ...noted };
      return new Answer(503, { status: 'DOWN' as const, reason, ...noted });
    }),
    metricsToken === undefined
      ? metrics
      : {
          ...metrics,
          access: { open: 'send METRICS_TOKEN as a bearer token' },
          admit: ({ authorization }) => refuseOthers(metricsToken, authorization),
        },
  ];
}

/** Compares hashes, so that the time says nothing about the token. Throws Problem 401. */
function refuseOthers(token: string, authorization: string | undefined): void {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  const sent = /^bearer +(.+)$/i.exec(authorization ?? '')?.[1] ?? '';
  if (!timingSafeEqual(hash(sent), hash(token))) throw problem('unauthorized');
}

// Route of the facts about the installation that need no credential (contract 37).

type About = Static<typeof aboutSchema>;

export function aboutRoute(
  installation: Pick<
    About,
    'version' | 'features' | 'ports' | 'mapTiles' | 'signInKinds' | 'provider'
  >,
  /** Whether a device was ever created, as far as the records know. */
  hasDevices: () => Promise<boolean>,
  /** Whether the headers have a valid credential; never throws a Problem. */
  isSignedIn: (headers: IncomingHttpHeaders) => Promise<boolean>,
): Route {
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
