// Routes of devices: the list, new ones, and the pages of one.
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { readExploreSearch } from '../screens/device/explore/explore-search.ts';
import { readPageSearch } from '../screens/device/device-search.ts';
import { readDeviceSearch } from '../screens/devices/device-search.ts';
import { readRegisterSearch } from '../screens/devices/register-search.ts';
import { workspace } from './frame.ts';

const devices = createRoute({
  getParentRoute: () => workspace,
  path: '/devices',
  validateSearch: readDeviceSearch,
  component: lazyRouteComponent(() => import('../screens/devices/devices.tsx'), 'Devices'),
});

const registerDevice = createRoute({
  getParentRoute: () => workspace,
  path: '/devices/new',
  validateSearch: readRegisterSearch,
  component: lazyRouteComponent(() => import('../screens/devices/register.tsx'), 'Register'),
});

const importDevices = createRoute({
  getParentRoute: () => workspace,
  path: '/devices/import',
  component: lazyRouteComponent(() => import('../screens/devices/import.tsx'), 'ImportDevices'),
});

const device = createRoute({
  getParentRoute: () => workspace,
  path: '/devices/$deviceId',
  validateSearch: readPageSearch,
  component: lazyRouteComponent(() => import('../screens/device/device.tsx'), 'Device'),
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
      () => import('../screens/device/overview/overview.tsx'),
      'Overview',
    ),
  }),
  createRoute({
    getParentRoute: () => device,
    path: '/live',
    component: lazyRouteComponent(() => import('../screens/device/live/live.tsx'), 'Live'),
  }),
  createRoute({
    getParentRoute: () => device,
    path: '/uplinks',
    component: lazyRouteComponent(() => import('../screens/device/uplinks/uplinks.tsx'), 'Uplinks'),
  }),
  createRoute({
    getParentRoute: () => device,
    path: '/log',
    component: lazyRouteComponent(() => import('../screens/device/log/log.tsx'), 'Log'),
  }),
  createRoute({
    getParentRoute: () => device,
    path: '/explore',
    validateSearch: readExploreSearch,
    component: lazyRouteComponent(() => import('../screens/device/explore/explore.tsx'), 'Explore'),
  }),
  createRoute({
    getParentRoute: () => device,
    path: '/commands',
    component: lazyRouteComponent(
      () => import('../screens/device/commands/commands.tsx'),
      'Commands',
    ),
  }),
  createRoute({
    getParentRoute: () => device,
    path: '/settings',
    component: lazyRouteComponent(
      () => import('../screens/device/settings/settings.tsx'),
      'Settings',
    ),
  }),
] as const;

export const deviceRoutes = [
  devices,
  registerDevice,
  importDevices,
  device.addChildren(devicePages),
] as const;
