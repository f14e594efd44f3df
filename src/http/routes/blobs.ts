// Routes of blobs (contract 31).
import { Readable } from 'node:stream';
import { blobs } from '../../contract/blobs.ts';
import {
  createBlob,
  deleteBlob,
  listBlobs,
  readBlob,
  readBlobContent,
  sha256Of,
} from '../../inventory/workspaces/blobs.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { bytesOf, uploadedFile } from '../edge/request-body.ts';
import { Answer, resourceRoute, route, type Route } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';

export function blobRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  const place = common.byId('blob');
  return [
    route(blobs.list, ({ query }, principal) =>
      listBlobs(
        records,
        principal,
        { ...listScopeOf(query), search: query.search },
        pageRequestOf(query),
      ),
    ),
    route(blobs.create, async (input, principal) => {
      const { query, headers } = input;
      const file = uploadedFile(headers['content-type'], await bytesOf(input.body), query.name);
      const body = { ...query, sha256: sha256Of(file.content), name: file.name };
      return common.createdOnce(
        { ...input, body },
        principal,
        (step) => createBlob(step, principal, query, file),
        (id) => readBlob(records, id),
      );
    }),
    resourceRoute(blobs.read, place, ({ params }) => readBlob(records, params.id)),
    resourceRoute(blobs.content, place, async ({ params }) => {
      const { content, headers } = await readBlobContent(records, params.id);
      const length = { 'content-length': String(content.length) };
      return new Answer(200, Readable.from([Buffer.from(content)]), { ...headers, ...length });
    }),
    resourceRoute(blobs.remove, place, ({ params }) => deleteBlob(records, params.id)),
  ];
}
