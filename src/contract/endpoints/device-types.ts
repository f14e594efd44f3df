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
    summary: 'Device types of the organization and of the library',
    query: deviceTypeListQuery,
    response: pageSchema(deviceTypeItemSchema),
  },
  create: { summary: 'Make a device type', body: deviceTypeDraft },
  read: { summary: 'One device type' },
  update: { summary: 'Change a device type', body: deviceTypeUpdate },
  remove: { summary: 'Delete a device type that no data flow uses' },
});
