// All routes: every screen with its address; loaded after the first screen, or for the first address that needs it.
import { createRoute, redirect } from '@tanstack/react-router';
import {
  accessRoutes,
  elsewhere,
  enrolment,
  firstPassword,
  home,
  onlyRead,
  root,
  screen,
  sharedElsewhere,
  shell,
  signedIn,
  signIn,
  start,
  welcome,
  workspace,
} from './frame.ts';
import {
  readCalculatedSearch,
  readDecoderSearch,
  readReplaySearch,
  readTypeSearch,
} from '../../screens/device-types/type-search.ts';
import { readPageSearch } from '../../screens/device/device-search.ts';
import { readExploreSearch } from '../../screens/device/explore/explore-search.ts';
import { readDeviceSearch, readRegisterSearch } from '../../screens/devices/device-search.ts';
import { PartOfScreenFailure } from '../../ui/late.tsx';
import { type IntegrationType, integrationTypes } from '../../../../src/model/connector.ts';
import { readListSearch, readPage } from '../../ui/list-search.ts';
import {
  readDeliverySearch,
  readNewOutput,
  readOutputSearch,
} from '../../screens/outputs/output-search.ts';
import { readSimulationSearch } from '../../screens/rules/rule-requests.ts';
import { readActivitySearch, readAuditSearch } from '../../screens/activity/activity-search.ts';
import { readAlarmSearch } from '../../screens/alarms/alarm-search.ts';
import { readDashboardSearch } from '../../screens/dashboards/dashboard-search.ts';
import { readMapSearch } from '../../screens/map/map-search.ts';
import { readPlacesSearch } from '../../screens/places/places-search.ts';

// Routes of devices and device types: lists, new ones, and the tabs of one.

// Routes of device types: the list, and the tabs of one.

const deviceTypes = createRoute({
  getParentRoute: () => workspace,
  path: '/types',
  validateSearch: readTypeSearch,
  component: screen(() => import('../../screens/device-types/device-types.tsx'), 'DeviceTypes'),
});

const deviceType = createRoute({
  getParentRoute: () => workspace,
  path: '/types/$typeId',
  component: screen(() => import('../../screens/device-types/device-type.tsx'), 'DeviceType'),
});

const scriptTab = () => import('../../screens/device-types/script-tab.tsx');

const deviceTypeTabs = [
  createRoute({
    getParentRoute: () => deviceType,
    errorComponent: PartOfScreenFailure,
    path: '/',
    beforeLoad: ({ params }) => {
      redirect({ to: '/w/$workspaceId/types/$typeId/decoder', params, replace: true, throw: true });
    },
  }),
  createRoute({
    getParentRoute: () => deviceType,
    errorComponent: PartOfScreenFailure,
    path: '/decoder',
    validateSearch: readDecoderSearch,
    component: screen(scriptTab, 'DecoderTab'),
  }),
  createRoute({
    getParentRoute: () => deviceType,
    errorComponent: PartOfScreenFailure,
    path: '/encoder',
    component: screen(scriptTab, 'EncoderTab'),
  }),
  createRoute({
    getParentRoute: () => deviceType,
    errorComponent: PartOfScreenFailure,
    path: '/schema',
    component: screen(() => import('../../screens/device-types/schema-tab.tsx'), 'SchemaTab'),
  }),
  createRoute({
    getParentRoute: () => deviceType,
    errorComponent: PartOfScreenFailure,
    path: '/calculated',
    validateSearch: readCalculatedSearch,
    component: screen(
      () => import('../../screens/device-types/calculated-tab.tsx'),
      'CalculatedTab',
    ),
  }),
  createRoute({
    getParentRoute: () => deviceType,
    errorComponent: PartOfScreenFailure,
    path: '/replay',
    validateSearch: readReplaySearch,
    component: screen(() => import('../../screens/device-types/replay-tab.tsx'), 'ReplayTab'),
  }),
  createRoute({
    getParentRoute: () => deviceType,
    errorComponent: PartOfScreenFailure,
    path: '/use',
    component: screen(() => import('../../screens/device-types/use-tab.tsx'), 'UseTab'),
  }),
] as const;

const deviceTypeRoutes = [deviceTypes, deviceType.addChildren(deviceTypeTabs)] as const;

const devices = createRoute({
  getParentRoute: () => workspace,
  path: '/devices',
  validateSearch: onlyRead(readDeviceSearch),
  component: screen(() => import('../../screens/devices/devices.tsx'), 'Devices'),
});

const registerDevice = createRoute({
  getParentRoute: () => workspace,
  path: '/devices/new',
  validateSearch: readRegisterSearch,
  component: screen(() => import('../../screens/devices/register.tsx'), 'Register'),
});

const importDevices = createRoute({
  getParentRoute: () => workspace,
  path: '/devices/import',
  component: screen(() => import('../../screens/devices/import.tsx'), 'ImportDevices'),
});

const device = createRoute({
  getParentRoute: () => workspace,
  path: '/devices/$deviceId',
  validateSearch: readPageSearch,
  component: screen(() => import('../../screens/device/device.tsx'), 'Device'),
});

const devicePages = [
  createRoute({
    getParentRoute: () => device,
    errorComponent: PartOfScreenFailure,
    path: '/',
    beforeLoad: ({ params, search }) =>
      redirect({ to: '/w/$workspaceId/devices/$deviceId/overview', params, search, throw: true }),
  }),
  createRoute({
    getParentRoute: () => device,
    errorComponent: PartOfScreenFailure,
    path: '/overview',
    component: screen(() => import('../../screens/device/overview/overview.tsx'), 'Overview'),
  }),
  createRoute({
    getParentRoute: () => device,
    errorComponent: PartOfScreenFailure,
    path: '/dashboard',
    component: screen(() => import('../../screens/device/dashboard.tsx'), 'DeviceDashboard'),
  }),
  createRoute({
    getParentRoute: () => device,
    errorComponent: PartOfScreenFailure,
    path: '/live',
    component: screen(() => import('../../screens/device/live-tail.tsx'), 'Live'),
  }),
  createRoute({
    getParentRoute: () => device,
    errorComponent: PartOfScreenFailure,
    path: '/uplinks',
    component: screen(() => import('../../screens/device/uplinks.tsx'), 'Uplinks'),
  }),
  createRoute({
    getParentRoute: () => device,
    errorComponent: PartOfScreenFailure,
    path: '/log',
    component: screen(() => import('../../screens/device/log.tsx'), 'Log'),
  }),
  createRoute({
    getParentRoute: () => device,
    errorComponent: PartOfScreenFailure,
    path: '/explore',
    validateSearch: readExploreSearch,
    component: screen(() => import('../../screens/device/explore/explore.tsx'), 'Explore'),
  }),
  createRoute({
    getParentRoute: () => device,
    errorComponent: PartOfScreenFailure,
    path: '/commands',
    component: screen(() => import('../../screens/device/commands.tsx'), 'Commands'),
  }),
  createRoute({
    getParentRoute: () => device,
    errorComponent: PartOfScreenFailure,
    path: '/settings',
    component: screen(() => import('../../screens/device/device-settings.tsx'), 'Settings'),
  }),
] as const;

const deviceRoutes = [
  devices,
  registerDevice,
  importDevices,
  device.addChildren(devicePages),
] as const;

// Routes of data flows, and of the device connectors and integrations that are their tabs.

const flowRoutes = [
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows',
    validateSearch: readListSearch,
    component: screen(() => import('../../screens/flows/flow-lists.tsx'), 'Flows'),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows/new',
    component: screen(() => import('../../screens/flows/flow-page.tsx'), 'NewFlow'),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows/$flowId',
    component: screen(() => import('../../screens/flows/flow-page.tsx'), 'FlowPage'),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows/connectors',
    validateSearch: readListSearch,
    component: screen(() => import('../../screens/flows/flow-lists.tsx'), 'Connectors'),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows/connectors/$connectorId',
    component: screen(() => import('../../screens/flows/connector-page.tsx'), 'ConnectorPage'),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows/integrations',
    validateSearch: readListSearch,
    component: screen(() => import('../../screens/flows/flow-lists.tsx'), 'Integrations'),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows/integrations/new',
    validateSearch: readNewIntegration,
    component: screen(() => import('../../screens/flows/integration-page.tsx'), 'NewIntegration'),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows/integrations/$integrationId',
    component: screen(() => import('../../screens/flows/integration-page.tsx'), 'IntegrationPage'),
  }),
] as const;

// Address of a new integration: its type.

interface NewIntegrationSearch {
  readonly type?: IntegrationType;
}

function readNewIntegration(search: Record<string, unknown>): NewIntegrationSearch {
  const type = integrationTypes.find((one) => one === search['type']);
  return type === undefined ? {} : { type };
}

// Routes of rules and of the outputs that they and the data flows have.

const outputs = createRoute({
  getParentRoute: () => workspace,
  path: '/outputs',
  validateSearch: readOutputSearch,
  component: screen(() => import('../../screens/outputs/output-list.tsx'), 'Outputs'),
});

const newOutput = createRoute({
  getParentRoute: () => workspace,
  path: '/outputs/new',
  validateSearch: readNewOutput,
  component: screen(() => import('../../screens/outputs/output-settings.tsx'), 'NewOutput'),
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
  component: screen(
    () => import('../../screens/outputs/output-deliveries.tsx'),
    'OutputDeliveries',
  ),
});

const outputSettings = createRoute({
  getParentRoute: () => workspace,
  path: '/outputs/$outputId/settings',
  component: screen(() => import('../../screens/outputs/output-settings.tsx'), 'OutputSettings'),
});

const rules = createRoute({
  getParentRoute: () => workspace,
  path: '/rules',
  validateSearch: readListSearch,
  component: screen(() => import('../../screens/rules/rule-list.tsx'), 'Rules'),
});

const newRule = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/new',
  component: screen(() => import('../../screens/rules/rule-edit.tsx'), 'NewRule'),
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
  component: screen(() => import('../../screens/rules/rule-edit.tsx'), 'RuleEdit'),
});

const logicList = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/logic',
  validateSearch: readListSearch,
  component: screen(() => import('../../screens/rules/logic/logic-list.tsx'), 'LogicList'),
});

const logicPage = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/logic/$logicId',
  component: screen(() => import('../../screens/rules/logic/logic-page.tsx'), 'LogicPage'),
});

const calculations = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/calculations',
  validateSearch: readListSearch,
  component: screen(
    () => import('../../screens/rules/calculations/calculation-list.tsx'),
    'Calculations',
  ),
});

const newCalculation = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/calculations/new',
  component: screen(
    () => import('../../screens/rules/calculations/calculation-page.tsx'),
    'NewCalculation',
  ),
});

const calculation = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/calculations/$calculationId',
  component: screen(
    () => import('../../screens/rules/calculations/calculation-page.tsx'),
    'CalculationPage',
  ),
});

const ruleRuns = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/$ruleId/runs',
  validateSearch: readPage,
  component: screen(() => import('../../screens/rules/rule-runs.tsx'), 'RuleRuns'),
});

const ruleSimulate = createRoute({
  getParentRoute: () => workspace,
  path: '/rules/$ruleId/simulate',
  validateSearch: readSimulationSearch,
  component: screen(() => import('../../screens/rules/rule-simulate.tsx'), 'RuleSimulate'),
});

const outputRoutes = [outputs, newOutput, output, outputDeliveries, outputSettings] as const;

const ruleRoutes = [
  rules,
  newRule,
  logicList,
  logicPage,
  calculations,
  newCalculation,
  calculation,
  rule,
  ruleEdit,
  ruleRuns,
  ruleSimulate,
] as const;

// Routes of settings: those of a workspace, of the organization, and of the account.

// Routes of the organization and of the own account.

const organization = createRoute({
  getParentRoute: () => shell,
  path: '/o/$organizationId/settings',
});

const people = createRoute({
  getParentRoute: () => organization,
  path: '/members',
  component: screen(() => import('../../screens/organization/members.tsx'), 'Members'),
});

const keys = createRoute({
  getParentRoute: () => organization,
  path: '/keys',
  component: screen(() => import('../../screens/organization/keys.tsx'), 'Keys'),
});

const clients = createRoute({
  getParentRoute: () => organization,
  path: '/clients',
  validateSearch: ({ client }: Record<string, unknown>): { client?: string } =>
    typeof client === 'string' ? { client } : {},
  component: screen(() => import('../../screens/organization/clients.tsx'), 'Clients'),
});

const audit = createRoute({
  getParentRoute: () => organization,
  path: '/audit',
  validateSearch: readAuditSearch,
  component: screen(() => import('../../screens/organization/audit.tsx'), 'Audit'),
});

const ownAccount = createRoute({
  getParentRoute: () => shell,
  path: '/me',
  component: screen(() => import('../../screens/account/account.tsx'), 'Account'),
});

const ownSecurity = createRoute({
  getParentRoute: () => shell,
  path: '/me/security',
  component: screen(() => import('../../screens/account/account.tsx'), 'Security'),
});

const organizationRoutes = organization.addChildren([people, keys, clients, audit]);

const settings = createRoute({ getParentRoute: () => workspace, path: '/settings' });

const organizationStart = createRoute({
  getParentRoute: () => settings,
  path: '/',
  beforeLoad: ({ params }) => {
    redirect({ to: '/w/$workspaceId/settings/general', params, replace: true, throw: true });
  },
});

/** A tab of the settings of a workspace. */
const tab = <const P extends string>(path: P, component: ReturnType<typeof screen>) =>
  createRoute({ getParentRoute: () => settings, path, component });

const general = tab(
  '/general',
  screen(() => import('../../screens/settings/general.tsx'), 'General'),
);
const hours = tab(
  '/hours',
  screen(() => import('../../screens/settings/hours/hours.tsx'), 'Hours'),
);
const retention = tab(
  '/retention',
  screen(() => import('../../screens/settings/retention.tsx'), 'Retention'),
);
const streetMap = tab(
  '/map',
  screen(() => import('../../screens/settings/street-map.tsx'), 'StreetMap'),
);
const usage = tab(
  '/usage',
  screen(() => import('../../screens/settings/usage.tsx'), 'Usage'),
);
const tags = tab(
  '/tags',
  screen(() => import('../../screens/settings/tags-and-fields.tsx'), 'Tags'),
);
const fields = tab(
  '/fields',
  screen(() => import('../../screens/settings/tags-and-fields.tsx'), 'Fields'),
);
const members = tab(
  '/members',
  screen(() => import('../../screens/settings/members.tsx'), 'WorkspaceMembers'),
);
const notifications = tab(
  '/notifications',
  screen(() => import('../../screens/settings/notifications/notifications.tsx'), 'Notifications'),
);

const tabs = [
  organizationStart,
  general,
  hours,
  retention,
  streetMap,
  usage,
  tags,
  fields,
  members,
  notifications,
] as const;

const settingsRoutes = settings.addChildren(tabs);

// Routes of what is watched: alarms, activity, dashboards, the map, and places.

// Routes of dashboards: the list, one of them, and one that a link shows without an account.

const dashboards = createRoute({
  getParentRoute: () => workspace,
  path: '/dashboards',
  validateSearch: readListSearch,
  component: screen(() => import('../../screens/dashboards/dashboard-list.tsx'), 'Dashboards'),
});

const dashboard = createRoute({
  getParentRoute: () => workspace,
  path: '/dashboards/$dashboardId',
  validateSearch: onlyRead(readDashboardSearch),
  component: screen(() => import('../../screens/dashboards/dashboard.tsx'), 'DashboardPage'),
});

const sharedDashboard = createRoute({
  getParentRoute: () => root,
  path: '/shared/dashboards/$dashboardId',
  validateSearch: onlyRead(readDashboardSearch),
  component: screen(
    () => import('../../screens/dashboards/share/shared-dashboard.tsx'),
    'SharedDashboard',
  ),
});

const dashboardRoutes = [dashboards, dashboard] as const;

// Routes of the map.

const deviceMap = createRoute({
  getParentRoute: () => workspace,
  path: '/map',
  validateSearch: onlyRead(readMapSearch),
  component: screen(() => import('../../screens/map/map.tsx'), 'DeviceMap'),
});

// Routes of places: the tree, and the tabs of one place.

const placesRoot = createRoute({
  getParentRoute: () => workspace,
  path: '/places',
  validateSearch: onlyRead(readPlacesSearch),
  component: screen(() => import('../../screens/places/places.tsx'), 'Places'),
});

const placePages = screen(() => import('../../screens/places/places.tsx'), 'PlacePages');

const place = createRoute({
  getParentRoute: () => placesRoot,
  path: '/$placeId',
  component: placePages,
});

const placeTab = createRoute({
  getParentRoute: () => placesRoot,
  path: '/$placeId/$tab',
  component: placePages,
});

const placeRoutes = placesRoot.addChildren([place, placeTab]);

const alarms = createRoute({
  getParentRoute: () => workspace,
  path: '/alarms',
  validateSearch: onlyRead(readAlarmSearch),
  component: screen(() => import('../../screens/alarms/alarms.tsx'), 'Alarms'),
});

const alarm = createRoute({
  getParentRoute: () => workspace,
  path: '/alarms/$alarmId',
  component: screen(() => import('../../screens/alarms/alarm.tsx'), 'AlarmPage'),
});

const activity = createRoute({
  getParentRoute: () => workspace,
  path: '/activity',
  validateSearch: readActivitySearch,
  component: screen(() => import('../../screens/activity/activity.tsx'), 'ActivityPage'),
});

const watchRoutes = [alarms, alarm, activity] as const;

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
