// Endpoints of refused uplinks (contract 39.3).
import { endpoint } from '../endpoint.ts';
import { pageSchema } from '../page-envelope.ts';
import { idParams } from '../record-fields.ts';
import { refusalListQuery, refusalParams, refusalSchema } from '../refusal.ts';

const tag = 'Refusals';
const reading = { scope: 'asset', verb: 'read', resource: 'path' } as const;
const deleting = { scope: 'asset', verb: 'delete', resource: 'path' } as const;
const response = pageSchema(refusalSchema);

export const refusals = {
  listOfConnector: endpoint({
    method: 'GET',
    path: '/v3/device-connectors/:id/refusals',
    summary: 'Uplinks of a device connector that were refused, with the reason; the last first',
    tag,
    access: reading,
    params: idParams,
    query: refusalListQuery,
    response,
  }),
  listOfWorkspace: endpoint({
    method: 'GET',
    path: '/v3/workspaces/:id/refusals',
    summary: 'Refused uplinks of all device connectors of a workspace; the last first',
    tag,
    access: reading,
    params: idParams,
    query: refusalListQuery,
    response,
  }),
  clearConnector: endpoint({
    method: 'DELETE',
    path: '/v3/device-connectors/:id/refusals',
    summary: 'Forget the refusals of a device connector',
    tag,
    access: deleting,
    params: idParams,
  }),
  clearWorkspace: endpoint({
    method: 'DELETE',
    path: '/v3/workspaces/:id/refusals',
    summary: 'Forget the refusals of a workspace',
    tag,
    access: deleting,
    params: idParams,
  }),
  removeOfConnector: endpoint({
    method: 'DELETE',
    path: '/v3/device-connectors/:id/refusals/:refusalId',
    summary: 'Forget one refusal of a device connector',
    tag,
    access: deleting,
    params: refusalParams,
  }),
  removeOfWorkspace: endpoint({
    method: 'DELETE',
    path: '/v3/workspaces/:id/refusals/:refusalId',
    summary: 'Forget one refusal of a workspace',
    tag,
    access: deleting,
    params: refusalParams,
  }),
} as const;
