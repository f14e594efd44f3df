// Endpoints of dashboards (contract 32).
import Type from 'typebox';
import {
  dashboardDraft,
  dashboardDraftShown,
  dashboardListQuery,
  dashboardSchema,
  dashboardUpdate,
  dashboardUpdateShown,
  newShareSchema,
  shareBody,
  sharesSchema,
} from '../dashboard.ts';
import { endpoint } from '../endpoint.ts';
import { pageSchema } from '../page-envelope.ts';
import { idParams } from '../record-fields.ts';
import { recordEndpoints } from './record-endpoints.ts';

const records = recordEndpoints({
  path: '/v3/dashboards',
  tag: 'Dashboards',
  scope: 'dashboard',
  record: dashboardSchema,
  list: {
    summary: 'Dashboards of workspaces',
    query: dashboardListQuery,
    response: pageSchema(dashboardSchema),
  },
  create: {
    summary: 'Make a dashboard',
    body: dashboardDraft,
    bodyShown: dashboardDraftShown,
  },
  read: { summary: 'One dashboard' },
  update: {
    summary: 'Change a dashboard',
    body: dashboardUpdate,
    bodyShown: dashboardUpdateShown,
    needsAlso: 'The configuration of a shared dashboard needs `asset` `read`.',
  },
  remove: { summary: 'Delete a dashboard' },
});

const shares = {
  path: '/v3/dashboards/:id/share',
  tag: 'Dashboards',
  params: idParams,
} as const;
const change = { scope: 'dashboard', verb: 'update', resource: 'path' } as const;

export const dashboards = {
  ...records,
  read: { ...records.read, takesShares: 'narrowed' as const },
  share: endpoint({
    method: 'POST',
    ...shares,
    summary: 'A link to the dashboard, whose token reads it and the data of its devices',
    access: { ...change, also: [['asset', 'read']] },
    body: Type.Optional(shareBody),
    status: 201,
    response: newShareSchema,
  }),
  shares: endpoint({
    method: 'GET',
    ...shares,
    summary: 'The valid links to the dashboard, without their tokens',
    access: { ...change, verb: 'read' },
    response: sharesSchema,
  }),
  shareList: endpoint({
    ...shares,
    method: 'GET',
    path: '/v3/dashboards/:id/shares',
    summary: 'List the valid links to a dashboard',
    access: { ...change, verb: 'read' },
    response: sharesSchema,
  }),
  unshare: endpoint({
    method: 'DELETE',
    ...shares,
    summary: 'Revoke all links to the dashboard',
    access: change,
  }),
} as const;
