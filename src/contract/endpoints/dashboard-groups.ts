// Endpoints of dashboard groups (contract 32).
import {
  dashboardGroupDraft,
  dashboardGroupListQuery,
  dashboardGroupSchema,
  dashboardGroupUpdate,
} from '../dashboard.ts';
import { pageSchema } from '../page-envelope.ts';
import { recordEndpoints } from './record-endpoints.ts';

export const dashboardGroups = recordEndpoints({
  path: '/v3/dashboard-groups',
  tag: 'Dashboards',
  scope: 'dashboard.group',
  record: dashboardGroupSchema,
  list: {
    summary: 'Dashboard groups of workspaces',
    query: dashboardGroupListQuery,
    response: pageSchema(dashboardGroupSchema),
  },
  create: { summary: 'Make a dashboard group', body: dashboardGroupDraft },
  read: { summary: 'One dashboard group' },
  update: { summary: 'Change a dashboard group', body: dashboardGroupUpdate },
  remove: { summary: 'Delete a dashboard group' },
});
