// Router: starts with the sign-in and Home; the routes of all other screens, and each screen, are loaded when needed.
import { createRouter, type Router } from '@tanstack/react-router';
import { hasSession } from '../session/session.ts';
import { ScreenFailure } from '../ui/late.tsx';
import type { allRoutes } from './routes/all-routes.ts';
import {
  accessRoutes,
  elsewhere,
  enrolment,
  firstPassword,
  home,
  homeScreen,
  root,
  sharedElsewhere,
  shell,
  signedIn,
  signIn,
  signInScreen,
  start,
  welcome,
  workspace,
} from './routes/frame.ts';
import { laterRoutes } from './routes/later-routes.ts';
import { parseSearch, stringifySearch } from './search-text.ts';

const firstRoutes = root.addChildren([
  signIn,
  sharedElsewhere,
  ...accessRoutes,
  signedIn.addChildren([
    start,
    enrolment,
    firstPassword,
    shell.addChildren([welcome, workspace.addChildren([home]), elsewhere]),
  ]),
]);

export const router = createRouter({
  routeTree: firstRoutes,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultErrorComponent: ScreenFailure,
  scrollRestoration: true,
});

/** Links and parameters are checked against all routes, not only the first. */
declare module '@tanstack/react-router' {
  interface Register {
    router: Router<ReturnType<typeof allRoutes>>;
  }
}

async function loadRoutes() {
  const all = await import('./routes/all-routes.ts');
  all.allRoutes();
  router.setRoutes(router.buildRouteTree());
}

const withoutScreen: readonly string[] = [elsewhere.id, sharedElsewhere.id];

function hasScreen(pathname: string) {
  const [, , found] = router.getMatchedRoutes(pathname);
  return found !== undefined && !withoutScreen.includes(found.id);
}

laterRoutes.comeFrom(loadRoutes, hasScreen);

/** Asks in the background for the other routes; what fails is asked for again when it is needed. */
const addLaterRoutes = () => void laterRoutes.add().catch(() => undefined);

/** Where most visits begin: loaded while the session is asked for. Other addresses need their routes. */
const isForHome = /^\/(w\/[^/]+\/?)?$/.test(location.pathname);
if (!hasSession()) void signInScreen.preload?.();
else if (isForHome) void homeScreen.preload?.();
else addLaterRoutes();

const unsubscribe = router.subscribe('onRendered', () => {
  unsubscribe();
  addLaterRoutes();
});
