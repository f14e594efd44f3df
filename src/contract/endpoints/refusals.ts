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
    summary: 'List rejected uplinks',
    description:
      'Returns a page of the uplinks that a device connector rejected, with the reason, newest first.',
    tag,
    access: reading,
    params: idParams,
    query: refusalListQuery,
    response,
  }),
  listOfWorkspace: endpoint({
    method: 'GET',
    path: '/v3/workspaces/:id/refusals',
    summary: 'List rejected uplinks of a workspace',
    description:
      'Returns a page of the uplinks that the device connectors of a workspace rejected, newest first.',
    tag,
    access: reading,
    params: idParams,
    query: refusalListQuery,
    response,
  }),
  clearConnector: endpoint({
    method: 'DELETE',
    path: '/v3/device-connectors/:id/refusals',
    summary: 'Clear rejected uplinks',
    description: 'Deletes the list of rejected uplinks of a device connector.',
    tag,
    access: deleting,
    params: idParams,
  }),
  clearWorkspace: endpoint({
    method: 'DELETE',
    path: '/v3/workspaces/:id/refusals',
    summary: 'Clear rejected uplinks of a workspace',
    description: 'Deletes the lists of rejected uplinks of every device connector in a workspace.',
    tag,
    access: deleting,
    params: idParams,
  }),
  removeOfConnector: endpoint({
    method: 'DELETE',
    path: '/v3/device-connectors/:id/refusals/:refusalId',
    summary: 'Delete a rejected uplink',
    description: 'Deletes one rejected uplink of a device connector.',
    tag,
    access: deleting,
    params: refusalParams,
  }),
  removeOfWorkspace: endpoint({
    method: 'DELETE',
    path: '/v3/workspaces/:id/refusals/:refusalId',
    summary: 'Delete a rejected uplink of a workspace',
    description: 'Deletes one rejected uplink of a workspace.',
    tag,
    access: deleting,
    params: refusalParams,
  }),
} as const;
