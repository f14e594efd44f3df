// Router: every screen with its address; screens other than sign-in and home are loaded when needed.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { answers } from './api/answers.ts';
import { Refusal } from './api/refusal.ts';
import { readTypeSearch } from './screens/device-types/type-list.ts';
import { readReplaySearch } from './screens/device-type/replay-search.ts';
import { readExploreSearch } from './screens/device/explore/explore-search.ts';
import { readPageSearch } from './screens/device/device-search.ts';
import { readDeviceSearch } from './screens/devices/device-search.ts';
import { Home } from './screens/home/home.tsx';
import { readPage, readRuleSearch, readSimulationSearch } from './screens/rules/rule-search.ts';
import { readNewOutput } from './screens/outputs/new-output-search.ts';
import { readDeliverySearch, readOutputSearch } from './screens/outputs/output-search.ts';
import { SignIn } from './screens/sign-in/sign-in.tsx';
import { lastWorkspace, rememberWorkspace } from './session/last-workspace.ts';
import { account, hasSession, workspacesOf } from './session/session.ts';
import { NotFound } from './shell/not-found.tsx';
import { Shell } from './shell/shell.tsx';
import { NoWorkspace } from './shell/no-workspace.tsx';

const root = createRootRoute({ notFoundComponent: NotFound });

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: SignIn,
  validateSearch: ({ to }: Record<string, unknown>): { to?: string } =>
    typeof to === 'string' ? { to } : {},
});

/** Throws a redirect to the sign-in, which leads back here. */
async function requireSession(to: string) {
  const back = { to: '/sign-in', search: to === '/' ? {} : { to }, throw: true } as const;
  if (!hasSession()) return redirect(back);
  try {
    return await answers.ensureQueryData(account);
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) return redirect(back);
    throw error;
  }
}

const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  beforeLoad: ({ location }) => requireSession(location.href),
});

const start = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  beforeLoad: async () => {
    const { organizationId } = await answers.ensureQueryData(account);
    const { content } = await answers.ensureQueryData(workspacesOf(organizationId));
    const chosen = content.find(({ id }) => id === lastWorkspace()) ?? content[0];
    if (chosen === undefined) return;
    redirect({ to: '/w/$workspaceId', params: { workspaceId: chosen.id }, throw: true });
  },
  component: NoWorkspace,
});

const shell = createRoute({ getParentRoute: () => signedIn, id: 'shell', component: Shell });

const workspace = createRoute({
  getParentRoute: () => shell,
  path: '/w/$workspaceId',
  beforeLoad: ({ params }) => rememberWorkspace(params.workspaceId),
  notFoundComponent: NotFound,
});

const organization = createRoute({
  getParentRoute: () => shell,
  path: '/o/$organizationId/settings',
  notFoundComponent: NotFound,
});

const members = createRoute({
  getParentRoute: () => organization,
  path: '/members',
  component: lazyRouteComponent(
    () => import('./screens/organization/members/members.tsx'),
    'Members',
  ),
});

const keys = createRoute({
  getParentRoute: () => organization,
  path: '/keys',
  component: lazyRouteComponent(() => import('./screens/organization/keys/keys.tsx'), 'Keys'),
});

const audit = createRoute({
  getParentRoute: () => organization,
  path: '/audit',
  validateSearch: ({ page }: Record<string, unknown>): { page?: number } =>
    Number.isInteger(page) && Number(page) > 0 ? { page: Number(page) } : {},
  component: lazyRouteComponent(() => import('./screens/organization/audit/audit.tsx'), 'Audit'),
});

const ownAccount = createRoute({
  getParentRoute: () => shell,
  path: '/me',
  component: lazyRouteComponent(() => import('./screens/account/account.tsx'), 'Account'),
});

const home = createRoute({ getParentRoute: () => workspace, path: '/', component: Home });

const devices = createRoute({
  getParentRoute: () => workspace,
  path: '/devices',
  validateSearch: readDeviceSearch,
  component: lazyRouteComponent(() => import('./screens/devices/devices.tsx'), 'Devices'),
});

const deviceTypes = createRoute({
  getParentRoute: () => workspace,
  path: '/types',
  validateSearch: readTypeSearch,
  component: lazyRouteComponent(
    () => import('./screens/device-types/device-types.tsx'),
    'DeviceTypes',
  ),
});

const deviceType = createRoute({
  getParentRoute: () => workspace,
  path: '/types/$typeId',
  component: lazyRouteComponent(
    () => import('./screens/device-type/device-type.tsx'),
    'DeviceType',
  ),
});

const scriptTab = () => import('./screens/device-type/script-tab.tsx');

const deviceTypeTabs = [
  createRoute({
    getParentRoute: () => deviceType,
    path: '/',
    beforeLoad: ({ params }) => {
      redirect({ to: '/w/$workspaceId/types/$typeId/decoder', params, replace: true, throw: true });
    },
  }),
  createRoute({
    getParentRoute: () => deviceType,
    path: '/decoder',
    component: lazyRouteComponent(scriptTab, 'DecoderTab'),
  }),
  createRoute({
    getParentRoute: () => deviceType,
    path: '/encoder',
    component: lazyRouteComponent(scriptTab, 'EncoderTab'),
  }),
  createRoute({
    getParentRoute: () => deviceType,
    path: '/schema',
    component: lazyRouteComponent(
      () => import('./screens/device-type/schema-tab.tsx'),
      'SchemaTab',
    ),
  }),
  createRoute({
    getParentRoute: () => deviceType,
    path: '/replay',
    validateSearch: readReplaySearch,
    component: lazyRouteComponent(
      () => import('./screens/device-type/replay-tab.tsx'),
      'ReplayTab',
    ),
  }),
  createRoute({
    getParentRoute: () => deviceType,
    path: '/use',
    component: lazyRouteComponent(() => import('./screens/device-type/use-tab.tsx'), 'UseTab'),
  }),
] as const;

const registerDevice = createRoute({
  getParentRoute: () => workspace,
  path: '/devices/new',
  component: lazyRouteComponent(() => import('./screens/devices/register.tsx'), 'Register'),
});

const importDevices = createRoute({
  getParentRoute: () => workspace,
  path: '/devices/import',
  component: lazyRouteComponent(() => import('./screens/devices/import.tsx'), 'ImportDevices'),
});

const device = createRoute({
  getParentRoute: () => workspace,
  path: '/devices/$deviceId',
  validateSearch: readPageSearch,
  component: lazyRouteComponent(() => import('./screens/device/device.tsx'), 'Device'),
});

const devicePages = [
  createRoute({
    getParentRoute: () => device,
    path: '/',
    beforeLoad: ({ params, search }) =>
      redirect({ to: '/w/$workspaceId/devices/$deviceId/overview', params, search, throw: true }),
  }),
  createRoute({
    getParentRoute: () => device,
    path: '/overview',
    component: lazyRouteComponent(
      () => import('./screens/device/overview/overview.tsx'),
      'Overview',
    ),
  }),
  createRoute({
    getParentRoute: () => device,
    path: '/live',
    component: lazyRouteComponent(() => import('./screens/device/live/live.tsx'), 'Live'),
  }),
  createRoute({
    getParentRoute: () => device,
    path: '/uplinks',
    component: lazyRouteComponent(() => import('./screens/device/uplinks/uplinks.tsx'), 'Uplinks'),
  }),
  createRoute({
    getParentRoute: () => device,
    path: '/log',
    component: lazyRouteComponent(() => import('./screens/device/log/log.tsx'), 'Log'),
  }),
  createRoute({
    getParentRoute: () => device,
    path: '/explore',
    validateSearch: readExploreSearch,
    component: lazyRouteComponent(() => import('./screens/device/explore/explore.tsx'), 'Explore'),
  }),
  createRoute({
    getParentRoute: () => device,
    path: '/commands',
    component: lazyRouteComponent(
      () => import('./screens/device/commands/commands.tsx'),
      'Commands',
    ),
  }),
  createRoute({
    getParentRoute: () => device,
    path: '/settings',
    component: lazyRouteComponent(
      () => import('./screens/device/settings/settings.tsx'),
      'Settings',
    ),
  }),
] as const;

const outputs = createRoute({
  getParentRoute: () => workspace,
  path: '/outputs',
  validateSearch: readOutputSearch,
  component: lazyRouteComponent(() => import('./screens/outputs/output-list.tsx'), 'Outputs'),
});

const newOutput = createRoute({
  getParentRoute: () => workspace,
  path: '/outputs/new',
  validateSearch: readNewOutput,
  component: lazyRouteComponent(() => import('./screens/outputs/new-output.tsx'), 'NewOutput'),
});

const output = createRoute({
  getParentRoute: () => workspace,
  path: '/outputs/$outputId',
  beforeLoad: ({ params }) =>
    redirect({ to: '/w/$workspaceId/outputs/$outputId/deliveries', params, throw: true }),
});

const outputDeliveries = createRoute({
  getParentRoute: () => workspace,
  path: '/outputs/$outputId/deliveries',
  validateSearch: readDeliverySearch,
  component: lazyRouteComponent(
    () => import('./screens/outputs/output-deliveries.tsx'),
    'OutputDeliveries',
  ),
});

const outputSettings = createRoute({
  getParentRoute: () => workspace,
  path: '/outputs/$outputId/settings',
  component: lazyRouteComponent(
    () => import('./screens/outputs/output-settings.tsx'),
    'OutputSettings',
  ),
});

const rules = createRoute({
  getParentRoute: () => workspace,
  path: '/rules',
  validateSearch: readRuleSearch,
  component: lazyRouteComponent(() => import('./screens/rules/rule-list.tsx'), 'Rules'),
});

const newRule = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/new',
  component: lazyRouteComponent(() => import('./screens/rules/new-rule.tsx'), 'NewRule'),
});

const rule = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/$ruleId',
  beforeLoad: ({ params }) =>
    redirect({ to: '/w/$workspaceId/rules/$ruleId/edit', params, throw: true }),
});

const ruleEdit = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/$ruleId/edit',
  component: lazyRouteComponent(() => import('./screens/rules/rule-edit.tsx'), 'RuleEdit'),
});

const ruleRuns = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/$ruleId/runs',
  validateSearch: readPage,
  component: lazyRouteComponent(() => import('./screens/rules/rule-runs.tsx'), 'RuleRuns'),
});

const ruleSimulate = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/$ruleId/simulate',
  validateSearch: readSimulationSearch,
  component: lazyRouteComponent(() => import('./screens/rules/rule-simulate.tsx'), 'RuleSimulate'),
});

const routeTree = root.addChildren([
  signIn,
  signedIn.addChildren([
    start,
    shell.addChildren([
      workspace.addChildren([
        home,
        devices,
        registerDevice,
        importDevices,
        device.addChildren(devicePages),
        deviceTypes,
        deviceType.addChildren(deviceTypeTabs),
        outputs,
        newOutput,
        output,
        outputDeliveries,
        outputSettings,
        rules,
        newRule,
        rule,
        ruleEdit,
        ruleRuns,
        ruleSimulate,
      ]),
      organization.addChildren([members, keys, audit]),
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
