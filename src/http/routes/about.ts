// Route of the facts about the installation that need no credential (contract 37).
import type { IncomingHttpHeaders } from 'node:http';
import type { Static } from 'typebox';
import { about, type aboutSchema } from '../../contract/about.ts';
import { type Route, route } from '../edge/route.ts';

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
