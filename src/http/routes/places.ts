// Routes of places (contract 39.2).
import { places } from '../../contract/places.ts';
import { Places } from '../../inventory/devices/places.ts';
import { exportPlaces, importPlaces, refuseUnlessCsv } from '../../inventory/imports/place-file.ts';
import { listReach } from '../../inventory/list-scope.ts';
import { holds } from '../../model/principal.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { bytesOf, uploadedFile } from '../edge/request-body.ts';
import { Answer, resourceRoute, route, type Route } from '../edge/route.ts';
import { type RecordRoutes, withHealth } from './record-routes.ts';

export function placeRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  const service = new Places(records);
  const inPath = common.byId('place');
  return [
    ...common.crud(places, {
      kind: 'place',
      list: async ({ query }, principal) => {
        const filter = { ...query, ...listScopeOf(query) };
        const page = await service.list(principal, filter, pageRequestOf(query));
        return withHealth(query, page, () => service.healthOf(principal, page.content));
      },
      create: (step, { body }) => new Places(step).create(body),
      read: (id) => service.read(id),
      update: (id, { body }) => service.update(id, body),
      remove: (id, { query }) => service.remove(id, query.force),
    }),
    route(places.export, async ({ query: { workspaceId } }, principal) => {
      await listReach(records, principal, { workspaceIds: [workspaceId] });
      return new Answer(200, await exportPlaces(records, workspaceId), {
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': 'attachment; filename="places.csv"',
      });
    }),
    route(places.import, async ({ query, body, headers }, principal) => {
      const { workspaceId, dryRun = false } = query;
      await listReach(records, principal, { workspaceIds: [workspaceId] }, ['asset', 'create']);
      const file = uploadedFile(headers['content-type'], await bytesOf(body), undefined);
      refuseUnlessCsv(file.contentType);
      const mayUpdate = holds(principal, 'asset', 'update', workspaceId);
      return importPlaces(records, workspaceId, file.content, { dryRun, mayUpdate });
    }),
    resourceRoute(places.devices, inPath, ({ params: { id }, body }) =>
      service.changeDevices(id, body),
    ),
  ];
}
