// Routes of devices and their processing log (contract 4, 27).
import {
  deviceByDeviceIdQuery,
  deviceDraft,
  deviceSchema,
  deviceUpdate,
} from '../../contract/device.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { processingLogQuery, processingLogSchema } from '../../contract/processing-log.ts';
import { idParams } from '../../contract/record-fields.ts';
import {
  createDevice,
  deleteDevice,
  readDevice,
  readDeviceByDeviceId,
  updateDevice,
} from '../../inventory/devices/devices.ts';
import { readProcessingLog } from '../../inventory/devices/processing-log.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { byId, byWorkspace, createdOnce, type RecordParts } from './record-parts.ts';

const tag = 'Devices';

export interface DeviceParts extends RecordParts {
  /** Drops what a deleted device stored. */
  readonly dropSamples: (deviceId: string) => Promise<void>;
}

export function deviceRoutes(parts: DeviceParts): Route[] {
  const { records, now } = parts;
  return [
    guardedRoute({
      method: 'POST',
      path: '/v3/devices',
      summary: 'Make a device',
      tag,
      access: { scope: 'asset', verb: 'create', place: byWorkspace(parts) },
      body: deviceDraft,
      status: 201,
      response: deviceSchema,
      handle: (input, principal) =>
        createdOnce(
          parts,
          input,
          principal,
          (step) => createDevice(step, principal, input.body, now()),
          (id) => readDevice(records, principal, id, now()),
        ),
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/devices/by-device-id',
      summary: 'The device with a physical id',
      tag,
      access: { scope: 'asset', verb: 'read', place: { narrowedByHandler: true } },
      query: deviceByDeviceIdQuery,
      response: deviceSchema,
      handle: ({ query }, principal) =>
        readDeviceByDeviceId(records, principal, query.deviceId, now()),
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/devices/:id',
      summary: 'One device',
      tag,
      access: { scope: 'asset', verb: 'read', place: byId(parts, 'device') },
      params: idParams,
      response: deviceSchema,
      handle: ({ params }, principal) => readDevice(records, principal, params.id, now()),
    }),
    guardedRoute({
      method: 'PUT',
      path: '/v3/devices/:id',
      summary: 'Change a device',
      tag,
      access: { scope: 'asset', verb: 'update', place: byId(parts, 'device') },
      params: idParams,
      body: deviceUpdate,
      response: deviceSchema,
      handle: ({ params, body }, principal) =>
        updateDevice(records, principal, params.id, body, now()),
    }),
    guardedRoute({
      method: 'DELETE',
      path: '/v3/devices/:id',
      summary: 'Delete a device and its samples',
      tag,
      access: { scope: 'asset', verb: 'delete', place: byId(parts, 'device') },
      params: idParams,
      handle: async ({ params }) => {
        await deleteDevice(records, params.id, now());
        await parts.dropSamples(params.id);
        return undefined;
      },
    }),
    processingLogRoute(parts),
  ];
}

function processingLogRoute(parts: RecordParts): Route {
  return guardedRoute({
    method: 'GET',
    path: '/v3/devices/:id/processing-logs',
    summary: 'What happened to the payloads of a device, newest first',
    tag,
    access: { scope: 'asset', verb: 'read', place: byId(parts, 'device') },
    params: idParams,
    query: processingLogQuery,
    response: pageSchema(processingLogSchema),
    handle: ({ params, query }) => {
      const { from, to, level } = query;
      return readProcessingLog(
        parts.records,
        { deviceId: params.id, from, to, level },
        pageRequestOf(query),
      );
    },
  });
}
