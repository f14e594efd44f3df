// Endpoints of data flows (contract 10).
import {
  dataFlowDraft,
  dataFlowItemSchema,
  dataFlowListQuery,
  dataFlowSchema,
  dataFlowUpdate,
} from '../data-flow.ts';
import { pageSchema } from '../page-envelope.ts';
import { recordEndpoints } from './record-endpoints.ts';

export const dataFlows = recordEndpoints({
  path: '/v3/data-flows',
  tag: 'Data flows',
  scope: 'dataFlow',
  record: dataFlowSchema,
  list: {
    summary: 'List data flows',
    description: 'Returns a page of the data flows in the requested workspaces.',
    query: dataFlowListQuery,
    response: pageSchema(dataFlowItemSchema),
  },
  create: {
    summary: 'Create a data flow',
    description: 'Connects a device connector, a device type, and output connectors.',
    body: dataFlowDraft,
  },
  read: {
    summary: 'Get a data flow',
    description: 'Returns a data flow with its device connector, device type, and outputs.',
  },
  update: {
    summary: 'Update a data flow',
    description: 'Updates the device type, outputs, or settings of a data flow.',
    body: dataFlowUpdate,
  },
  remove: {
    summary: 'Delete a data flow',
    description: 'Deletes a data flow; fails with 409 while a device uses it.',
  },
});
