// Endpoints of output connectors (contract 9).
import {
  outputConnectorDraft,
  outputConnectorDraftByType,
  outputConnectorItemSchema,
  outputConnectorListQuery,
  outputConnectorSchema,
  outputConnectorUpdate,
} from '../output-connector.ts';
import { pageSchema } from '../page-envelope.ts';
import { recordEndpoints } from './record-endpoints.ts';

export const outputConnectors = recordEndpoints({
  path: '/v3/output-connectors',
  tag: 'Output connectors',
  scope: 'dataFlow',
  record: outputConnectorSchema,
  list: {
    summary: 'List output connectors',
    description:
      'Returns a page of the output connectors in the requested workspaces, including the built-in database connector.',
    query: outputConnectorListQuery,
    response: pageSchema(outputConnectorItemSchema),
  },
  create: {
    summary: 'Create an output connector',
    description: 'Creates an output connector for data flows or rule actions.',
    body: outputConnectorDraft,
    bodyShown: outputConnectorDraftByType,
  },
  read: {
    summary: 'Get an output connector',
    description: 'Returns an output connector with its secrets masked.',
  },
  update: {
    summary: 'Update an output connector',
    description: 'Updates an output connector; a masked secret keeps its stored value.',
    body: outputConnectorUpdate,
  },
  remove: {
    summary: 'Delete an output connector',
    description: 'Deletes an output connector; fails with 409 while a data flow or rule uses it.',
  },
});
