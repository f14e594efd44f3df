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
    summary: 'List workspaces',
    description: 'Returns a page of the workspaces that the credential can access.',
    query: workspaceListQuery,
    response: pageSchema(workspaceRow),
  },
  create: {
    summary: 'Create a workspace',
    description: 'Creates an empty workspace in an organization.',
    body: workspaceDraft,
  },
  read: { summary: 'Get a workspace', description: 'Returns a workspace and its settings.' },
  update: {
    summary: 'Update a workspace',
    description: 'Updates the name, description, or settings of a workspace.',
    body: workspaceUpdate,
  },
  remove: {
    summary: 'Delete a workspace',
    description: 'Deletes an empty workspace; a demo workspace is deleted with everything in it.',
  },
});

export const workspaces = {
  ...records,
  list: {
    ...records.list,
    access: { ...records.list.access, orLimited: true },
    needsAlso:
      'A credential that is restricted to workspaces needs no permission. Without it, items have only `id`, `organizationId`, and `name`.',
  },
  demo: endpoint({
    method: 'POST',
    path: '/v3/workspaces/demo',
    summary: 'Create the demo workspace',
    description:
      "Creates a workspace with simulated devices, or returns the organization's existing one.",
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
    summary: 'Get a workspace overview',
    description:
      'Returns counts of devices, samples, deliveries, and alarms, and what needs attention.',
    tag,
    access: { scope: 'workspace', verb: 'read', resource: 'path' },
    params: idParams,
    response: workspaceOverviewSchema,
  }),
  retentionEffect: endpoint({
    method: 'GET',
    path: '/v3/workspaces/:id/retention-effect',
    summary: 'Preview a retention change',
    description:
      'Returns what the workspace stores and an estimate of what the given retention would delete.',
    tag,
    access: { scope: 'workspace', verb: 'read', resource: 'path' },
    params: idParams,
    query: retentionEffectQuery,
    response: retentionEffectSchema,
  }),
  access: endpoint({
    method: 'GET',
    path: '/v3/workspace-access',
    summary: 'List accessible workspaces',
    description: 'Returns the workspaces in which the credential has the given permission.',
    tag,
    access: { anyCredential: 'Any valid credential.' },
    query: workspaceAccessQuery,
    response: workspaceAccessSchema,
  }),
} as const;
