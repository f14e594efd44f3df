// Routes of data flows, and of the device connectors and integrations that are their tabs.
import { createRoute } from '@tanstack/react-router';
import { readListSearch } from '../../ui/list-search.ts';
import { readNewIntegration } from '../../screens/flows/flow-search.ts';
import { workspace } from './frame.ts';
import { screen } from './screen.ts';

export const flowRoutes = [
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows',
    validateSearch: readListSearch,
    component: screen(() => import('../../screens/flows/flow-list.tsx'), 'Flows'),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows/new',
    component: screen(() => import('../../screens/flows/new-flow.tsx'), 'NewFlow'),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows/$flowId',
    component: screen(() => import('../../screens/flows/flow-page.tsx'), 'FlowPage'),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows/connectors',
    validateSearch: readListSearch,
    component: screen(
      () => import('../../screens/flows/connectors/connector-list.tsx'),
      'Connectors',
    ),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows/connectors/$connectorId',
    component: screen(
      () => import('../../screens/flows/connectors/connector-page.tsx'),
      'ConnectorPage',
    ),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows/integrations',
    validateSearch: readListSearch,
    component: screen(
      () => import('../../screens/flows/integrations/integration-list.tsx'),
      'Integrations',
    ),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows/integrations/new',
    validateSearch: readNewIntegration,
    component: screen(
      () => import('../../screens/flows/integrations/new-integration.tsx'),
      'NewIntegration',
    ),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows/integrations/$integrationId',
    component: screen(
      () => import('../../screens/flows/integrations/integration-page.tsx'),
      'IntegrationPage',
    ),
  }),
] as const;
