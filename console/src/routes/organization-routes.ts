// Routes of the organization and of the own account.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readPage } from '../parts/list-search.ts';
import { NotFound } from '../shell/not-found.tsx';
import { shell } from './frame.ts';

const organization = createRoute({
  getParentRoute: () => shell,
  path: '/o/$organizationId/settings',
  notFoundComponent: NotFound,
});

const members = createRoute({
  getParentRoute: () => organization,
  path: '/members',
  component: lazyRouteComponent(
    () => import('../screens/organization/members/members.tsx'),
    'Members',
  ),
});

const keys = createRoute({
  getParentRoute: () => organization,
  path: '/keys',
  component: lazyRouteComponent(() => import('../screens/organization/keys/keys.tsx'), 'Keys'),
});

const clients = createRoute({
  getParentRoute: () => organization,
  path: '/clients',
  validateSearch: ({ client }: Record<string, unknown>): { client?: string } =>
    typeof client === 'string' ? { client } : {},
  component: lazyRouteComponent(
    () => import('../screens/organization/clients/clients.tsx'),
    'Clients',
  ),
});

const audit = createRoute({
  getParentRoute: () => organization,
  path: '/audit',
  validateSearch: readPage,
  component: lazyRouteComponent(() => import('../screens/organization/audit/audit.tsx'), 'Audit'),
});

export const ownAccount = createRoute({
  getParentRoute: () => shell,
  path: '/me',
  component: lazyRouteComponent(() => import('../screens/account/account.tsx'), 'Account'),
});

export const ownSecurity = createRoute({
  getParentRoute: () => shell,
  path: '/me/security',
  component: lazyRouteComponent(() => import('../screens/security/security.tsx'), 'Security'),
});

export const organizationRoutes = organization.addChildren([members, keys, clients, audit]);
