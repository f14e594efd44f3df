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
    summary: 'Device connectors of workspaces',
    query: Type.Object(workspaceListParameters([...commonSortFields, 'connectivity'])),
    response: pageSchema(deviceConnectorSchema),
  },
  create: { summary: 'Make a device connector', body: deviceConnectorDraft },
  read: { summary: 'One device connector' },
  update: { summary: 'Change a device connector', body: deviceConnectorUpdate },
  remove: { summary: 'Delete a device connector that no data flow uses' },
});
