// Endpoints of device connectors (contract 8).
import Type from 'typebox';
import {
  deviceConnectorDraft,
  deviceConnectorSchema,
  deviceConnectorUpdate,
} from '../device-connector.ts';
import { commonSortFields, workspaceListParameters } from '../list-parameters.ts';
import { pageSchema } from '../page-envelope.ts';
import { recordEndpoints } from './record-endpoints.ts';

export const deviceConnectors = recordEndpoints({
  path: '/v3/device-connectors',
  tag: 'Device connectors',
  scope: 'dataFlow',
  record: deviceConnectorSchema,
  list: {
    summary: 'List device connectors',
    description: 'Returns a page of the device connectors in the requested workspaces.',
    query: Type.Object(workspaceListParameters([...commonSortFields, 'connectivity'])),
    response: pageSchema(deviceConnectorSchema),
  },
  create: {
    summary: 'Create a device connector',
    description:
      'Creates a device connector for HTTP, MQTT, or CoAP and generates its uplink secret.',
    body: deviceConnectorDraft,
  },
  read: {
    summary: 'Get a device connector',
    description: 'Returns a device connector with its uplink secret.',
  },
  update: {
    summary: 'Update a device connector',
    description: 'Updates the name or settings of a device connector.',
    body: deviceConnectorUpdate,
  },
  remove: {
    summary: 'Delete a device connector',
    description: 'Deletes a device connector; fails with 409 while a data flow uses it.',
  },
});
