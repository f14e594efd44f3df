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
    summary: 'Create a device',
    description: 'Registers a device in a workspace and assigns it to a data flow.',
    tag,
    access: { scope: 'asset', verb: 'create', resource: 'body' },
    body: deviceDraft,
    status: 201,
    response: deviceSchema,
  }),
  readByDeviceId: endpoint({
    method: 'GET',
    path: '/v3/devices/by-device-id',
    summary: 'Get a device by its device ID',
    description:
      'Returns the device with the given `deviceId`, the identifier that the device itself uses.',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'handler' },
    query: deviceByDeviceIdQuery,
    response: deviceSchema,
  }),
  read: endpoint({
    method: 'GET',
    path: '/v3/devices/:id',
    summary: 'Get a device',
    description: 'Returns a device with its state, tags, and custom fields.',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    params: idParams,
    response: deviceSchema,
  }),
  update: endpoint({
    method: 'PUT',
    path: '/v3/devices/:id',
    summary: 'Update a device',
    description: 'Updates the fields that the body contains.',
    tag,
    access: { scope: 'asset', verb: 'update', resource: 'path' },
    params: idParams,
    body: deviceUpdate,
    response: deviceSchema,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/v3/devices/:id',
    summary: 'Delete a device',
    description:
      'Deletes a device and all of its samples. A LoRaWAN device is also removed from its network server and deleted whatever the server answers.',
    tag,
    access: { scope: 'asset', verb: 'delete', resource: 'path' },
    params: idParams,
    answerHeaders: {
      'X-Deregistered':
        'Whether the network server removed the device. Absent for devices that it does not know.',
      'X-Deregistration-Reason': 'Reason if it did not.',
    },
  }),
  processingLog: endpoint({
    method: 'GET',
    path: '/v3/devices/:id/processing-logs',
    summary: 'List processing log entries',
    description:
      'Returns what decoders, outputs, rules, and downlinks logged for a device, newest first.',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    params: idParams,
    query: processingLogQuery,
    response: pageSchema(processingLogSchema),
  }),
} as const;
