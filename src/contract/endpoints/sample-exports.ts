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
    summary: 'Begin to export samples of devices, tags or a workspace to a file',
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
    summary: 'Exports of samples, newest first',
    tag,
    access: { ...access, resource: 'handler' },
    query: sampleExportListQuery,
    response: pageSchema(sampleExportSchema),
  }),
  read: endpoint({
    method: 'GET',
    path: '/v3/exports/:id',
    summary: 'How far an export is',
    tag,
    access,
    params: idParams,
    response: sampleExportSchema,
  }),
  content: endpoint({
    method: 'GET',
    path: '/v3/exports/:id/content',
    summary: 'The file of a complete export; answers range requests with 206',
    tag,
    access,
    params: idParams,
    answerTypes: { 'application/vnd.apache.parquet': file, 'application/gzip': file },
    answerHeaders: { 'accept-ranges': '`bytes`', etag: 'Changes never; for `If-Range`' },
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/v3/exports/:id',
    summary: 'End an export that runs, and remove its file',
    tag,
    access,
    needsAlso: 'The export of another creator needs the permission to delete assets.',
    params: idParams,
  }),
} as const;
