// Endpoints of data flows (contract 10).
import Type from 'typebox';
import { dataFlowDraft, dataFlowItemSchema, dataFlowSchema, dataFlowUpdate } from '../data-flow.ts';
import { workspaceListParameters } from '../list-parameters.ts';
import { pageSchema } from '../page-envelope.ts';
import { recordEndpoints } from './record-endpoints.ts';

export const dataFlows = recordEndpoints({
  path: '/v3/data-flows',
  tag: 'Data flows',
  scope: 'dataFlow',
  record: dataFlowSchema,
  list: {
    summary: 'Data flows of workspaces',
    query: Type.Object(workspaceListParameters()),
    response: pageSchema(dataFlowItemSchema),
  },
  create: { summary: 'Make a data flow', body: dataFlowDraft },
  read: { summary: 'One data flow' },
  update: { summary: 'Change a data flow', body: dataFlowUpdate },
  remove: { summary: 'Delete a data flow that no device uses' },
});
