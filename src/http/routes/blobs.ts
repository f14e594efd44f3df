// Routes of blobs (contract 31).
import { Readable } from 'node:stream';
import { blobs } from '../../contract/blobs.ts';
import { sha256Of, Blobs } from '../../inventory/workspaces/blobs.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { bytesOf, uploadedFile } from '../edge/request-body.ts';
import { Answer, resourceRoute, route, type Route } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';

export function blobRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  const service = new Blobs(records);
  const place = common.byId('blob');
  return [
    route(blobs.list, ({ query }, principal) =>
      service.list(
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
        (step) => new Blobs(step).create(principal, query, file),
        (id) => service.read(id),
      );
    }),
    resourceRoute(blobs.read, place, ({ params }) => service.read(params.id)),
    resourceRoute(blobs.content, place, async ({ params }) => {
      const { content, headers } = await service.readContent(params.id);
      const length = { 'content-length': String(content.length) };
      return new Answer(200, Readable.from([Buffer.from(content)]), { ...headers, ...length });
    }),
    resourceRoute(blobs.remove, place, ({ params }) => service.remove(params.id)),
  ];
}
