// Endpoints of workspaces, and of those that a credential may use (contract 3).
import Type from 'typebox';
import { endpoint } from '../endpoint.ts';
import { idParams } from '../record-fields.ts';
import { pageSchema } from '../page-envelope.ts';
import {
  demoWorkspaceBody,
  workspaceAccessQuery,
  workspaceAccessSchema,
  workspaceDraft,
  workspaceListQuery,
  workspaceRow,
  workspaceSchema,
  workspaceUpdate,
} from '../workspace.ts';
import { retentionEffectQuery } from '../retention.ts';
import { retentionEffectSchema } from '../usage.ts';
import { workspaceOverviewSchema } from '../workspace-overview.ts';
import { recordEndpoints } from './record-endpoints.ts';

const tag = 'Workspaces';

const records = recordEndpoints({
  path: '/v3/workspaces',
  tag,
  scope: 'workspace',
  record: workspaceSchema,
  list: {
    summary: 'The workspaces that the credential reaches',
    query: workspaceListQuery,
    response: pageSchema(workspaceRow),
  },
  create: { summary: 'Make a workspace', body: workspaceDraft },
  read: { summary: 'One workspace' },
  update: { summary: 'Change a workspace', body: workspaceUpdate },
  remove: { summary: 'Delete an empty workspace, or one of the demo with all that is in it' },
});

export const workspaces = {
  ...records,
  list: {
    ...records.list,
    access: { ...records.list.access, orLimited: true },
    needsAlso:
      'A credential that is limited to workspaces needs no permission: without it, rows have id, organizationId and name.',
  },
  demo: endpoint({
    method: 'POST',
    path: '/v3/workspaces/demo',
    summary: 'A workspace of simulated devices; the one of the organization when it exists',
    tag,
    access: {
      scope: 'workspace',
      verb: 'create',
      also: [
        ['asset', 'create'],
        ['asset', 'read'],
        ['dataFlow', 'create'],
        ['dataFlow', 'read'],
        ['dataFlow', 'update'],
        ['deviceType', 'create'],
        ['deviceType', 'read'],
        ['rule', 'create'],
        ['rule', 'read'],
      ],
      resource: 'body',
    },
    body: Type.Optional(demoWorkspaceBody),
    status: 201,
    response: workspaceSchema,
  }),
  overview: endpoint({
    method: 'GET',
    path: '/v3/workspaces/:id/overview',
    summary:
      'Figures of a workspace: devices, samples, deliveries, alarms and what needs attention',
    tag,
    access: { scope: 'workspace', verb: 'read', resource: 'path' },
    params: idParams,
    response: workspaceOverviewSchema,
  }),
  retentionEffect: endpoint({
    method: 'GET',
    path: '/v3/workspaces/:id/retention-effect',
    summary: 'What a workspace stores, and about how much of it another retention would drop',
    tag,
    access: { scope: 'workspace', verb: 'read', resource: 'path' },
    params: idParams,
    query: retentionEffectQuery,
    response: retentionEffectSchema,
  }),
  access: endpoint({
    method: 'GET',
    path: '/v3/workspace-access',
    summary: 'In which workspaces the credential may do something',
    tag,
    access: { anyCredential: 'it tells a credential about itself' },
    query: workspaceAccessQuery,
    response: workspaceAccessSchema,
  }),
} as const;
