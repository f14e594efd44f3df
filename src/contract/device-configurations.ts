// Schemas and endpoints of device configurations (contract 12).
import Type from 'typebox';
import { endpoint } from './endpoint.ts';
import { listParameters, pageSchema } from './list-parameters.ts';
import { namedObject } from './named.ts';
import { id, idParams, object, optional, time } from './record-fields.ts';

const deviceConfigurationSchema = namedObject('DeviceConfiguration', {
  deviceId: id,
  version: Type.Integer({ description: 'Version of the configuration, starting at 1.' }),
  workspaceId: id,
  configuration: object,
  created: time,
});
const deviceConfigurationDraft = namedObject('DeviceConfigurationDraft', {
  workspaceId: optional(id),
  configuration: object,
});
const deviceConfigurationQuery = Type.Object({
  ...listParameters(['id', 'name', 'version', 'created']),
  workspaceId: Type.Optional(Type.String()),
});
const configurationParams = Type.Object({ id, version: Type.Integer({ minimum: 1 }) });
const pushedSchema = namedObject('PushedConfiguration', { message: Type.String() });

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
