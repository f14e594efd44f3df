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
    summary: 'The configurations of a device, newest first',
    tag,
    access: read,
    params: idParams,
    query: deviceConfigurationQuery,
    response: pageSchema(deviceConfigurationSchema),
  }),
  create: endpoint({
    method: 'POST',
    path,
    summary: 'Add a version of the configuration',
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
    summary: 'The latest configuration',
    tag,
    access: read,
    params: idParams,
    response: deviceConfigurationSchema,
  }),
  read: endpoint({
    method: 'GET',
    path: `${path}/:version`,
    summary: 'One version of the configuration',
    tag,
    access: read,
    params: configurationParams,
    response: deviceConfigurationSchema,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: `${path}/:version`,
    summary: 'Delete one version of the configuration',
    tag,
    access: update,
    params: configurationParams,
  }),
  push: endpoint({
    method: 'POST',
    path: `${path}/push`,
    summary: 'Send the latest configuration to the device',
    tag,
    access: update,
    params: idParams,
    response: pushedSchema,
  }),
} as const;
