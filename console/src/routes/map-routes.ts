// Routes of the map.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readMapSearch } from '../screens/map/map-search.ts';
import { workspace } from './frame.ts';

export const deviceMap = createRoute({
  getParentRoute: () => workspace,
  path: '/map',
  validateSearch: readMapSearch,
  component: lazyRouteComponent(() => import('../screens/map/map.tsx'), 'DeviceMap'),
});
