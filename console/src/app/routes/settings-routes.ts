// Routes of a workspace's settings: one for each tab.
import { createRoute, redirect } from '@tanstack/react-router';
import { workspace } from './frame.ts';
import { screen } from './screen.ts';

const settings = createRoute({ getParentRoute: () => workspace, path: '/settings' });

const start = createRoute({
  getParentRoute: () => settings,
  path: '/',
  beforeLoad: ({ params }) => {
    redirect({ to: '/w/$workspaceId/settings/general', params, replace: true, throw: true });
  },
});

const general = createRoute({
  getParentRoute: () => settings,
  path: '/general',
  component: screen(() => import('../../screens/settings/general/general.tsx'), 'General'),
});

const hours = createRoute({
  getParentRoute: () => settings,
  path: '/hours',
  component: screen(() => import('../../screens/settings/hours/hours.tsx'), 'Hours'),
});

const retention = createRoute({
  getParentRoute: () => settings,
  path: '/retention',
  component: screen(() => import('../../screens/settings/retention/retention.tsx'), 'Retention'),
});

const usage = createRoute({
  getParentRoute: () => settings,
  path: '/usage',
  component: screen(() => import('../../screens/settings/usage/usage.tsx'), 'Usage'),
});

const tags = createRoute({
  getParentRoute: () => settings,
  path: '/tags',
  component: screen(() => import('../../screens/settings/tags/tags.tsx'), 'Tags'),
});

const fields = createRoute({
  getParentRoute: () => settings,
  path: '/fields',
  component: screen(() => import('../../screens/settings/fields/fields.tsx'), 'Fields'),
});

const members = createRoute({
  getParentRoute: () => settings,
  path: '/members',
  component: screen(() => import('../../screens/settings/members/members.tsx'), 'WorkspaceMembers'),
});

const tabs = [start, general, hours, retention, usage, tags, fields, members] as const;

export const settingsRoutes = settings.addChildren(tabs);
