// Routes of the map.
import { createRoute } from '@tanstack/react-router';
import { readMapSearch } from '../../screens/map/map-search.ts';
import { workspace } from './frame.ts';
import { screen } from './screen.ts';

export const deviceMap = createRoute({
  getParentRoute: () => workspace,
  path: '/map',
  validateSearch: readMapSearch,
  component: screen(() => import('../../screens/map/map.tsx'), 'DeviceMap'),
});
