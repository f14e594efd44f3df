// Routes of places (contract 39.2).
import { places } from '../../contract/places.ts';
import {
  changeDevicesOfPlace,
  createPlace,
  deletePlace,
  listPlaces,
  readPlace,
  updatePlace,
} from '../../inventory/devices/places.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import { byId, type RecordParts } from './record-parts.ts';
import { recordRoutes } from './record-routes.ts';

export function placeRoutes(parts: RecordParts): Route[] {
  const { records } = parts;
  const inPath = byId(parts, 'place');
  return [
    ...recordRoutes(parts, places, {
      kind: 'place',
      list: ({ query }, principal) =>
        listPlaces(records, principal, { ...query, ...listScopeOf(query) }, pageRequestOf(query)),
      create: (step, { body }) => createPlace(step, body),
      read: (id) => readPlace(records, id),
      update: (id, { body }) => updatePlace(records, id, body),
      remove: (id, { query }) => deletePlace(records, id, query.force),
    }),
    resourceRoute(places.devices, inPath, ({ params: { id }, body }) =>
      changeDevicesOfPlace(records, id, body),
    ),
  ];
}
