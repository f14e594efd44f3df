// Routes of device types (contract 7).
import {
  deviceTypeDraft,
  deviceTypeItemSchema,
  deviceTypeListQuery,
  deviceTypeSchema,
  deviceTypeUpdate,
} from '../../contract/device-type.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import {
  createDeviceType,
  deleteDeviceType,
  listDeviceTypes,
  readDeviceType,
  updateDeviceType,
} from '../../inventory/flows/device-types.ts';
import { type DeviceTypeKind, deviceTypeKinds } from '../../model/device-type.ts';
import { listOf, pageRequestOf } from '../edge/list-query.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { byId, byOrganization, createdOnce, type RecordParts } from './record-parts.ts';

const tag = 'Device types';

export function deviceTypeRoutes(parts: RecordParts): Route[] {
  const { records, now } = parts;
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/device-types',
      summary: 'Device types of the organization and of the library',
      tag,
      access: { scope: 'deviceType', verb: 'read', place: { narrowedByHandler: true } },
      query: deviceTypeListQuery,
      response: pageSchema(deviceTypeItemSchema),
      handle: ({ query }, principal) =>
        listDeviceTypes(
          records,
          principal,
          { ...query, types: kindsOf(query) },
          pageRequestOf(query),
        ),
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/device-types',
      summary: 'Make a device type',
      tag,
      access: { scope: 'deviceType', verb: 'create', place: byOrganization },
      body: deviceTypeDraft,
      status: 201,
      response: deviceTypeSchema,
      handle: (input, principal) =>
        createdOnce(
          parts,
          input,
          principal,
          (step) => createDeviceType(step, input.body, now()),
          (id) => readDeviceType(records, id),
        ),
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/device-types/:id',
      summary: 'One device type',
      tag,
      access: { scope: 'deviceType', verb: 'read', place: byId(parts, 'deviceType') },
      params: idParams,
      response: deviceTypeSchema,
      handle: ({ params }) => readDeviceType(records, params.id),
    }),
    guardedRoute({
      method: 'PUT',
      path: '/v3/device-types/:id',
      summary: 'Change a device type',
      tag,
      access: { scope: 'deviceType', verb: 'update', place: byId(parts, 'deviceType') },
      params: idParams,
      body: deviceTypeUpdate,
      response: deviceTypeSchema,
      handle: ({ params, body }) => updateDeviceType(records, params.id, body, now()),
    }),
    guardedRoute({
      method: 'DELETE',
      path: '/v3/device-types/:id',
      summary: 'Delete a device type that no data flow uses',
      tag,
      access: { scope: 'deviceType', verb: 'delete', place: byId(parts, 'deviceType') },
      params: idParams,
      handle: async ({ params }) => {
        await deleteDeviceType(records, params.id);
        return undefined;
      },
    }),
  ];
}

function kindsOf(query: object): DeviceTypeKind[] | undefined {
  const names = listOf(query, 'types')?.map((name) => name.toLowerCase());
  return names && deviceTypeKinds.filter((kind) => names.includes(kind));
}
