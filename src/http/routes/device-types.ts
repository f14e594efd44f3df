// Routes of device types (contract 7).
import { deviceTypes } from '../../contract/endpoints/device-types.ts';
import {
  createDeviceType,
  deleteDeviceType,
  listDeviceTypes,
  readDeviceType,
  updateDeviceType,
} from '../../inventory/flows/device-types.ts';
import { type DeviceTypeKind, deviceTypeKinds } from '../../model/device-type.ts';
import { listOf, pageRequestOf } from '../edge/list-query.ts';
import type { Route } from '../edge/route.ts';
import { byOrganization, type RecordParts } from './record-parts.ts';
import { recordRoutes } from './record-routes.ts';

export function deviceTypeRoutes(parts: RecordParts): Route[] {
  const { records, now } = parts;
  return recordRoutes(parts, deviceTypes, {
    kind: 'deviceType',
    createIn: byOrganization,
    list: ({ query }, principal) =>
      listDeviceTypes(
        records,
        principal,
        { ...query, types: kindsOf(query) },
        pageRequestOf(query),
      ),
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
