// Schemas and endpoints of files (contract 31).
import Type from 'typebox';
import { blobBytesMax } from '../model/blob.ts';
import { type BodyStream, endpoint } from './endpoint.ts';
import {
  commonSortFields,
  id,
  idParams,
  namedObject,
  orNull,
  pageSchema,
  text,
  time,
  workspaceListParameters,
} from './schema-parts.ts';

const blobSchema = namedObject('Blob', {
  id,
  name: text,
  contentType: text,
  size: Type.Integer({ description: 'Size in bytes.' }),
  organizationId: id,
  workspaceId: orNull(id),
  sha256: Type.String({ description: 'SHA-256 of the content, hexadecimal.' }),
  created: time,
});

const blobListQuery = Type.Object(
  workspaceListParameters([...commonSortFields, 'size', 'contentType']),
);

const blobPlaceQuery = Type.Object({
  organizationId: Type.Optional(Type.String()),
  workspaceId: Type.Optional(Type.String()),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'File name.' })),
});

const tag = 'Blobs';
const binary = Type.Unsafe<string>({ type: 'string', format: 'binary' });
/** Around the file in a multipart body. */
const wrappingBytesMax = 64 * 1024;

export const blobs = {
  list: endpoint({
    method: 'GET',
    path: '/v3/blobs',
    summary: 'List files',
    description: 'Returns a page of the files in the requested workspaces or in the organization.',
    tag,
    access: { scope: 'blob', verb: 'read', resource: 'handler' },
    query: blobListQuery,
    response: pageSchema(blobSchema),
  }),
  create: endpoint({
    method: 'POST',
    path: '/v3/blobs',
    summary: 'Upload a file',
    description: 'Stores the request body, or the file of a multipart body.',
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
    summary: 'Get file metadata',
    description: 'Returns the name, content type, and size of a file.',
    tag,
    access: { scope: 'blob', verb: 'read', resource: 'path' },
    params: idParams,
    response: blobSchema,
  }),
  content: endpoint({
    method: 'GET',
    path: '/v3/blobs/:id/content',
    summary: 'Download a file',
    description: 'Returns the content of a file with its content type.',
    tag,
    takesShares: 'narrowed',
    access: { scope: 'blob', verb: 'read', resource: 'path' },
    params: idParams,
    answerTypes: { '*/*': binary },
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/v3/blobs/:id',
    summary: 'Delete a file',
    description: 'Deletes a file and its metadata.',
    tag,
    access: { scope: 'blob', verb: 'delete', resource: 'path' },
    params: idParams,
  }),
} as const;
