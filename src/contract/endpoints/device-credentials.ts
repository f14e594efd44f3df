// Endpoints of device credentials (contract 11).
import {
  credentialParams,
  deviceCredentialDraft,
  deviceCredentialSchema,
} from '../device-credential.ts';
import { endpoint } from '../endpoint.ts';
import { unpagedSchema } from '../page-envelope.ts';
import { idParams } from '../record-fields.ts';

const tag = 'Device credentials';
const path = '/v3/device-authorization/devices/:id/credentials';

export const deviceCredentials = {
  list: endpoint({
    method: 'GET',
    path,
    summary: 'List device credentials',
    description: 'Returns the public keys with which the device authenticates.',
    tag,
    access: { scope: 'deviceCredential', verb: 'read', resource: 'path' },
    params: idParams,
    response: unpagedSchema(deviceCredentialSchema),
  }),
  create: endpoint({
    method: 'POST',
    path,
    summary: 'Create a device credential',
    description: 'Adds a public key with which the device can authenticate.',
    tag,
    access: { scope: 'deviceCredential', verb: 'create', resource: 'path' },
    params: idParams,
    body: deviceCredentialDraft,
    status: 201,
    response: deviceCredentialSchema,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: `${path}/:credentialId`,
    summary: 'Delete a device credential',
    description: 'Deletes a public key; the device can no longer authenticate with it.',
    tag,
    access: { scope: 'deviceCredential', verb: 'delete', resource: 'path' },
    params: credentialParams,
  }),
} as const;
