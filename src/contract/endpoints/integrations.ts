// Endpoints of integrations with network servers (contract 35).
import Type from 'typebox';
import { integrationDraft, integrationSchema, integrationUpdate } from '../integration.ts';
import { commonSortFields, workspaceListParameters } from '../list-parameters.ts';
import { pageSchema } from '../page-envelope.ts';
import { recordEndpoints } from './record-endpoints.ts';

export const integrations = recordEndpoints({
  path: '/v3/integrations',
  tag: 'Integrations',
  scope: 'integration',
  record: integrationSchema,
  list: {
    summary: 'Integrations of workspaces',
    query: Type.Object(workspaceListParameters([...commonSortFields, 'type'])),
    response: pageSchema(integrationSchema),
  },
  create: { summary: 'Make an integration and its device connector', body: integrationDraft },
  read: { summary: 'One integration' },
  update: { summary: 'Change an integration', body: integrationUpdate },
  remove: { summary: 'Delete an integration that nothing uses, and its device connector' },
});
