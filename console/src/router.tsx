// Router: every screen with its address; screens other than sign-in and home are loaded when needed.
import { createRoute, createRouter } from '@tanstack/react-router';
import { dashboardRoutes, sharedDashboard } from './routes/dashboard-routes.ts';
import { deviceRoutes } from './routes/device-routes.ts';
import { deviceTypeRoutes } from './routes/device-type-routes.ts';
import { root, shell, signedIn, signIn, start, workspace } from './routes/frame.ts';
import { deviceMap } from './routes/map-routes.ts';
import { organizationRoutes, ownAccount } from './routes/organization-routes.ts';
import { outputRoutes, ruleRoutes } from './routes/rule-routes.ts';
import { Home } from './screens/home/home.tsx';

const home = createRoute({ getParentRoute: () => workspace, path: '/', component: Home });

const routeTree = root.addChildren([
  signIn,
  sharedDashboard,
  signedIn.addChildren([
    start,
    shell.addChildren([
      workspace.addChildren([
        home,
        ...dashboardRoutes,
        deviceMap,
        ...deviceRoutes,
        ...deviceTypeRoutes,
        ...outputRoutes,
        ...ruleRoutes,
      ]),
      organizationRoutes,
      ownAccount,
    ]),
  ]),
]);

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
