// Route of the device type library (contract 7).
import { deviceTypeLibrary } from '../../contract/device-type-import.ts';
import { importLibrary } from '../../inventory/imports/library-import.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import { byOrganization, type RecordParts } from './record-parts.ts';

export function deviceTypeImportRoute({ records }: RecordParts): Route {
  return resourceRoute(
    deviceTypeLibrary.import,
    byOrganization,
    ({ body: { organizationId, files, pictures = {} } }) => {
      const library = {
        files: new Map(Object.entries(files)),
        pictures: new Map(Object.entries(pictures)),
      };
      return importLibrary(records, organizationId, library);
    },
  );
}
