// Routes of settings: those of a workspace, of the organization, and of the account.
import { createRoute, redirect } from '@tanstack/react-router';
import { readAuditSearch } from '../../screens/activity/activity-search.ts';
import { screen, shell, workspace } from './frame.ts';

// Routes of the organization and of the own account.

const organization = createRoute({
  getParentRoute: () => shell,
  path: '/o/$organizationId/settings',
});

const people = createRoute({
  getParentRoute: () => organization,
  path: '/members',
  component: screen(() => import('../../screens/organization/members.tsx'), 'Members'),
});

const keys = createRoute({
  getParentRoute: () => organization,
  path: '/keys',
  component: screen(() => import('../../screens/organization/keys.tsx'), 'Keys'),
});

const clients = createRoute({
  getParentRoute: () => organization,
  path: '/clients',
  validateSearch: ({ client }: Record<string, unknown>): { client?: string } =>
    typeof client === 'string' ? { client } : {},
  component: screen(() => import('../../screens/organization/clients.tsx'), 'Clients'),
});

const audit = createRoute({
  getParentRoute: () => organization,
  path: '/audit',
  validateSearch: readAuditSearch,
  component: screen(() => import('../../screens/organization/audit.tsx'), 'Audit'),
});

export const ownAccount = createRoute({
  getParentRoute: () => shell,
  path: '/me',
  component: screen(() => import('../../screens/account/account.tsx'), 'Account'),
});

export const ownSecurity = createRoute({
  getParentRoute: () => shell,
  path: '/me/security',
  component: screen(() => import('../../screens/account/security.tsx'), 'Security'),
});

export const organizationRoutes = organization.addChildren([people, keys, clients, audit]);

const settings = createRoute({ getParentRoute: () => workspace, path: '/settings' });

const start = createRoute({
  getParentRoute: () => settings,
  path: '/',
  beforeLoad: ({ params }) => {
    redirect({ to: '/w/$workspaceId/settings/general', params, replace: true, throw: true });
  },
});

/** A tab of the settings of a workspace. */
const tab = <const P extends string>(path: P, component: ReturnType<typeof screen>) =>
  createRoute({ getParentRoute: () => settings, path, component });

const general = tab(
  '/general',
  screen(() => import('../../screens/settings/general.tsx'), 'General'),
);
const hours = tab(
  '/hours',
  screen(() => import('../../screens/settings/hours/hours.tsx'), 'Hours'),
);
const retention = tab(
  '/retention',
  screen(() => import('../../screens/settings/retention.tsx'), 'Retention'),
);
const streetMap = tab(
  '/map',
  screen(() => import('../../screens/settings/street-map.tsx'), 'StreetMap'),
);
const usage = tab(
  '/usage',
  screen(() => import('../../screens/settings/usage.tsx'), 'Usage'),
);
const tags = tab(
  '/tags',
  screen(() => import('../../screens/settings/tags.tsx'), 'Tags'),
);
const fields = tab(
  '/fields',
  screen(() => import('../../screens/settings/fields.tsx'), 'Fields'),
);
const members = tab(
  '/members',
  screen(() => import('../../screens/settings/members.tsx'), 'WorkspaceMembers'),
);
const notifications = tab(
  '/notifications',
  screen(() => import('../../screens/settings/notifications/notifications.tsx'), 'Notifications'),
);

const tabs = [
  start,
  general,
  hours,
  retention,
  streetMap,
  usage,
  tags,
  fields,
  members,
  notifications,
] as const;

export const settingsRoutes = settings.addChildren(tabs);
