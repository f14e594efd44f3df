// Endpoints of workspaces, and of those that a credential may use (contract 3).
import { endpoint } from '../endpoint.ts';
import { idParams } from '../record-fields.ts';
import { pageSchema } from '../page-envelope.ts';
import {
  workspaceAccessQuery,
  workspaceAccessSchema,
  workspaceDraft,
  workspaceListQuery,
  workspaceSchema,
  workspaceUpdate,
} from '../workspace.ts';
import { workspaceOverviewSchema } from '../workspace-overview.ts';
import { recordEndpoints } from './record-endpoints.ts';

const tag = 'Workspaces';

export const workspaces = {
  ...recordEndpoints({
    path: '/v3/workspaces',
    tag,
    scope: 'workspace',
    record: workspaceSchema,
    list: {
      summary: 'The workspaces that the credential reaches',
      query: workspaceListQuery,
      response: pageSchema(workspaceSchema),
    },
    create: { summary: 'Make a workspace', body: workspaceDraft },
    read: { summary: 'One workspace' },
    update: { summary: 'Change a workspace', body: workspaceUpdate },
    remove: { summary: 'Delete an empty workspace' },
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
