// Routes of places (contract 39.2).
import { places } from '../../contract/places.ts';
import {
  changeDevicesOfPlace,
  createPlace,
  deletePlace,
  listPlaces,
  readHealthOfPlaces,
  readPlace,
  updatePlace,
} from '../../inventory/devices/places.ts';
import { exportPlaces, importPlaces, refuseUnlessCsv } from '../../inventory/imports/place-file.ts';
import { listReach } from '../../inventory/list-scope.ts';
import { holds } from '../../model/principal.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { bytesOf, uploadedFile } from '../edge/request-body.ts';
import { Answer, resourceRoute, route, type Route } from '../edge/route.ts';
import { type RecordRoutes, withHealth } from './record-routes.ts';

export function placeRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  const inPath = common.byId('place');
  return [
    ...common.crud(places, {
      kind: 'place',
      list: async ({ query }, principal) => {
        const filter = { ...query, ...listScopeOf(query) };
        const page = await listPlaces(records, principal, filter, pageRequestOf(query));
        return withHealth(query, page, () => readHealthOfPlaces(records, principal, page.content));
      },
      create: (step, { body }) => createPlace(step, body),
      read: (id) => readPlace(records, id),
      update: (id, { body }) => updatePlace(records, id, body),
      remove: (id, { query }) => deletePlace(records, id, query.force),
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
      changeDevicesOfPlace(records, id, body),
    ),
  ];
}
