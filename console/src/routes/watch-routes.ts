// Routes of what is watched: the alarms of a workspace, and what changed in it.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readActivitySearch } from '../screens/activity/activity-search.ts';
import { readAlarmSearch } from '../screens/alarms/alarm-search.ts';
import { workspace } from './frame.ts';

const alarms = createRoute({
  getParentRoute: () => workspace,
  path: '/alarms',
  validateSearch: readAlarmSearch,
  component: lazyRouteComponent(() => import('../screens/alarms/alarms.tsx'), 'Alarms'),
});

const alarm = createRoute({
  getParentRoute: () => workspace,
  path: '/alarms/$alarmId',
  component: lazyRouteComponent(() => import('../screens/alarms/alarm.tsx'), 'AlarmPage'),
});

const activity = createRoute({
  getParentRoute: () => workspace,
  path: '/activity',
  validateSearch: readActivitySearch,
  component: lazyRouteComponent(() => import('../screens/activity/activity.tsx'), 'ActivityPage'),
});

export const watchRoutes = [alarms, alarm, activity] as const;
