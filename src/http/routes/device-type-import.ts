// The route that takes a device type library (contract 7).
import { importSummarySchema, libraryUpload } from '../../contract/device-type-import.ts';
import { importLibrary } from '../../inventory/imports/library-import.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { byOrganization, type RecordParts } from './record-parts.ts';

const libraryBytesMax = 128 * 1024 * 1024;

export function deviceTypeImportRoute({ records, now }: RecordParts): Route {
  return guardedRoute({
    method: 'POST',
    path: '/v3/device-types/import',
    summary:
      'Make or update the device types of a library; a type that is wrong is told and stops no other',
    tag: 'Device types',
    access: { scope: 'deviceType', verb: 'create', place: byOrganization },
    body: libraryUpload,
    bodyBytesMax: libraryBytesMax,
    response: importSummarySchema,
    handle: ({ body: { organizationId, files, pictures = {} } }) => {
      const library = {
        files: new Map(Object.entries(files)),
        pictures: new Map(Object.entries(pictures)),
      };
      return importLibrary(records, organizationId, library, now());
    },
  });
}
