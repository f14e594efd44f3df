// Endpoints of the device type library (contract 7).
import { importSummarySchema, libraryUpload } from '../device-type-import.ts';
import { endpoint } from '../endpoint.ts';

const libraryBytesMax = 128 * 1024 * 1024;

export const deviceTypeLibrary = {
  import: endpoint({
    method: 'POST',
    path: '/v3/device-types/import',
    summary: 'Import device types',
    description:
      'Creates or updates the device types of a library; invalid types are reported and do not stop the others.',
    tag: 'Device types',
    access: { scope: 'deviceType', verb: 'create', resource: 'body' },
    body: libraryUpload,
    bodyBytesMax: libraryBytesMax,
    response: importSummarySchema,
  }),
} as const;
