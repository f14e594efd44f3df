// Routes of device credentials (contract 11).
import {
  credentialParams,
  deviceCredentialDraft,
  deviceCredentialSchema,
} from '../../contract/device-credential.ts';
import { unpagedSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import {
  createDeviceCredential,
  deleteDeviceCredential,
  listDeviceCredentials,
} from '../../inventory/devices/device-credentials.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { answeredOnce, byId, type RecordParts } from './record-parts.ts';

const tag = 'Device credentials';
const path = '/v3/device-authorization/devices/:id/credentials';

export function deviceCredentialRoutes(parts: RecordParts): Route[] {
  const { records, now } = parts;
  const place = byId(parts, 'device');
  return [
    guardedRoute({
      method: 'GET',
      path,
      summary: 'The credentials of a device',
      tag,
      access: { scope: 'deviceCredential', verb: 'read', place },
      params: idParams,
      response: unpagedSchema(deviceCredentialSchema),
      handle: ({ params }) => listDeviceCredentials(records, params.id),
    }),
    guardedRoute({
      method: 'POST',
      path,
      summary: 'Add the public key of a device',
      tag,
      access: { scope: 'deviceCredential', verb: 'create', place },
      params: idParams,
      body: deviceCredentialDraft,
      status: 201,
      response: deviceCredentialSchema,
      handle: (input, principal) =>
        answeredOnce(parts, input, principal, (step) =>
          createDeviceCredential(step, input.params.id, input.body, now()),
        ),
    }),
    guardedRoute({
      method: 'DELETE',
      path: `${path}/:credentialId`,
      summary: 'Delete a credential; the device can no longer use it',
      tag,
      access: { scope: 'deviceCredential', verb: 'delete', place },
      params: credentialParams,
      handle: async ({ params }) => {
        await deleteDeviceCredential(records, params.id, params.credentialId);
        return undefined;
      },
    }),
  ];
}
