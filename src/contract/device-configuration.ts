// API schemas of device configurations (contract 12).
import Type from 'typebox';
import { listParameters } from './list-parameters.ts';
import { id, object, optional, time } from './record-fields.ts';
import { namedObject } from './named.ts';

export const deviceConfigurationSchema = namedObject('DeviceConfiguration', {
  deviceId: id,
  version: Type.Integer({ description: 'Version of the configuration, starting at 1.' }),
  workspaceId: id,
  configuration: object,
  created: time,
});
export const deviceConfigurationDraft = namedObject('DeviceConfigurationDraft', {
  workspaceId: optional(id),
  configuration: object,
});
export const deviceConfigurationQuery = Type.Object({
  ...listParameters(['id', 'name', 'version', 'created']),
  workspaceId: Type.Optional(Type.String()),
});
export const configurationParams = Type.Object({ id, version: Type.Integer({ minimum: 1 }) });
export const pushedSchema = namedObject('PushedConfiguration', { message: Type.String() });
