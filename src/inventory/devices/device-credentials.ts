// Device credentials: create, list, delete (contract 11).
import type { DeviceCredentialDraft } from '../../contract/device-credentials.ts';
import { createHash, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import {
  type CredentialAlgorithm,
  type DeviceCredential,
  expirationFrom,
} from '../../model/credential.ts';
import type { Device } from '../../model/device.ts';
import { newId } from '../../model/ids.ts';
import { formatInstant, formatInstantOrNull } from '../../model/instant.ts';
import { unpagedOf } from '../../model/page.ts';
import { problem } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import { deviceCredentialRows } from '../../storage/records/rows/credentials.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { change, found } from '../record-change.ts';

const credentialsPerDeviceMax = 20;
const rsaBitsMin = 2_048;

function view(record: DeviceCredential, device: Device) {
  const { id, name, algorithm, publicKey, fingerprint, expiration, created } = record;
  return {
    id,
    name,
    akenzaDeviceId: device.id,
    svcDeviceId: device.id,
    deviceId: device.deviceId,
    algorithm,
    publicKey,
    fingerprint,
    expiration: formatInstantOrNull(expiration),
    created: formatInstant(created),
  };
}

/** What the PEM of an algorithm contains. */
const encodings = {
  certificate: {
    noun: 'an X.509 certificate',
    read: (pem: string) => new X509Certificate(pem).publicKey,
  },
  key: { noun: 'a public key', read: (pem: string) => createPublicKey(pem) },
} as const;

/** The keys that RS256 and ES256 take. */
const families = {
  RSA: {
    noun: `RSA of at least ${rsaBitsMin} bits`,
    takes: ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject) =>
      asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= rsaBitsMin,
  },
  EC: {
    noun: 'an elliptic curve, P-256',
    takes: ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject) =>
      asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1',
  },
} as const;

function formOf(algorithm: CredentialAlgorithm) {
  return {
    encoding: encodings[algorithm.includes('X509') ? 'certificate' : 'key'],
    family: families[algorithm.startsWith('RSA') ? 'RSA' : 'EC'],
  };
}

function keyIn(pem: string, { noun, read }: ReturnType<typeof formOf>['encoding']): KeyObject {
  try {
    return read(pem);
  } catch {
    throw problem('invalidRequest', { reason: `body publicKey: must be ${noun} in PEM format` });
  }
}

/** Throws 400 unless RS256 or ES256 signatures can be verified with the key. */
function publicKeyFrom(
  algorithm: CredentialAlgorithm,
  sent: string,
): { pem: string; fingerprint: string } {
  // Some clients escape line ends twice.
  const pem = sent.replaceAll('\\n', '\n').trim();
  if (pem.includes('PRIVATE KEY')) {
    throw problem('invalidRequest', {
      reason: 'body publicKey: this is a private key; never send private keys',
    });
  }
  const { encoding, family } = formOf(algorithm);
  const key = keyIn(pem, encoding);
  if (!family.takes(key)) {
    throw problem('invalidRequest', {
      reason: `body publicKey: ${algorithm} requires ${family.noun}`,
    });
  }
  const der = key.export({ type: 'spki', format: 'der' });
  return { pem, fingerprint: createHash('sha1').update(der).digest('hex') };
}

export async function createDeviceCredential(
  records: Records,
  deviceId: string,
  draft: DeviceCredentialDraft,
) {
  const { pem, fingerprint } = publicKeyFrom(draft.algorithm, draft.publicKey);
  const expiration = expirationFrom(draft.expiration);
  return change(records, async (step) => {
    const device = found(await deviceRows.find(step, deviceId), 'device', deviceId);
    const known = await deviceCredentialRows.ofDevice(step.db, deviceId);
    if (known.some((credential) => credential.fingerprint === fingerprint)) {
      throw problem('credentialNotUnique', { fingerprint });
    }
    if (known.length >= credentialsPerDeviceMax) {
      throw problem('invalidRequest', {
        reason: `A device can have at most ${credentialsPerDeviceMax} credentials`,
      });
    }
    const record: DeviceCredential = {
      id: newId('deviceCredential'),
      deviceId,
      name: draft.name ?? null,
      algorithm: draft.algorithm,
      publicKey: pem,
      fingerprint,
      expiration,
      created: records.now(),
    };
    await deviceCredentialRows.insert(step.db, record);
    step.announce({ kind: 'deviceCredential', id: record.id, action: 'created' });
    return view(record, device);
  });
}

/** All of them in one answer (contract 0.1). */
export async function listDeviceCredentials(records: Records, deviceId: string) {
  const device = found(await deviceRows.find(records, deviceId), 'device', deviceId);
  const credentials = await deviceCredentialRows.ofDevice(records.db, deviceId);
  return unpagedOf(credentials.map((credential) => view(credential, device)));
}

export async function deleteDeviceCredential(
  records: Records,
  deviceId: string,
  id: string,
): Promise<void> {
  await change(records, async (step) => {
    const known = await deviceCredentialRows.ofDevice(step.db, deviceId);
    found(
      known.find((credential) => credential.id === id),
      'device credential',
      id,
    );
    await deviceCredentialRows.remove(step.db, id);
    step.announce({ kind: 'deviceCredential', id, action: 'deleted' });
  });
}
