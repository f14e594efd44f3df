// API schemas of integrations with LoRaWAN network servers (contract 4, 35).
import Type from 'typebox';
import { integrationTypes } from '../model/integration.ts';
import { deviceConnectorSchema } from './device-connector.ts';
import {
  auditFields,
  id,
  name,
  object,
  oneOf,
  optional,
  orNull,
  text,
  updateFields,
} from './record-fields.ts';
import { namedObject } from './named.ts';

/** As devices carry it. */
export const nestedIntegrationSchema = namedObject('DeviceIntegration', {
  id,
  name,
  type: oneOf(integrationTypes),
  global: Type.Boolean(),
  deleted: Type.Boolean(),
  readOnly: Type.Boolean(),
  provider: orNull(text),
});

export const integrationSchema = namedObject('Integration', {
  ...nestedIntegrationSchema.properties,
  ...auditFields,
  description: orNull(text),
  organizationId: id,
  workspaceId: id,
  properties: Type.Unsafe<Readonly<Record<string, string>>>({
    type: 'object',
    description:
      'Network server settings such as `baseUrl`, `apiKey`, and `applicationId`. Secrets are masked.',
  }),
  deviceConnector: deviceConnectorSchema,
});

const draftFields = {
  description: optional(text),
  provider: optional(text),
  properties: optional(object),
};

export const integrationDraft = namedObject('IntegrationDraft', {
  name,
  type: oneOf(integrationTypes),
  organizationId: optional(id),
  workspaceId: optional(id),
  ...draftFields,
});
export const integrationUpdate = namedObject('IntegrationUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  ...draftFields,
});
