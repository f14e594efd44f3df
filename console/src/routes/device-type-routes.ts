// Routes of device types: the list, and the tabs of one.
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { readReplaySearch } from '../screens/device-type/replay-search.ts';
import { readTypeSearch } from '../screens/device-types/type-search.ts';
import { workspace } from './frame.ts';

const deviceTypes = createRoute({
  getParentRoute: () => workspace,
  path: '/types',
  validateSearch: readTypeSearch,
  component: lazyRouteComponent(
    () => import('../screens/device-types/device-types.tsx'),
    'DeviceTypes',
  ),
});

const deviceType = createRoute({
  getParentRoute: () => workspace,
  path: '/types/$typeId',
  component: lazyRouteComponent(
    () => import('../screens/device-type/device-type.tsx'),
    'DeviceType',
  ),
});

const scriptTab = () => import('../screens/device-type/script-tab.tsx');

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
      () => import('../screens/device-type/schema-tab.tsx'),
      'SchemaTab',
    ),
  }),
  createRoute({
    getParentRoute: () => deviceType,
    path: '/replay',
    validateSearch: readReplaySearch,
    component: lazyRouteComponent(
      () => import('../screens/device-type/replay-tab.tsx'),
      'ReplayTab',
    ),
  }),
  createRoute({
    getParentRoute: () => deviceType,
    path: '/use',
    component: lazyRouteComponent(() => import('../screens/device-type/use-tab.tsx'), 'UseTab'),
  }),
] as const;

export const deviceTypeRoutes = [deviceTypes, deviceType.addChildren(deviceTypeTabs)] as const;
