// Endpoints of devices (contract 4, 27).
import { deviceByDeviceIdQuery, deviceDraft, deviceSchema, deviceUpdate } from '../device.ts';
import { endpoint } from '../endpoint.ts';
import { pageSchema } from '../page-envelope.ts';
import { processingLogQuery, processingLogSchema } from '../processing-log.ts';
import { idParams } from '../record-fields.ts';

const tag = 'Devices';

export const devices = {
  create: endpoint({
    method: 'POST',
    path: '/v3/devices',
    summary: 'Make a device',
    tag,
    access: { scope: 'asset', verb: 'create', resource: 'body' },
    body: deviceDraft,
    status: 201,
    response: deviceSchema,
  }),
  readByDeviceId: endpoint({
    method: 'GET',
    path: '/v3/devices/by-device-id',
    summary: 'The device with a physical id',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'handler' },
    query: deviceByDeviceIdQuery,
    response: deviceSchema,
  }),
  read: endpoint({
    method: 'GET',
    path: '/v3/devices/:id',
    summary: 'One device',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    params: idParams,
    response: deviceSchema,
  }),
  update: endpoint({
    method: 'PUT',
    path: '/v3/devices/:id',
    summary: 'Change a device',
    tag,
    access: { scope: 'asset', verb: 'update', resource: 'path' },
    params: idParams,
    body: deviceUpdate,
    response: deviceSchema,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/v3/devices/:id',
    summary: 'Delete a device and its samples',
    tag,
    access: { scope: 'asset', verb: 'delete', resource: 'path' },
    params: idParams,
  }),
  processingLog: endpoint({
    method: 'GET',
    path: '/v3/devices/:id/processing-logs',
    summary: 'What happened to the payloads of a device, newest first',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    params: idParams,
    query: processingLogQuery,
    response: pageSchema(processingLogSchema),
  }),
} as const;
