// Routes of device configurations (contract 12).
import {
  configurationParams,
  deviceConfigurationDraft,
  deviceConfigurationQuery,
  deviceConfigurationSchema,
  pushedSchema,
} from '../../contract/device-configuration.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import {
  createDeviceConfiguration,
  deleteDeviceConfiguration,
  listDeviceConfigurations,
  type PushConfiguration,
  pushDeviceConfiguration,
  readDeviceConfiguration,
} from '../../inventory/devices/device-configurations.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { answeredOnce, byId, type RecordParts } from './record-parts.ts';

const tag = 'Device configurations';
const path = '/v3/devices/:id/configuration';

export interface ConfigurationParts extends RecordParts {
  /** Absent while no transport can reach devices. */
  readonly push?: PushConfiguration;
}

export function deviceConfigurationRoutes(parts: ConfigurationParts): Route[] {
  const { records, now } = parts;
  const read = { scope: 'asset', verb: 'read', place: byId(parts, 'device') } as const;
  const update = { ...read, verb: 'update' } as const;
  return [
    guardedRoute({
      method: 'GET',
      path,
      summary: 'The configurations of a device, newest first',
      tag,
      access: read,
      params: idParams,
      query: deviceConfigurationQuery,
      response: pageSchema(deviceConfigurationSchema),
      handle: ({ params, query }) =>
        listDeviceConfigurations(records, params.id, pageRequestOf(query)),
    }),
    guardedRoute({
      method: 'POST',
      path,
      summary: 'Add a version of the configuration',
      tag,
      access: update,
      params: idParams,
      body: deviceConfigurationDraft,
      status: 201,
      response: deviceConfigurationSchema,
      handle: (input, principal) =>
        answeredOnce(parts, input, principal, (step) =>
          createDeviceConfiguration(step, input.params.id, input.body, now()),
        ),
    }),
    guardedRoute({
      method: 'GET',
      path: `${path}/latest`,
      summary: 'The latest configuration',
      tag,
      access: read,
      params: idParams,
      response: deviceConfigurationSchema,
      handle: ({ params }) => readDeviceConfiguration(records, params.id, 'latest'),
    }),
    guardedRoute({
      method: 'GET',
      path: `${path}/:version`,
      summary: 'One version of the configuration',
      tag,
      access: read,
      params: configurationParams,
      response: deviceConfigurationSchema,
      handle: ({ params }) => readDeviceConfiguration(records, params.id, params.version),
    }),
    guardedRoute({
      method: 'DELETE',
      path: `${path}/:version`,
      summary: 'Delete one version of the configuration',
      tag,
      access: update,
      params: configurationParams,
      handle: async ({ params }) => {
        await deleteDeviceConfiguration(records, params.id, params.version);
        return undefined;
      },
    }),
    pushRoute(parts),
  ];
}

function pushRoute(parts: ConfigurationParts): Route {
  return guardedRoute({
    method: 'POST',
    path: `${path}/push`,
    summary: 'Send the latest configuration to the device',
    tag,
    access: { scope: 'asset', verb: 'update', place: byId(parts, 'device') },
    params: idParams,
    response: pushedSchema,
    handle: ({ params }) => pushDeviceConfiguration(parts.records, params.id, parts.push),
  });
}
