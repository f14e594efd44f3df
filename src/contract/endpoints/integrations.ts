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
    summary: 'List integrations',
    description: 'Returns a page of the LoRaWAN integrations in the requested workspaces.',
    query: Type.Object(workspaceListParameters([...commonSortFields, 'type'])),
    response: pageSchema(integrationSchema),
  },
  create: {
    summary: 'Create an integration',
    description: 'Creates a LoRaWAN integration together with its device connector.',
    body: integrationDraft,
  },
  read: {
    summary: 'Get an integration',
    description: 'Returns an integration and its webhook settings.',
  },
  update: {
    summary: 'Update an integration',
    description: 'Updates the name, description, or properties of an integration.',
    body: integrationUpdate,
  },
  remove: {
    summary: 'Delete an integration',
    description:
      'Deletes an integration and its device connector; fails with 409 while a device or data flow uses it.',
  },
});
