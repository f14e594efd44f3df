// Endpoints of dashboard groups (contract 32).
import {
  dashboardGroupDraft,
  dashboardGroupListQuery,
  dashboardGroupSchema,
  dashboardGroupUpdate,
} from './dashboards.ts';
import { pageSchema } from './list-parameters.ts';
import { recordEndpoints } from './record-endpoints.ts';

export const dashboardGroups = recordEndpoints({
  path: '/v3/dashboard-groups',
  tag: 'Dashboards',
  scope: 'dashboard.group',
  record: dashboardGroupSchema,
  list: {
    summary: 'List dashboard groups',
    description: 'Returns a page of the dashboard groups in the requested workspaces.',
    query: dashboardGroupListQuery,
    response: pageSchema(dashboardGroupSchema),
  },
  create: {
    summary: 'Create a dashboard group',
    description: 'Creates a dashboard group in a workspace.',
    body: dashboardGroupDraft,
  },
  read: { summary: 'Get a dashboard group', description: 'Returns a dashboard group.' },
  update: {
    summary: 'Update a dashboard group',
    description: 'Updates the name or description of a dashboard group.',
    body: dashboardGroupUpdate,
  },
  remove: { summary: 'Delete a dashboard group', description: 'Deletes a dashboard group.' },
});
