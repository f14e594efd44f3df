// Router: every screen with its address; each screen is loaded when it is needed.
import { createRoute, createRouter } from '@tanstack/react-router';
import { hasSession } from '../session/session.ts';
import { ScreenFailure } from '../ui/late.tsx';
import { deviceRoutes, deviceTypeRoutes } from './routes/device-routes.ts';
import { flowRoutes } from './routes/flow-routes.ts';
import {
  accessRoutes,
  enrolment,
  firstPassword,
  root,
  screen,
  shell,
  signedIn,
  signIn,
  signInScreen,
  start,
  welcome,
  workspace,
} from './routes/frame.ts';
import { outputRoutes, ruleRoutes } from './routes/rule-routes.ts';
import {
  organizationRoutes,
  ownAccount,
  ownSecurity,
  settingsRoutes,
} from './routes/settings-routes.ts';
import { parseSearch, stringifySearch } from './search-text.ts';
import {
  dashboardRoutes,
  deviceMap,
  placeRoutes,
  sharedDashboard,
  watchRoutes,
} from './routes/watch-routes.ts';

const homeScreen = screen(() => import('../screens/home/home.tsx'), 'Home');
const home = createRoute({ getParentRoute: () => workspace, path: '/', component: homeScreen });

/** Where most visits begin: loaded while the session is asked for. */
const isForHome = /^\/(w\/[^/]+\/?)?$/.test(location.pathname);
if (!hasSession()) void signInScreen.preload?.();
else if (isForHome) void homeScreen.preload?.();

const routeTree = root.addChildren([
  signIn,
  sharedDashboard,
  ...accessRoutes,
  signedIn.addChildren([
    start,
    enrolment,
    firstPassword,
    shell.addChildren([
      welcome,
      workspace.addChildren([
        home,
        ...dashboardRoutes,
        deviceMap,
        placeRoutes,
        ...deviceRoutes,
        ...deviceTypeRoutes,
        ...flowRoutes,
        ...outputRoutes,
        ...ruleRoutes,
        ...watchRoutes,
        settingsRoutes,
      ]),
      organizationRoutes,
      ownAccount,
      ownSecurity,
    ]),
  ]),
]);

export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultErrorComponent: ScreenFailure,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
