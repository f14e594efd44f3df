// API schemas of data flows: complete records in the single answer, names in the list (contract 10).
import Type from 'typebox';
import { deviceConnectorSchema } from './device-connector.ts';
import { deviceTypeSchema } from './device-type.ts';
import { workspaceListParameters } from './list-parameters.ts';
import { outputConnectorSchema } from './output-connector.ts';
import {
  auditFields,
  id,
  list,
  name,
  optional,
  orNull,
  reference,
  text,
  updateFields,
} from './record-fields.ts';
import { dataFlowRetentionDays } from './retention.ts';
import { namedObject } from './named.ts';
import { flowHealth, healthParameter } from './record-health.ts';

const headFields = {
  id,
  ...auditFields,
  name,
  description: orNull(text),
  deviceConnector: deviceConnectorSchema,
  workspaceId: id,
  organizationId: id,
  passThrough: Type.Boolean(),
  isPassThrough: Type.Boolean(),
  retentionDays: orNull(dataFlowRetentionDays),
};
const topic = Type.String({ description: 'One topic, or `*` for all.' });

export const dataFlowSchema = namedObject('DataFlow', {
  ...headFields,
  deviceType: orNull(deviceTypeSchema),
  outputConnectors: list(Type.Object({ ...outputConnectorSchema.properties, topic })),
});

export const dataFlowItemSchema = namedObject('DataFlowItem', {
  ...headFields,
  deviceType: orNull(Type.Object({ id, name, pictureUrl: orNull(text) })),
  outputConnectors: list(Type.Object({ id, topic })),
  health: flowHealth,
});

export const dataFlowListQuery = Type.Object({
  ...workspaceListParameters(),
  ...healthParameter,
});

const draftFields = {
  description: optional(text),
  deviceType: optional(reference),
  outputConnectors: optional(
    list(Type.Object({ id, topic: optional(Type.String({ maxLength: 1_000 })) })),
  ),
  passThrough: optional(Type.Boolean()),
  isPassThrough: optional(Type.Boolean()),
  retentionDays: optional(dataFlowRetentionDays),
};

export const dataFlowDraft = namedObject('DataFlowDraft', {
  name,
  workspaceId: id,
  deviceConnector: reference,
  ...draftFields,
});
export const dataFlowUpdate = namedObject('DataFlowUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  ...draftFields,
});
