// Routes of device credentials (contract 11).
import { deviceCredentials } from '../../contract/device-credentials.ts';
import {
  createDeviceCredential,
  deleteDeviceCredential,
  listDeviceCredentials,
} from '../../inventory/devices/device-credentials.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import { answeredOnce } from './create-once.ts';
import { byId, type RecordParts } from './record-parts.ts';

export function deviceCredentialRoutes(parts: RecordParts): Route[] {
  const { records } = parts;
  const place = byId(parts, 'device');
  return [
    resourceRoute(deviceCredentials.list, place, ({ params }) =>
      listDeviceCredentials(records, params.id),
    ),
    resourceRoute(deviceCredentials.create, place, (input, principal) =>
      answeredOnce(parts, { input, principal }, (step) =>
        createDeviceCredential(step, input.params.id, input.body),
      ),
    ),
    resourceRoute(deviceCredentials.remove, place, ({ params }) =>
      deleteDeviceCredential(records, params.id, params.credentialId),
    ),
  ];
}
