// Schemas and endpoints of operations, the bulk work that begins them, and exports of samples (contract 4, 19).
import Type, { type Static, type TSchema } from 'typebox';
import {
  actionStates,
  actionTypes,
  operationTypes,
  sampleExportFormats,
  sampleExportLimits,
  sampleExportStates,
} from '../model/operation.ts';
import type { Verb } from '../model/principal.ts';
import { endpoint } from './endpoint.ts';
import {
  filterExpression,
  id,
  idParams,
  list,
  namedObject,
  object,
  oneOf,
  optional,
  orNull,
  pageParameters,
  pageSchema,
  text,
  time,
  workspaceListParameters,
} from './schema-parts.ts';
import { deviceDraft, deviceUpdate } from './devices.ts';

const count = Type.Integer({ minimum: 0 });

// Schemas and endpoints of sample exports: samples of many devices as one file (contract 19).

const { devicesMax, tagsMax, topicsMax, keysMax } = sampleExportLimits;

/** At least one: an empty list is not the same as none. */
function some(item: typeof id, maxItems: number, description: string) {
  return optional(Type.Array(item, { minItems: 1, maxItems, description }));
}

const sampleExportBody = namedObject('SampleExportBody', {
  workspaceId: id,
  format: Type.Optional(oneOf(sampleExportFormats)),
  from: optional(Type.String({ description: 'ISO-8601 date-time, inclusive.' })),
  to: optional(Type.String({ description: 'ISO-8601 date-time, exclusive. Defaults to now.' })),
  topics: some(text, topicsMax, 'Topics. Defaults to all.'),
  keys: some(text, keysMax, 'Data keys. Defaults to all.'),
  deviceIds: some(id, devicesMax, 'Devices. Defaults to all devices in the workspace.'),
  tagIds: some(id, tagsMax, 'Selects devices with any of the tags.'),
  search: optional(text),
  expression: Type.Optional(
    filterExpression('Filter expression that selects devices, instead of `deviceIds`.'),
  ),
});
export type SampleExportBody = Static<typeof sampleExportBody>;

const sampleExportSchema = namedObject('SampleExport', {
  id,
  workspaceId: id,
  creator: id,
  state: oneOf(sampleExportStates),
  format: oneOf(sampleExportFormats),
  fileName: text,
  from: orNull(time),
  to: time,
  topics: orNull(list(text)),
  keys: orNull(list(text)),
  tagIds: orNull(list(id)),
  devices: count,
  devicesDone: count,
  samples: count,
  bytes: count,
  incomplete: Type.Boolean({
    description: 'Whether some samples could not be read and are missing from the file.',
  }),
  errorCode: orNull(text),
  error: orNull(text),
  started: time,
  completed: orNull(time),
  expires: orNull(time),
});

const sampleExportListQuery = Type.Object(workspaceListParameters(['started']));

const dataTag = 'Data';
const bodyBytesMax = 4 * 1024 * 1024;
const file = Type.Unsafe<string>({ type: 'string', format: 'binary' });
const access = { scope: 'asset', verb: 'read', resource: 'path' } as const;

export const sampleExports = {
  create: endpoint({
    method: 'POST',
    path: '/v3/exports',
    ownBody: true,
    summary: 'Start a sample export',
    description:
      'Starts an export of the samples of devices, tags, or a workspace to a Parquet or NDJSON file and returns it with 202.',
    tag: dataTag,
    access: { ...access, resource: 'body' },
    body: sampleExportBody,
    bodyBytesMax,
    status: 202,
    response: sampleExportSchema,
  }),
  list: endpoint({
    method: 'GET',
    path: '/v3/exports',
    summary: 'List sample exports',
    description: 'Returns a page of sample exports, newest first.',
    tag: dataTag,
    access: { ...access, resource: 'handler' },
    query: sampleExportListQuery,
    response: pageSchema(sampleExportSchema),
  }),
  read: endpoint({
    method: 'GET',
    path: '/v3/exports/:id',
    summary: 'Get a sample export',
    description: 'Returns the state and progress of an export.',
    tag: dataTag,
    access,
    params: idParams,
    response: sampleExportSchema,
  }),
  content: endpoint({
    method: 'GET',
    path: '/v3/exports/:id/content',
    summary: 'Download a sample export',
    description: 'Returns the file of a completed export; supports range requests.',
    tag: dataTag,
    access,
    params: idParams,
    answerTypes: { 'application/vnd.apache.parquet': file, 'application/gzip': file },
    answerHeaders: { 'accept-ranges': '`bytes`', etag: 'Changes never; for `If-Range`' },
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/v3/exports/:id',
    summary: 'Delete a sample export',
    description: 'Cancels a running export and deletes its file.',
    tag: dataTag,
    access,
    needsAlso: "Another user's export also requires `asset` `delete`.",
    params: idParams,
  }),
} as const;

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
