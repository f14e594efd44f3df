// Routes of the organization and of the own account.
import { createRoute } from '@tanstack/react-router';
import { readAuditSearch } from '../../screens/organization/audit/audit-search.ts';
import { NotFound } from '../shell/not-found.tsx';
import { shell } from './frame.ts';
import { screen } from './screen.ts';

const organization = createRoute({
  getParentRoute: () => shell,
  path: '/o/$organizationId/settings',
  notFoundComponent: NotFound,
});

const members = createRoute({
  getParentRoute: () => organization,
  path: '/members',
  component: screen(() => import('../../screens/organization/members/members.tsx'), 'Members'),
});

const keys = createRoute({
  getParentRoute: () => organization,
  path: '/keys',
  component: screen(() => import('../../screens/organization/keys/keys.tsx'), 'Keys'),
});

const clients = createRoute({
  getParentRoute: () => organization,
  path: '/clients',
  validateSearch: ({ client }: Record<string, unknown>): { client?: string } =>
    typeof client === 'string' ? { client } : {},
  component: screen(() => import('../../screens/organization/clients/clients.tsx'), 'Clients'),
});

const audit = createRoute({
  getParentRoute: () => organization,
  path: '/audit',
  validateSearch: readAuditSearch,
  component: screen(() => import('../../screens/organization/audit/audit.tsx'), 'Audit'),
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

export const organizationRoutes = organization.addChildren([members, keys, clients, audit]);
