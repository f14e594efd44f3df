// Schemas and endpoints of device credentials (contract 11).
import Type, { type Static } from 'typebox';
import { credentialAlgorithms } from '../model/credential.ts';
import { endpoint } from './endpoint.ts';
import { namedObject } from './named.ts';
import { unpagedSchema } from './list-parameters.ts';
import { id, idParams, name, oneOf, optional, orNull, text, time } from './record-fields.ts';

const algorithm = oneOf(credentialAlgorithms);

const deviceCredentialSchema = namedObject('DeviceCredential', {
  id,
  name: orNull(text),
  akenzaDeviceId: id,
  svcDeviceId: id,
  deviceId: Type.String({ description: 'Device ID.' }),
  algorithm,
  publicKey: text,
  fingerprint: Type.String({ description: 'SHA-1 fingerprint of the key, hexadecimal.' }),
  expiration: orNull(time),
  created: time,
});

const deviceCredentialDraft = namedObject('DeviceCredentialDraft', {
  algorithm,
  publicKey: Type.String({
    minLength: 1,
    maxLength: 20_000,
    description: 'Public key in PEM format.',
  }),
  name: optional(name),
  expiration: optional(text),
  akenzaDeviceId: optional(id),
  svcDeviceId: optional(id),
});
export type DeviceCredentialDraft = Static<typeof deviceCredentialDraft>;

const credentialParams = Type.Object({ id, credentialId: id });

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
