// Router: every screen with its address; screens other than sign-in and home are loaded when needed.
import { createRoute, createRouter } from '@tanstack/react-router';
import { accessRoutes } from './routes/access-routes.ts';
import { deviceRoutes } from './routes/device-routes.ts';
import { deviceTypeRoutes } from './routes/device-type-routes.ts';
import { flowRoutes } from './routes/flow-routes.ts';
import { root, shell, signedIn, signIn, start, welcome, workspace } from './routes/frame.ts';
import { organizationRoutes, ownAccount } from './routes/organization-routes.ts';
import { outputRoutes, ruleRoutes } from './routes/rule-routes.ts';
import { Home } from './screens/home/home.tsx';

const home = createRoute({ getParentRoute: () => workspace, path: '/', component: Home });

const routeTree = root.addChildren([
  signIn,
  ...accessRoutes,
  signedIn.addChildren([
    start,
    shell.addChildren([
      welcome,
      workspace.addChildren([
        home,
        ...deviceRoutes,
        ...deviceTypeRoutes,
        ...flowRoutes,
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
