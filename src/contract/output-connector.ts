// The wire form of output connectors: all property objects, the unused ones null (contract 9, 34).
import Type from 'typebox';
import { outputScopes } from '../model/connector.ts';
import { listParameter, workspaceListParameters } from './list-parameters.ts';
import { auditFields, id, name, object, oneOf, optional, orNull, text, updateFields } from './record-fields.ts';
import { namedObject } from './named.ts';

const properties = orNull(object);

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
  customPayload: orNull(text),
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
  customPayload: optional(text),
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
export const outputConnectorUpdate = namedObject('OutputConnectorUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  ...draftFields,
});

export const outputConnectorListQuery = Type.Object({
  ...workspaceListParameters,
  scope: Type.Optional(oneOf(outputScopes)),
  type: listParameter,
  global: Type.Optional(Type.Boolean()),
});
