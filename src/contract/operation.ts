// API schemas of operations, and of the requests that begin them (contract 4, 19).
import { filterExpression } from './filter-expression.ts';
import Type from 'typebox';
import { actionStates, actionTypes, operationTypes } from '../model/operation.ts';
import { deviceDraft, deviceUpdate } from './device.ts';
import { pageParameters, workspaceListParameters } from './list-parameters.ts';
import { id, list, object, oneOf, optional, orNull, text, time } from './record-fields.ts';
import { namedObject } from './named.ts';

const count = Type.Integer({ minimum: 0 });

const actionData = Type.Object({
  name: text,
  id: Type.Optional(id),
  deviceId: Type.Optional(text),
  errorCode: Type.Optional(text),
  error: Type.Optional(text),
  reason: Type.Optional(text),
  deregistered: Type.Optional(Type.Boolean()),
});

export const operationActionSchema = namedObject('OperationAction', {
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
});

export const operationQuery = Type.Object({
  actions: Type.Optional(
    Type.Unsafe<'all' | 'failed' | 'none'>({
      ...oneOf(['all', 'failed', 'none']),
      description:
        'Results to return: `all` (at most 50,000), the first 100 that `failed`, or `none`. Defaults to the first 100.',
    }),
  ),
});
export const operationActionsQuery = Type.Object({
  ...pageParameters,
  state: Type.Optional(oneOf(['SUCCEEDED', 'FAILED'])),
});
export const operationListQuery = Type.Object(
  workspaceListParameters(['started', 'completed', 'type']),
);

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

export const bulkCreateBody = namedObject('BulkCreateBody', {
  workspaceId: id,
  devices: list(Type.Object({ ...draftFields, workspaceId: Type.Optional(id) })),
});
export const bulkUpdateBody = namedObject('BulkUpdateBody', {
  ...selection,
  devices: optional(list(Type.Object({ ...updateFields, id }))),
  changes: optional(Type.Object(updateFields)),
});
export const bulkSelectionBody = namedObject('BulkSelectionBody', selection);
export const bulkMoveBody = namedObject('BulkMoveBody', {
  ...selection,
  targetWorkspaceId: id,
  dataFlowId: id,
});
export const bulkTagBody = namedObject('BulkTagBody', {
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
