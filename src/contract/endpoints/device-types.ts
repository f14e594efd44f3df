// Endpoints of device types (contract 7).
import {
  deviceTypeDraft,
  deviceTypeItemSchema,
  deviceTypeListQuery,
  deviceTypeSchema,
  deviceTypeUpdate,
} from '../device-type.ts';
import { pageSchema } from '../page-envelope.ts';
import { recordEndpoints } from './record-endpoints.ts';

export const deviceTypes = recordEndpoints({
  path: '/v3/device-types',
  tag: 'Device types',
  scope: 'deviceType',
  record: deviceTypeSchema,
  list: {
    summary: 'List device types',
    description: "Returns a page of the organization's own and library device types.",
    query: deviceTypeListQuery,
    response: pageSchema(deviceTypeItemSchema),
  },
  create: {
    summary: 'Create a device type',
    description: 'Creates a device type with its decoder, encoder, and schemas.',
    body: deviceTypeDraft,
  },
  read: {
    summary: 'Get a device type',
    description: 'Returns a device type with its scripts and schemas.',
  },
  update: {
    summary: 'Update a device type',
    description: 'Updates a device type; its devices use the new scripts from the next uplink.',
    body: deviceTypeUpdate,
  },
  remove: {
    summary: 'Delete a device type',
    description: 'Deletes a device type; fails with 409 while a data flow uses it.',
  },
});
