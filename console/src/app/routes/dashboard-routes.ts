// Routes of dashboards: the list, one of them, and one that a link shows without an account.
import { createRoute } from '@tanstack/react-router';
import { readListSearch } from '../../ui/list-search.ts';
import { readDashboardSearch } from '../../screens/dashboards/dashboard-search.ts';
import { root, workspace } from './frame.ts';
import { screen } from './screen.ts';

const dashboards = createRoute({
  getParentRoute: () => workspace,
  path: '/dashboards',
  validateSearch: readListSearch,
  component: screen(() => import('../../screens/dashboards/list/dashboard-list.tsx'), 'Dashboards'),
});

const dashboard = createRoute({
  getParentRoute: () => workspace,
  path: '/dashboards/$dashboardId',
  validateSearch: readDashboardSearch,
  component: screen(() => import('../../screens/dashboards/dashboard.tsx'), 'DashboardPage'),
});

export const sharedDashboard = createRoute({
  getParentRoute: () => root,
  path: '/shared/dashboards/$dashboardId',
  validateSearch: readDashboardSearch,
  component: screen(
    () => import('../../screens/dashboards/share/shared-dashboard.tsx'),
    'SharedDashboard',
  ),
});

export const dashboardRoutes = [dashboards, dashboard] as const;
