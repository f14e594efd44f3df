// Endpoints of sample exports: samples of many devices as one file (contract 19).
import Type from 'typebox';
import { endpoint } from '../endpoint.ts';
import { pageSchema } from '../page-envelope.ts';
import { idParams } from '../record-fields.ts';
import { sampleExportBody, sampleExportListQuery, sampleExportSchema } from '../sample-export.ts';

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
