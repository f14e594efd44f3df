// Routes of what is watched: the alarms of a workspace, and what changed in it.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
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

export const watchRoutes = [alarms, alarm] as const;
