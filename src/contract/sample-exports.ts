// Schemas and endpoints of sample exports: samples of many devices as one file (contract 19).
import Type, { type Static } from 'typebox';
import { sampleExportFormats, sampleExportLimits, sampleExportStates } from '../model/operation.ts';
import { endpoint } from './endpoint.ts';
import { filterExpression } from './filter-expression.ts';
import { pageSchema, workspaceListParameters } from './list-parameters.ts';
import { namedObject } from './named.ts';
import { id, idParams, list, oneOf, optional, orNull, text, time } from './record-fields.ts';

const count = Type.Integer({ minimum: 0 });
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

const tag = 'Data';
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
    tag,
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
    tag,
    access: { ...access, resource: 'handler' },
    query: sampleExportListQuery,
    response: pageSchema(sampleExportSchema),
  }),
  read: endpoint({
    method: 'GET',
    path: '/v3/exports/:id',
    summary: 'Get a sample export',
    description: 'Returns the state and progress of an export.',
    tag,
    access,
    params: idParams,
    response: sampleExportSchema,
  }),
  content: endpoint({
    method: 'GET',
    path: '/v3/exports/:id/content',
    summary: 'Download a sample export',
    description: 'Returns the file of a completed export; supports range requests.',
    tag,
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
    tag,
    access,
    needsAlso: "Another user's export also requires `asset` `delete`.",
    params: idParams,
  }),
} as const;
