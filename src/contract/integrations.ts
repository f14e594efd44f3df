// Schemas and endpoints of integrations with network servers (contract 35).
import Type, { type Static } from 'typebox';
import { integrationTypes } from '../model/integration.ts';
import { commonSortFields, pageSchema, workspaceListParameters } from './list-parameters.ts';
import { namedObject } from './named.ts';
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
import { deviceConnectorSchema } from './device-connectors.ts';
import { recordEndpoints } from './endpoint.ts';

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

const integrationSchema = namedObject('Integration', {
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

const integrationDraft = namedObject('IntegrationDraft', {
  name,
  type: oneOf(integrationTypes),
  organizationId: optional(id),
  workspaceId: optional(id),
  ...draftFields,
});
export type IntegrationDraft = Static<typeof integrationDraft>;
const integrationUpdate = namedObject('IntegrationUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  ...draftFields,
});
export type IntegrationUpdate = Static<typeof integrationUpdate>;

export const integrations = recordEndpoints({
  path: '/v3/integrations',
  tag: 'Integrations',
  scope: 'integration',
  record: integrationSchema,
  list: {
    summary: 'List integrations',
    description: 'Returns a page of the LoRaWAN integrations in the requested workspaces.',
    query: Type.Object(workspaceListParameters([...commonSortFields, 'type'])),
    response: pageSchema(integrationSchema),
  },
  create: {
    summary: 'Create an integration',
    description: 'Creates a LoRaWAN integration together with its device connector.',
    body: integrationDraft,
  },
  read: {
    summary: 'Get an integration',
    description: 'Returns an integration and its webhook settings.',
  },
  update: {
    summary: 'Update an integration',
    description: 'Updates the name, description, or properties of an integration.',
    body: integrationUpdate,
  },
  remove: {
    summary: 'Delete an integration',
    description:
      'Deletes an integration and its device connector; fails with 409 while a device or data flow uses it.',
  },
});
