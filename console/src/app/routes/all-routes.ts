// All routes: every screen with its address; loaded after the first screen, or for the first address that needs it.
import {
  accessRoutes,
  elsewhere,
  enrolment,
  firstPassword,
  home,
  root,
  sharedElsewhere,
  shell,
  signedIn,
  signIn,
  start,
  welcome,
  workspace,
} from './frame.ts';
import { deviceRoutes, deviceTypeRoutes } from './device-routes.ts';
import { flowRoutes } from './flow-routes.ts';
import { outputRoutes, ruleRoutes } from './rule-routes.ts';
import { organizationRoutes, ownAccount, ownSecurity, settingsRoutes } from './settings-routes.ts';
import {
  dashboardRoutes,
  deviceMap,
  placeRoutes,
  sharedDashboard,
  watchRoutes,
} from './watch-routes.ts';

/** Gives the first routes their siblings, and returns the root of all. */
export function allRoutes() {
  return root.addChildren([
    signIn,
    sharedDashboard,
    sharedElsewhere,
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
        elsewhere,
      ]),
    ]),
  ]);
}
