// Routes of device connectors (contract 8).
import Type from 'typebox';
import {
  deviceConnectorDraft,
  deviceConnectorSchema,
  deviceConnectorUpdate,
} from '../../contract/device-connector.ts';
import { commonSortFields, workspaceListParameters } from '../../contract/list-parameters.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import {
  createDeviceConnector,
  deleteDeviceConnector,
  listDeviceConnectors,
  readDeviceConnector,
  updateDeviceConnector,
} from '../../inventory/flows/device-connectors.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { byId, byWorkspace, createdOnce, type RecordParts } from './record-parts.ts';

const tag = 'Device connectors';

export function deviceConnectorRoutes(parts: RecordParts): Route[] {
  const { records, now } = parts;
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/device-connectors',
      summary: 'Device connectors of workspaces',
      tag,
      access: { scope: 'dataFlow', verb: 'read', place: { narrowedByHandler: true } },
      query: Type.Object(workspaceListParameters([...commonSortFields, 'connectivity'])),
      response: pageSchema(deviceConnectorSchema),
      handle: ({ query }, principal) =>
        listDeviceConnectors(
          records,
          principal,
          { ...listScopeOf(query), search: query.search },
          pageRequestOf(query),
        ),
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/device-connectors',
      summary: 'Make a device connector',
      tag,
      access: { scope: 'dataFlow', verb: 'create', place: byWorkspace(parts) },
      body: deviceConnectorDraft,
      status: 201,
      response: deviceConnectorSchema,
      handle: (input, principal) =>
        createdOnce(
          parts,
          input,
          principal,
          (step) => createDeviceConnector(step, principal, input.body, now()),
          (id) => readDeviceConnector(records, principal, id),
        ),
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/device-connectors/:id',
      summary: 'One device connector',
      tag,
      access: { scope: 'dataFlow', verb: 'read', place: byId(parts, 'deviceConnector') },
      params: idParams,
      response: deviceConnectorSchema,
      handle: ({ params }, principal) => readDeviceConnector(records, principal, params.id),
    }),
    guardedRoute({
      method: 'PUT',
      path: '/v3/device-connectors/:id',
      summary: 'Change a device connector',
      tag,
      access: { scope: 'dataFlow', verb: 'update', place: byId(parts, 'deviceConnector') },
      params: idParams,
      body: deviceConnectorUpdate,
      response: deviceConnectorSchema,
      handle: ({ params, body }, principal) =>
        updateDeviceConnector(records, principal, params.id, body, now()),
    }),
    guardedRoute({
      method: 'DELETE',
      path: '/v3/device-connectors/:id',
      summary: 'Delete a device connector that no data flow uses',
      tag,
      access: { scope: 'dataFlow', verb: 'delete', place: byId(parts, 'deviceConnector') },
      params: idParams,
      handle: async ({ params }) => {
        await deleteDeviceConnector(records, params.id);
        return undefined;
      },
    }),
  ];
}
