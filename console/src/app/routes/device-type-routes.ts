// Routes of device types: the list, and the tabs of one.
import { createRoute, redirect } from '@tanstack/react-router';
import { readReplaySearch } from '../../screens/device-types/replay-search.ts';
import { readTypeSearch } from '../../screens/device-types/type-search.ts';
import { PartOfScreenFailure } from '../../ui/late.tsx';
import { workspace } from './frame.ts';
import { screen } from './screen.ts';

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
