// Routes of data flows, and of the device connectors and integrations that are their tabs.
import { createRoute } from '@tanstack/react-router';
import { type IntegrationType, integrationTypes } from '../../../../src/model/integration.ts';
import { readListSearch } from '../../ui/list-search.ts';
import { screen, workspace } from './frame.ts';

export const flowRoutes = [
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows',
    validateSearch: readListSearch,
    component: screen(() => import('../../screens/flows/flow-lists.tsx'), 'Flows'),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows/new',
    component: screen(() => import('../../screens/flows/flow-page.tsx'), 'NewFlow'),
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
    component: screen(() => import('../../screens/flows/flow-lists.tsx'), 'Connectors'),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows/connectors/$connectorId',
    component: screen(() => import('../../screens/flows/connector-page.tsx'), 'ConnectorPage'),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows/integrations',
    validateSearch: readListSearch,
    component: screen(() => import('../../screens/flows/flow-lists.tsx'), 'Integrations'),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows/integrations/new',
    validateSearch: readNewIntegration,
    component: screen(() => import('../../screens/flows/integration-page.tsx'), 'NewIntegration'),
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: '/flows/integrations/$integrationId',
    component: screen(() => import('../../screens/flows/integration-page.tsx'), 'IntegrationPage'),
  }),
] as const;

// Address of a new integration: its type.

interface NewIntegrationSearch {
  readonly type?: IntegrationType;
}

function readNewIntegration(search: Record<string, unknown>): NewIntegrationSearch {
  const type = integrationTypes.find((one) => one === search['type']);
  return type === undefined ? {} : { type };
}
