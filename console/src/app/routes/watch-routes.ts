// Routes of what is watched: alarms, activity, dashboards, the map, and places.
import { createRoute } from '@tanstack/react-router';
import { readActivitySearch } from '../../screens/activity/activity-search.ts';
import { readAlarmSearch } from '../../screens/alarms/alarm-search.ts';
import { readDashboardSearch } from '../../screens/dashboards/dashboard-search.ts';
import { readMapSearch } from '../../screens/map/map-search.ts';
import { readPlacesSearch } from '../../screens/places/places-search.ts';
import { readListSearch } from '../../ui/list-search.ts';
import { onlyRead, root, screen, workspace } from './frame.ts';

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

export const sharedDashboard = createRoute({
  getParentRoute: () => root,
  path: '/shared/dashboards/$dashboardId',
  validateSearch: onlyRead(readDashboardSearch),
  component: screen(
    () => import('../../screens/dashboards/share/shared-dashboard.tsx'),
    'SharedDashboard',
  ),
});

export const dashboardRoutes = [dashboards, dashboard] as const;

// Routes of the map.

export const deviceMap = createRoute({
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

export const placeRoutes = placesRoot.addChildren([place, placeTab]);

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

export const watchRoutes = [alarms, alarm, activity] as const;
