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
    summary: 'List dashboards',
    description: 'Returns a page of the dashboards in the requested workspaces.',
    query: dashboardListQuery,
    response: pageSchema(dashboardSchema),
  },
  create: {
    summary: 'Create a dashboard',
    description: 'Creates a dashboard in a workspace.',
    body: dashboardDraft,
    bodyShown: dashboardDraftShown,
  },
  read: { summary: 'Get a dashboard', description: 'Returns a dashboard and its configuration.' },
  update: {
    summary: 'Update a dashboard',
    description: 'Updates a dashboard.',
    body: dashboardUpdate,
    bodyShown: dashboardUpdateShown,
    needsAlso: 'Changing the configuration of a shared dashboard also requires `asset` `read`.',
  },
  remove: {
    summary: 'Delete a dashboard',
    description: 'Deletes a dashboard and invalidates its share links.',
  },
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
    summary: 'Create a share link',
    description:
      'Creates a link whose token grants read access to the dashboard and the data of its devices, without an account.',
    access: { ...change, also: [['asset', 'read']] },
    body: Type.Optional(shareBody),
    status: 201,
    response: newShareSchema,
  }),
  shares: endpoint({
    method: 'GET',
    ...shares,
    summary: 'List share links',
    description: 'Returns the valid share links of a dashboard, without their tokens.',
    access: { ...change, verb: 'read' },
    response: sharesSchema,
  }),
  shareList: endpoint({
    ...shares,
    method: 'GET',
    path: '/v3/dashboards/:id/shares',
    summary: 'List share links',
    description: 'Returns the valid share links of a dashboard, without their tokens.',
    access: { ...change, verb: 'read' },
    response: sharesSchema,
  }),
  unshare: endpoint({
    method: 'DELETE',
    ...shares,
    summary: 'Revoke all share links',
    description: 'Revokes every share link of a dashboard immediately.',
    access: change,
  }),
} as const;
