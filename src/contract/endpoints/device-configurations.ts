// Endpoints of device configurations (contract 12).
import {
  configurationParams,
  deviceConfigurationDraft,
  deviceConfigurationQuery,
  deviceConfigurationSchema,
  pushedSchema,
} from '../device-configuration.ts';
import { endpoint } from '../endpoint.ts';
import { pageSchema } from '../page-envelope.ts';
import { idParams } from '../record-fields.ts';

const tag = 'Device configurations';
const read = { scope: 'asset', verb: 'read', resource: 'path' } as const;
const update = { ...read, verb: 'update' } as const;
const path = '/v3/devices/:id/configuration';

export const deviceConfigurations = {
  list: endpoint({
    method: 'GET',
    path,
    summary: 'List device configurations',
    description: 'Returns the configuration versions of a device, newest first.',
    tag,
    access: read,
    params: idParams,
    query: deviceConfigurationQuery,
    response: pageSchema(deviceConfigurationSchema),
  }),
  create: endpoint({
    method: 'POST',
    path,
    summary: 'Create a device configuration',
    description: 'Stores a new configuration version for a device.',
    tag,
    access: update,
    params: idParams,
    body: deviceConfigurationDraft,
    status: 201,
    response: deviceConfigurationSchema,
  }),
  latest: endpoint({
    method: 'GET',
    path: `${path}/latest`,
    summary: 'Get the latest device configuration',
    description: 'Returns the newest configuration version of a device.',
    tag,
    access: read,
    params: idParams,
    response: deviceConfigurationSchema,
  }),
  read: endpoint({
    method: 'GET',
    path: `${path}/:version`,
    summary: 'Get a device configuration',
    description: 'Returns one configuration version of a device.',
    tag,
    access: read,
    params: configurationParams,
    response: deviceConfigurationSchema,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: `${path}/:version`,
    summary: 'Delete a device configuration',
    description: 'Deletes one configuration version of a device.',
    tag,
    access: update,
    params: configurationParams,
  }),
  push: endpoint({
    method: 'POST',
    path: `${path}/push`,
    summary: 'Push the device configuration',
    description:
      'Sends the latest configuration to the device over its open MQTT connection; fails with 409 when it is not connected.',
    tag,
    access: update,
    params: idParams,
    response: pushedSchema,
  }),
} as const;
