// Endpoints of files (contract 31).
import Type from 'typebox';
import { blobBytesMax } from '../../model/blob.ts';
import { blobListQuery, blobPlaceQuery, blobSchema } from '../blob.ts';
import { type BodyStream, endpoint } from '../endpoint.ts';
import { pageSchema } from '../page-envelope.ts';
import { idParams } from '../record-fields.ts';

const tag = 'Blobs';
const binary = Type.Unsafe<string>({ type: 'string', format: 'binary' });
/** Around the file in a multipart body. */
const wrappingBytesMax = 64 * 1024;

export const blobs = {
  list: endpoint({
    method: 'GET',
    path: '/v3/blobs',
    summary: 'Files of workspaces, or all of the organization',
    tag,
    access: { scope: 'blob', verb: 'read', resource: 'handler' },
    query: blobListQuery,
    response: pageSchema(blobSchema),
  }),
  create: endpoint({
    method: 'POST',
    path: '/v3/blobs',
    summary: 'Keep a file: the body itself, or the file of a multipart body',
    tag,
    access: { scope: 'blob', verb: 'create', resource: 'handler' },
    query: blobPlaceQuery,
    body: Type.Unsafe<BodyStream>(binary),
    bodyTypes: { 'multipart/form-data': Type.Object({ file: binary }), '*/*': binary },
    streamedBody: true,
    anyBodyType: true,
    bodyBytesMax: blobBytesMax + wrappingBytesMax,
    status: 201,
    response: blobSchema,
  }),
  read: endpoint({
    method: 'GET',
    path: '/v3/blobs/:id',
    summary: 'What is known of a file',
    tag,
    access: { scope: 'blob', verb: 'read', resource: 'path' },
    params: idParams,
    response: blobSchema,
  }),
  content: endpoint({
    method: 'GET',
    path: '/v3/blobs/:id/content',
    summary: 'The file',
    tag,
    access: { scope: 'blob', verb: 'read', resource: 'path' },
    params: idParams,
    answerTypes: { '*/*': binary },
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/v3/blobs/:id',
    summary: 'Delete a file',
    tag,
    access: { scope: 'blob', verb: 'delete', resource: 'path' },
    params: idParams,
  }),
} as const;
