// Routes of devices and device types: lists, new ones, and the tabs of one.
import { createRoute, redirect } from '@tanstack/react-router';
import {
  readCalculatedSearch,
  readReplaySearch,
  readTypeSearch,
  readDecoderSearch,
} from '../../screens/device-types/type-search.ts';
import { readPageSearch } from '../../screens/device/device-search.ts';
import { readExploreSearch } from '../../screens/device/explore/explore-search.ts';
import { readDeviceSearch, readRegisterSearch } from '../../screens/devices/device-search.ts';
import { PartOfScreenFailure } from '../../ui/late.tsx';
import { onlyRead, screen, workspace } from './frame.ts';

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

export const deviceTypeRoutes = [deviceTypes, deviceType.addChildren(deviceTypeTabs)] as const;

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

export const deviceRoutes = [
  devices,
  registerDevice,
  importDevices,
  device.addChildren(devicePages),
] as const;
