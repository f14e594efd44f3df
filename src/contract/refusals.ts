// Schemas and endpoints of refused uplinks (contract 39.3).
import Type from 'typebox';
import { payloadForms, refusalReasons, refusalTransports } from '../model/refused-uplink.ts';
import { endpoint } from './endpoint.ts';
import { listParameters } from './list-parameters.ts';
import { namedObject } from './named.ts';
import { pageSchema } from './page-envelope.ts';
import { id, idParams, oneOf, orNull, time } from './record-fields.ts';

/** What refusals can be ordered by. */
const refusalSortFields = ['last', 'first', 'count', 'reason', 'deviceId', 'id'] as const;

const refusalSchema = namedObject('Refusal', {
  id,
  connectorId: id,
  workspaceId: id,
  transport: oneOf(refusalTransports),
  reason: oneOf(refusalReasons),
  status: Type.Integer({
    description: 'HTTP status of the reason, also for other protocols.',
  }),
  deviceId: orNull(
    Type.String({ description: 'Device ID that the sender named. Null without one.' }),
  ),
  message: Type.String({ description: 'Description of the last rejection.' }),
  first: time,
  last: time,
  count: Type.Integer({ minimum: 1 }),
  bytes: Type.Integer({ minimum: 0, description: 'Size of the last payload in bytes.' }),
  payload: orNull(
    Type.String({
      description: 'First 4,096 bytes of the last payload. Null if the secret was wrong.',
    }),
  ),
  payloadForm: orNull(oneOf(payloadForms)),
});

const refusalListQuery = Type.Object(listParameters(refusalSortFields));

const refusalParams = Type.Object({
  id: Type.String({ description: 'ID of the record.' }),
  refusalId: Type.String({ description: 'ID of the rejected uplink.' }),
});

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
