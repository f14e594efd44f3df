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
    summary: 'Data flows of workspaces',
    query: dataFlowListQuery,
    response: pageSchema(dataFlowItemSchema),
  },
  create: { summary: 'Make a data flow', body: dataFlowDraft },
  read: { summary: 'One data flow' },
  update: { summary: 'Change a data flow', body: dataFlowUpdate },
  remove: { summary: 'Delete a data flow that no device uses' },
});
