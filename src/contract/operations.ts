// Schemas and endpoints of operations and of the bulk work that begins them (contract 4, 19).
import Type, { type TSchema } from 'typebox';
import { actionStates, actionTypes, operationTypes } from '../model/operation.ts';
import type { Verb } from '../model/permission.ts';
import { endpoint } from './endpoint.ts';
import { filterExpression } from './filter-expression.ts';
import { pageParameters, pageSchema, workspaceListParameters } from './list-parameters.ts';
import { namedObject } from './named.ts';
import {
  id,
  idParams,
  list,
  object,
  oneOf,
  optional,
  orNull,
  text,
  time,
} from './record-fields.ts';
import { deviceDraft, deviceUpdate } from './devices.ts';

const count = Type.Integer({ minimum: 0 });

const actionData = Type.Object({
  name: text,
  id: Type.Optional(id),
  deviceId: Type.Optional(text),
  errorCode: Type.Optional(text),
  error: Type.Optional(text),
  reason: Type.Optional(text),
  deregistered: Type.Optional(Type.Boolean()),
  samples: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Number of deleted or changed samples.' }),
  ),
  rawUplinks: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Number of deleted raw uplinks.' }),
  ),
});

const operationActionSchema = namedObject('OperationAction', {
  id,
  type: oneOf(actionTypes),
  state: oneOf(actionStates),
  data: actionData,
  started: orNull(time),
  completed: orNull(time),
});

export const operationSchema = namedObject('Operation', {
  id,
  workspaceId: id,
  creator: id,
  type: oneOf(operationTypes),
  actions: list(operationActionSchema),
  started: time,
  completed: orNull(time),
  totalActionsRequired: count,
  actionsCompleted: count,
  actionsFailed: count,
  succeeded: orNull(Type.Boolean()),
  canceled: Type.Boolean(),
});

const operationQuery = Type.Object({
  actions: Type.Optional(
    Type.Unsafe<'all' | 'failed' | 'none'>({
      ...oneOf(['all', 'failed', 'none']),
      description:
        'Results to return: `all` (at most 50,000), the first 100 that `failed`, or `none`. Defaults to the first 100.',
    }),
  ),
});
const operationActionsQuery = Type.Object({
  ...pageParameters,
  state: Type.Optional(oneOf(['SUCCEEDED', 'FAILED'])),
});
const operationListQuery = Type.Object(workspaceListParameters(['started', 'completed', 'type']));

const { workspaceId: _, ...draftFields } = deviceDraft.properties;
const { id: __, ...updateFields } = deviceUpdate.properties;

const selection = {
  workspaceId: id,
  deviceIds: optional(list(id)),
  search: optional(text),
  expression: Type.Optional(
    filterExpression('Filter expression that selects devices, instead of `deviceIds`.'),
  ),
};

const bulkCreateBody = namedObject('BulkCreateBody', {
  workspaceId: id,
  devices: list(Type.Object({ ...draftFields, workspaceId: Type.Optional(id) })),
});
const bulkUpdateBody = namedObject('BulkUpdateBody', {
  ...selection,
  devices: optional(list(Type.Object({ ...updateFields, id }))),
  changes: optional(Type.Object(updateFields)),
});
const bulkSelectionBody = namedObject('BulkSelectionBody', selection);
const bulkMoveBody = namedObject('BulkMoveBody', {
  ...selection,
  targetWorkspaceId: id,
  dataFlowId: id,
});
const bulkTagBody = namedObject('BulkTagBody', {
  ...selection,
  addTagIds: optional(list(id)),
  removeTagIds: optional(list(id)),
});

export const deviceImportQuery = Type.Object({
  workspaceId: id,
  dryRun: Type.Optional(
    Type.Boolean({
      description: 'Whether to report every problem by line without changing anything.',
    }),
  ),
  mode: Type.Optional(oneOf(['create', 'upsert'])),
});
export const deviceExportQuery = Type.Object({
  workspaceId: id,
  format: Type.Optional(oneOf(['csv', 'json'])),
});

export const importReportSchema = namedObject('DeviceImportReport', {
  dryRun: Type.Boolean(),
  total: count,
  creates: count,
  updates: count,
  problems: list(Type.Object({ line: count, field: orNull(text), message: text })),
});
export const exportedSchema = Type.Unsafe<readonly object[]>({ type: 'array', items: object });

const tag = 'Operations';
const bulkBytesMax = 64 * 1024 * 1024;

export const operations = {
  list: endpoint({
    method: 'GET',
    path: '/v3/operations',
    summary: 'List operations',
    description:
      'Returns a page of bulk operations, newest first, without their per-device results.',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'handler' },
    query: operationListQuery,
    response: pageSchema(operationSchema),
  }),
  read: endpoint({
    method: 'GET',
    path: '/v3/operations/:id',
    summary: 'Get an operation',
    description: 'Returns the progress of an operation and its results for the first devices.',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    params: idParams,
    query: operationQuery,
    response: operationSchema,
  }),
  cancel: endpoint({
    method: 'POST',
    path: '/v3/operations/:id/cancel',
    summary: 'Cancel an operation',
    description:
      'Ends an operation before the next device. What is done stays done. A completed operation is returned as it is.',
    tag,
    access: { scope: 'asset', verb: 'update', resource: 'path' },
    params: idParams,
    status: 200,
    response: operationSchema,
  }),
  actions: endpoint({
    method: 'GET',
    path: '/v3/operations/:id/actions',
    summary: 'List operation results',
    description:
      'Returns a page of the results of an operation, one per device, in the order of the request.',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    params: idParams,
    query: operationActionsQuery,
    response: pageSchema(operationActionSchema),
  }),
} as const;

export const bulkWork = {
  create: bulkEndpoint('create', 'creates devices in a workspace', 'create', bulkCreateBody),
  update: bulkEndpoint('update', 'updates the selected devices', 'update', bulkUpdateBody),
  delete: bulkEndpoint(
    'delete',
    'deletes the selected devices with their samples',
    'delete',
    bulkSelectionBody,
  ),
  move: bulkEndpoint(
    'move',
    'moves the selected devices to another workspace',
    'update',
    bulkMoveBody,
  ),
  tag: bulkEndpoint(
    'tag',
    'adds tags to the selected devices or removes them',
    'update',
    bulkTagBody,
  ),
  register: bulkEndpoint(
    'register',
    'registers the selected LoRaWAN devices with their network server',
    'update',
    bulkSelectionBody,
  ),
  deregister: bulkEndpoint(
    'deregister',
    'removes the selected LoRaWAN devices from their network server',
    'update',
    bulkSelectionBody,
  ),
  activate: bulkEndpoint(
    'activate',
    'activates the selected LoRaWAN devices',
    'update',
    bulkSelectionBody,
  ),
  deactivate: bulkEndpoint(
    'deactivate',
    'deactivates the selected LoRaWAN devices',
    'update',
    bulkSelectionBody,
  ),
} as const;

/** `does` says in the reference what the operation does. */
function bulkEndpoint<B extends TSchema>(work: string, does: string, verb: Verb, body: B) {
  return endpoint({
    method: 'POST',
    path: `/v3/devices/bulk/${work}`,
    summary: `${work.slice(0, 1).toUpperCase()}${work.slice(1)} devices in bulk`,
    description: `Starts an operation that ${does} and returns it with 202.`,
    tag,
    access: { scope: 'asset', verb, resource: 'body' },
    body,
    bodyBytesMax: bulkBytesMax,
    status: 202,
    response: operationSchema,
  });
}
