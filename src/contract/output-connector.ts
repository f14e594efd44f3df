// The wire form of output connectors: all property objects, the unused ones null (contract 9, 34).
import Type from 'typebox';
import { outputScopes, propertiesKeys } from '../model/connector.ts';
import { commonSortFields, listParameter, workspaceListParameters } from './list-parameters.ts';
import { namedObject } from './named.ts';
import { describedOutputTypes, outputPropertySchemas } from './output-properties.ts';
import {
  auditFields,
  id,
  name,
  object,
  oneOf,
  optional,
  orNull,
  updateFields,
} from './record-fields.ts';

const properties = orNull(object);
const payloadTemplate = Type.String({
  maxLength: 100_000,
  description: 'A template; for webhooks it must become JSON',
});

export const outputConnectorSchema = namedObject('OutputConnector', {
  id,
  ...auditFields,
  name,
  workspaceId: orNull(id),
  deleted: Type.Boolean(),
  global: Type.Boolean(),
  scope: oneOf(outputScopes),
  type: Type.String(),
  sendConsecutiveAlerts: Type.Boolean(),
  invokeRuleEngine: Type.Boolean(),
  useCustomPayload: Type.Boolean(),
  customPayload: orNull(payloadTemplate),
  customDatabaseProperties: properties,
  customAkenzaDbProperties: properties,
  webhookProperties: properties,
  mailProperties: properties,
  smsProperties: properties,
  downlinkProperties: properties,
  azureProperties: properties,
  gcpProperties: properties,
  amazonKinesisProperties: properties,
  influxProperties: properties,
  kafkaProperties: properties,
  msTeamsProperties: properties,
  slackProperties: properties,
  sqlProperties: properties,
  mqttProperties: properties,
  amqpProperties: properties,
  natsProperties: properties,
});

const draftFields = {
  sendConsecutiveAlerts: optional(Type.Boolean()),
  invokeRuleEngine: optional(Type.Boolean()),
  useCustomPayload: optional(Type.Boolean()),
  customPayload: optional(payloadTemplate),
  customDatabaseProperties: optional(object),
  customAkenzaDbProperties: optional(object),
  webhookProperties: optional(object),
  mailProperties: optional(object),
  smsProperties: optional(object),
  downlinkProperties: optional(object),
  msTeamsProperties: optional(object),
  slackProperties: optional(object),
  azureProperties: optional(object),
  gcpProperties: optional(object),
  amazonKinesisProperties: optional(object),
  influxProperties: optional(object),
  kafkaProperties: optional(object),
  sqlProperties: optional(object),
  mqttProperties: optional(object),
  amqpProperties: optional(object),
  natsProperties: optional(object),
};

export const outputConnectorDraft = namedObject('OutputConnectorDraft', {
  name,
  workspaceId: id,
  type: Type.String({ description: 'WEBHOOK, CUSTOM_DATABASE ...' }),
  scope: optional(oneOf(outputScopes)),
  ...draftFields,
});
/** What a new connector needs, type by type; the members are checked where the properties are read. */
export const outputConnectorDraftByType = Type.Unsafe({
  ...outputConnectorDraft,
  required: ['name', 'workspaceId', 'type'],
  oneOf: describedOutputTypes.map((type) => ({
    title: type,
    required: ['type', propertiesKeys[type]],
    properties: { type: { const: type }, [propertiesKeys[type]]: outputPropertySchemas[type] },
  })),
});
export const outputConnectorUpdate = namedObject('OutputConnectorUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  ...draftFields,
});

export const outputConnectorListQuery = Type.Object({
  ...workspaceListParameters([...commonSortFields, 'type', 'scope']),
  scope: Type.Optional(oneOf(outputScopes)),
  type: listParameter,
  global: Type.Optional(Type.Boolean()),
});
