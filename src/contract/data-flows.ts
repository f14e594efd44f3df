// Schemas and endpoints of data flows (contract 10).
import Type, { type Static } from 'typebox';
import { deviceConnectorSchema } from './device-connectors.ts';
import { deviceTypeSchema } from './device-types.ts';
import {
  auditFields,
  flowHealth,
  healthParameter,
  id,
  list,
  name,
  namedObject,
  optional,
  orNull,
  pageSchema,
  reference,
  text,
  updateFields,
  workspaceListParameters,
} from './schema-parts.ts';
import { outputConnectorSchema } from './output-connectors.ts';
import { dataFlowRetentionDays } from './workspaces.ts';
import { recordEndpoints } from './endpoint.ts';

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

const dataFlowSchema = namedObject('DataFlow', {
  ...headFields,
  deviceType: orNull(deviceTypeSchema),
  outputConnectors: list(Type.Object({ ...outputConnectorSchema.properties, topic })),
});

const dataFlowItemSchema = namedObject('DataFlowItem', {
  ...headFields,
  deviceType: orNull(Type.Object({ id, name, pictureUrl: orNull(text) })),
  outputConnectors: list(Type.Object({ id, topic })),
  health: flowHealth,
});

const dataFlowListQuery = Type.Object({
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

const dataFlowDraft = namedObject('DataFlowDraft', {
  name,
  workspaceId: id,
  deviceConnector: reference,
  ...draftFields,
});
export type DataFlowDraft = Static<typeof dataFlowDraft>;
const dataFlowUpdate = namedObject('DataFlowUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  ...draftFields,
});
export type DataFlowUpdate = Static<typeof dataFlowUpdate>;

export const dataFlows = recordEndpoints({
  path: '/v3/data-flows',
  tag: 'Data flows',
  scope: 'dataFlow',
  record: dataFlowSchema,
  list: {
    summary: 'List data flows',
    description: 'Returns a page of the data flows in the requested workspaces.',
    query: dataFlowListQuery,
    response: pageSchema(dataFlowItemSchema),
  },
  create: {
    summary: 'Create a data flow',
    description: 'Connects a device connector, a device type, and output connectors.',
    body: dataFlowDraft,
  },
  read: {
    summary: 'Get a data flow',
    description: 'Returns a data flow with its device connector, device type, and outputs.',
  },
  update: {
    summary: 'Update a data flow',
    description: 'Updates the device type, outputs, or settings of a data flow.',
    body: dataFlowUpdate,
  },
  remove: {
    summary: 'Delete a data flow',
    description: 'Deletes a data flow; fails with 409 while a device uses it.',
  },
});
