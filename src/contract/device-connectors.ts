// Schemas and endpoints of device connectors and of integrations with network servers (contract 8, 35).
import Type, { type Static } from 'typebox';
import { payloadEncodings } from '../model/device-type.ts';
import {
  carriers,
  connectivities,
  connectorAuthTypes,
  decodingTypes,
  integrationTypes,
} from '../model/connector.ts';
import {
  auditFields,
  commonSortFields,
  id,
  list,
  name,
  namedObject,
  object,
  oneOf,
  optional,
  orNull,
  pageSchema,
  text,
  updateFields,
  workspaceListParameters,
} from './schema-parts.ts';
import { recordEndpoints } from './endpoint.ts';

const lineProtocolLimits = {
  deviceTemplatesMax: 10,
  templateLengthMax: 200,
  /** Of `createDevices.devicesMax`. */
  devicesMax: 100_000,
} as const;

const sparkplugMappingLimits = {
  templateLengthMax: 200,
  hostIdLengthMax: 100,
  /** Of `createDevices.devicesMax`. */
  devicesMax: 100_000,
} as const;

const { deviceTemplatesMax, templateLengthMax, devicesMax } = lineProtocolLimits;

const template = Type.String({ minLength: 1, maxLength: templateLengthMax });
const creation = Type.Object({
  devicesMax: Type.Integer({
    minimum: 1,
    maximum: devicesMax,
    description: "Maximum number of devices in the connector's oldest data flow.",
  }),
});
const deviceText =
  'Templates of the device ID. The first one whose tags are all present is used. Defaults to ' +
  '`{device}`, `{device_id}`, `{host}`, `{entity_id}`.';
const topicText = 'Template of the topic. Defaults to `{measurement}`.';
const creationText = 'Creates devices for unknown points. Null rejects such points.';

const lineProtocolSchema = namedObject('LineProtocolMapping', {
  device: list(template),
  topic: Type.String({ description: topicText }),
  createDevices: orNull(creation),
});

const lineProtocolDraft = namedObject('LineProtocolMappingDraft', {
  device: optional(
    Type.Array(template, { minItems: 1, maxItems: deviceTemplatesMax, description: deviceText }),
  ),
  topic: optional(
    Type.String({ minLength: 1, maxLength: templateLengthMax, description: topicText }),
  ),
  createDevices: Type.Optional(Type.Union([creation, Type.Null()], { description: creationText })),
});

// Schemas of the Sparkplug mapping of device connectors.

const { hostIdLengthMax } = sparkplugMappingLimits;

const deviceTemplate = (description: string) =>
  Type.String({ minLength: 1, maxLength: sparkplugMappingLimits.templateLengthMax, description });
const node = deviceTemplate(
  'Template of the device ID of an edge node. Must contain `{edge}`. Defaults to `{group}/{edge}`.',
);
const device = deviceTemplate(
  'Template of the device ID of a device. Must contain `{device}`. ' +
    'Defaults to `{group}/{edge}/{device}`.',
);
const topic = deviceTemplate('Topic of the samples. Defaults to `default`.');
const hostId = Type.String({
  pattern: '^[^/+#]+$',
  maxLength: hostIdLengthMax,
  description: 'Sparkplug host ID of the platform. Edge nodes can wait for its STATE message.',
});
const birthText = 'Creates devices for unknown births. Null rejects them.';

const sparkplugSchema = namedObject('SparkplugMapping', {
  node,
  device,
  topic,
  hostId,
  createDevices: orNull(creation),
});

const sparkplugDraft = namedObject('SparkplugMappingDraft', {
  node: optional(node),
  device: optional(device),
  topic: optional(topic),
  hostId: optional(hostId),
  createDevices: Type.Optional(Type.Union([creation, Type.Null()], { description: birthText })),
});

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
  encoding: orNull(oneOf(payloadEncodings)),
  pushConfigurationAutomatically: Type.Boolean(),
  lineProtocol: orNull(lineProtocolSchema),
  sparkplug: orNull(sparkplugSchema),
  yanziProperties: Type.Null(),
  spacetiProperties: Type.Null(),
});

const draftFields = {
  description: optional(text),
  encoding: Type.Optional(
    Type.Union([oneOf(payloadEncodings), Type.Null()], {
      description:
        'How payloads are read where the device type does not say it. Null: by content type, else by content.',
    }),
  ),
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
export type DeviceConnectorDraft = Static<typeof deviceConnectorDraft>;
const deviceConnectorUpdate = namedObject('DeviceConnectorUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  ...draftFields,
});
export type DeviceConnectorUpdate = Static<typeof deviceConnectorUpdate>;

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

// Schemas and endpoints of integrations with network servers (contract 35).

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

const integrationDraftFields = {
  description: optional(text),
  provider: optional(text),
  properties: optional(object),
};

const integrationDraft = namedObject('IntegrationDraft', {
  name,
  type: oneOf(integrationTypes),
  organizationId: optional(id),
  workspaceId: optional(id),
  ...integrationDraftFields,
});
export type IntegrationDraft = Static<typeof integrationDraft>;
const integrationUpdate = namedObject('IntegrationUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  ...integrationDraftFields,
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
