// Routes of device types (contract 7).
import { deviceTypes } from '../../contract/device-types.ts';
import {
  createDeviceType,
  deleteDeviceType,
  listDeviceTypes,
  readDeviceType,
  updateDeviceType,
} from '../../inventory/data-flows/device-types.ts';
import { type FlowHealthParts, healthOfDeviceTypes } from '../../inventory/health/flow-health.ts';
import { type DeviceTypeKind, deviceTypeKinds } from '../../model/device-type.ts';
import { listOf, pageRequestOf } from '../edge/list-query.ts';
import type { Route } from '../edge/route.ts';
import { byOrganization, type RecordParts } from './record-parts.ts';
import { recordRoutes } from './record-routes.ts';
import { withHealth } from './with-health.ts';

export function deviceTypeRoutes(parts: RecordParts & FlowHealthParts): Route[] {
  const { records, now } = parts;
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
    update: (id, { body }) => updateDeviceType(records, id, body, now()),
    remove: (id) => deleteDeviceType(records, id),
  });
}

function kindsOf(query: object): DeviceTypeKind[] | undefined {
  const names = listOf(query, 'types')?.map((name) => name.toLowerCase());
  return names && deviceTypeKinds.filter((kind) => names.includes(kind));
}
