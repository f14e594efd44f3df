// Routes of devices: the list, new ones, and the pages of one.
import { createRoute, redirect } from '@tanstack/react-router';
import { readExploreSearch } from '../../screens/device/explore/explore-search.ts';
import { readPageSearch } from '../../screens/device/device-search.ts';
import { readDeviceSearch } from '../../screens/devices/device-search.ts';
import { readRegisterSearch } from '../../screens/devices/register-search.ts';
import { PartOfScreenFailure } from '../../ui/late.tsx';
import { workspace } from './frame.ts';
import { screen } from './screen.ts';

const devices = createRoute({
  getParentRoute: () => workspace,
  path: '/devices',
  validateSearch: readDeviceSearch,
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
    path: '/live',
    component: screen(() => import('../../screens/device/live/live.tsx'), 'Live'),
  }),
  createRoute({
    getParentRoute: () => device,
    errorComponent: PartOfScreenFailure,
    path: '/uplinks',
    component: screen(() => import('../../screens/device/uplinks/uplinks.tsx'), 'Uplinks'),
  }),
  createRoute({
    getParentRoute: () => device,
    errorComponent: PartOfScreenFailure,
    path: '/log',
    component: screen(() => import('../../screens/device/log/log.tsx'), 'Log'),
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
    component: screen(() => import('../../screens/device/commands/commands.tsx'), 'Commands'),
  }),
  createRoute({
    getParentRoute: () => device,
    errorComponent: PartOfScreenFailure,
    path: '/settings',
    component: screen(() => import('../../screens/device/settings/settings.tsx'), 'Settings'),
  }),
] as const;

export const deviceRoutes = [
  devices,
  registerDevice,
  importDevices,
  device.addChildren(devicePages),
] as const;
