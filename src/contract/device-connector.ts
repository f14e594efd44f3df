// API schemas of device connectors (contract 8).
import Type from 'typebox';
import { connectivities, connectorAuthTypes } from '../model/connector.ts';
import { carriers, decodingTypes } from '../model/integration.ts';
import {
  auditFields,
  id,
  name,
  oneOf,
  optional,
  orNull,
  text,
  updateFields,
} from './record-fields.ts';
import { lineProtocolDraft, lineProtocolSchema } from './line-protocol.ts';
import { namedObject } from './named.ts';
import { sparkplugDraft, sparkplugSchema } from './sparkplug.ts';

export const deviceConnectorSchema = namedObject('DeviceConnector', {
  id,
  ...auditFields,
  name,
  description: orNull(text),
  workspaceId: orNull(id),
  readOnly: Type.Boolean(),
  global: Type.Boolean(),
  connectivity: oneOf(connectivities),
  carrier: orNull(oneOf(carriers)),
  provider: orNull(text),
  integrationId: orNull(id),
  integrationDeleted: Type.Boolean(),
  authType: oneOf(connectorAuthTypes),
  uplinkSecret: orNull(
    Type.String({ description: 'Returned only to callers with `dataFlow` `update`.' }),
  ),
  decodingType: oneOf(decodingTypes),
  pushConfigurationAutomatically: Type.Boolean(),
  lineProtocol: orNull(lineProtocolSchema),
  sparkplug: orNull(sparkplugSchema),
  yanziProperties: Type.Null(),
  spacetiProperties: Type.Null(),
});

const draftFields = {
  description: optional(text),
  pushConfigurationAutomatically: optional(Type.Boolean()),
  lineProtocol: optional(lineProtocolDraft),
  sparkplug: optional(sparkplugDraft),
};

export const deviceConnectorDraft = namedObject('DeviceConnectorDraft', {
  name,
  workspaceId: id,
  connectivity: oneOf(connectivities),
  authType: optional(oneOf(connectorAuthTypes)),
  decodingType: optional(oneOf(decodingTypes)),
  ...draftFields,
});
export const deviceConnectorUpdate = namedObject('DeviceConnectorUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  ...draftFields,
});
