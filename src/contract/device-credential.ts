// API schemas of device credentials (contract 11).
import Type from 'typebox';
import { credentialAlgorithms } from '../model/device-credential.ts';
import { id, name, oneOf, optional, orNull, text, time } from './record-fields.ts';
import { namedObject } from './named.ts';

const algorithm = oneOf(credentialAlgorithms);

export const deviceCredentialSchema = namedObject('DeviceCredential', {
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

export const deviceCredentialDraft = namedObject('DeviceCredentialDraft', {
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

export const credentialParams = Type.Object({ id, credentialId: id });
