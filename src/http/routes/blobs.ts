// Routes of blobs (contract 31).
import { Readable } from 'node:stream';
import Type from 'typebox';
import { blobListQuery, blobPlaceQuery, blobSchema } from '../../contract/blob.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import {
  blobLimits,
  createBlob,
  deleteBlob,
  listBlobs,
  readBlob,
  readBlobContent,
  sha256Of,
} from '../../inventory/workspaces/blobs.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { uploadedFile } from '../edge/multipart.ts';
import { Answer, guardedRoute, type Route } from '../edge/route.ts';
import { type BodyStream, bytesOf } from '../edge/streamed-body.ts';
import { byId, createdOnce, type RecordParts } from './record-parts.ts';

const tag = 'Blobs';
const binary = Type.Unsafe<string>({ type: 'string', format: 'binary' });
/** Around the file in a multipart body. */
const wrappingBytesMax = 64 * 1024;

export function blobRoutes(parts: RecordParts): Route[] {
  const { records, now } = parts;
  const place = byId(parts, 'blob');
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/blobs',
      summary: 'Files of workspaces, or all of the organization',
      tag,
      access: { scope: 'blob', verb: 'read', place: { narrowedByHandler: true } },
      query: blobListQuery,
      response: pageSchema(blobSchema),
      handle: ({ query }, principal) =>
        listBlobs(
          records,
          principal,
          { ...listScopeOf(query), search: query.search },
          pageRequestOf(query),
        ),
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/blobs',
      summary: 'Keep a file: the body itself, or the file of a multipart body',
      tag,
      access: { scope: 'blob', verb: 'create', place: { narrowedByHandler: true } },
      query: blobPlaceQuery,
      body: Type.Unsafe<BodyStream>(binary),
      bodyTypes: { 'multipart/form-data': Type.Object({ file: binary }), '*/*': binary },
      streamedBody: true,
      anyBodyType: true,
      bodyBytesMax: blobLimits.bytesMax + wrappingBytesMax,
      status: 201,
      response: blobSchema,
      handle: async (input, principal) => {
        const { query, headers } = input;
        const file = uploadedFile(headers['content-type'], await bytesOf(input.body), query.name);
        return createdOnce(
          parts,
          { ...input, body: { ...query, sha256: sha256Of(file.content), name: file.name } },
          principal,
          (step) => createBlob(step, principal, query, file, now()),
          (id) => readBlob(records, id),
        );
      },
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/blobs/:id',
      summary: 'What is known of a file',
      tag,
      access: { scope: 'blob', verb: 'read', place },
      params: idParams,
      response: blobSchema,
      handle: ({ params }) => readBlob(records, params.id),
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/blobs/:id/content',
      summary: 'The file',
      tag,
      access: { scope: 'blob', verb: 'read', place },
      params: idParams,
      answerTypes: { '*/*': binary },
      handle: async ({ params }) => {
        const { content, headers } = await readBlobContent(records, params.id);
        const length = { 'content-length': String(content.length) };
        return new Answer(200, Readable.from([Buffer.from(content)]), { ...headers, ...length });
      },
    }),
    guardedRoute({
      method: 'DELETE',
      path: '/v3/blobs/:id',
      summary: 'Delete a file',
      tag,
      access: { scope: 'blob', verb: 'delete', place },
      params: idParams,
      handle: async ({ params }) => {
        await deleteBlob(records, params.id);
        return undefined;
      },
    }),
  ];
}
