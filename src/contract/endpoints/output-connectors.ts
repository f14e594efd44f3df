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
    summary: 'Output connectors of workspaces, and the global database connector',
    query: outputConnectorListQuery,
    response: pageSchema(outputConnectorItemSchema),
  },
  create: {
    summary: 'Make an output connector',
    body: outputConnectorDraft,
    bodyShown: outputConnectorDraftByType,
  },
  read: { summary: 'One output connector' },
  update: { summary: 'Change an output connector', body: outputConnectorUpdate },
  remove: { summary: 'Delete an output connector that no data flow uses' },
});
