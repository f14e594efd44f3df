// Endpoints of dashboards (contract 32).
import {
  dashboardDraft,
  dashboardListQuery,
  dashboardSchema,
  dashboardUpdate,
} from '../dashboard.ts';
import { pageSchema } from '../page-envelope.ts';
import { recordEndpoints } from './record-endpoints.ts';

export const dashboards = recordEndpoints({
  path: '/v3/dashboards',
  tag: 'Dashboards',
  scope: 'dashboard',
  record: dashboardSchema,
  list: {
    summary: 'Dashboards of workspaces',
    query: dashboardListQuery,
    response: pageSchema(dashboardSchema),
  },
  create: { summary: 'Make a dashboard', body: dashboardDraft },
  read: { summary: 'One dashboard' },
  update: { summary: 'Change a dashboard', body: dashboardUpdate },
  remove: { summary: 'Delete a dashboard' },
});
