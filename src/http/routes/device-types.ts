// Routes of device types and of the device type library (contract 7).
import { deviceTypeLibrary } from '../../contract/device-type-import.ts';
import { deviceTypes } from '../../contract/device-types.ts';
import {
  createDeviceType,
  deleteDeviceType,
  listDeviceTypes,
  readDeviceType,
  updateDeviceType,
} from '../../inventory/data-flows/device-types.ts';
import { type FlowHealthParts, healthOfDeviceTypes } from '../../inventory/health/health.ts';
import { importLibrary } from '../../inventory/imports/library-import.ts';
import { type DeviceTypeKind, deviceTypeKinds } from '../../model/device-type.ts';
import { listOf, pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import type { ViewOptionsParts } from './connector-view-options.ts';
import { byOrganization, type RecordParts, withHealth } from './record-parts.ts';
import { recordRoutes } from './record-routes.ts';

export function deviceTypeRoutes(
  parts: RecordParts & FlowHealthParts & Pick<ViewOptionsParts, 'aliased'>,
): Route[] {
  const { records, now, aliased } = parts;
  return recordRoutes(parts, deviceTypes, {
    kind: 'deviceType',
    createIn: byOrganization,
    list: async ({ query }, principal) => {
      const filter = { ...query, types: kindsOf(query), details: query.details === true };
      const page = await listDeviceTypes(records, principal, filter, pageRequestOf(query));
      return withHealth(query, page, (ids) => healthOfDeviceTypes(records, principal, ids, parts));
    },
    create: (step, { body }) => createDeviceType(step, body, now()),
    read: (id) => readDeviceType(records, id),
    update: (id, { body, headers }) => updateDeviceType(records, id, body, now(), aliased(headers)),
    remove: (id) => deleteDeviceType(records, id),
  });
}

function kindsOf(query: object): DeviceTypeKind[] | undefined {
  const names = listOf(query, 'types')?.map((name) => name.toLowerCase());
  return names && deviceTypeKinds.filter((kind) => names.includes(kind));
}

// Route of the device type library (contract 7).

export function deviceTypeImportRoute({ records }: RecordParts): Route {
  return resourceRoute(
    deviceTypeLibrary.import,
    byOrganization,
    ({ body: { organizationId, files, pictures = {} } }) => {
      const library = {
        files: new Map(Object.entries(files)),
        pictures: new Map(Object.entries(pictures)),
      };
      return importLibrary(records, organizationId, library);
    },
  );
}
