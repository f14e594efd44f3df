// Routes of what is watched: the alarms of a workspace, and what changed in it.
import { createRoute } from '@tanstack/react-router';
import { readActivitySearch } from '../../screens/activity/activity-search.ts';
import { readAlarmSearch } from '../../screens/alarms/alarm-search.ts';
import { workspace } from './frame.ts';
import { screen } from './screen.ts';

const alarms = createRoute({
  getParentRoute: () => workspace,
  path: '/alarms',
  validateSearch: readAlarmSearch,
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
