// Device credentials: create, list, delete (contract 11).
import { createHash, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { Device } from '../../model/device.ts';
import type { CredentialAlgorithm, DeviceCredential } from '../../model/device-credential.ts';
import { newId } from '../../model/ids.ts';
import { formatInstant, parseInstant } from '../../model/instant.ts';
import { unpagedOf } from '../../model/page.ts';
import { problem } from '../../model/problem.ts';
import type { Records } from '../../records/records.ts';
import {
  findDeviceCredentials,
  insertDeviceCredential,
  removeDeviceCredential,
} from '../../records/rows/device-credentials.ts';
import { findDevice } from '../../records/rows/devices.ts';
import { change, found } from '../record-change.ts';

const credentialsPerDeviceMax = 20;
const rsaBitsMin = 2_048;

export interface DeviceCredentialDraft {
  readonly name?: string | null | undefined;
  readonly algorithm: CredentialAlgorithm;
  readonly publicKey: string;
  /** ISO-8601. */
  readonly expiration?: string | null | undefined;
}

function view(record: DeviceCredential, device: Pick<Device, 'id' | 'deviceId'>) {
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
    expiration: expiration === null ? null : formatInstant(expiration),
    created: formatInstant(created),
  };
}

function keyIn(pem: string, isCertificate: boolean): KeyObject {
  try {
    return isCertificate ? new X509Certificate(pem).publicKey : createPublicKey(pem);
  } catch {
    const wanted = isCertificate ? 'an X.509 certificate' : 'a public key';
    throw problem('invalidRequest', { reason: `body publicKey: is not the PEM of ${wanted}` });
  }
}

/** Throws 400 unless the key is one that RS256 or ES256 can be checked with. */
function publicKeyFrom(
  algorithm: CredentialAlgorithm,
  sent: string,
): { pem: string; fingerprint: string } {
  // Some clients escape line ends twice.
  const pem = sent.replaceAll('\\n', '\n').trim();
  if (pem.includes('PRIVATE KEY')) {
    throw problem('invalidRequest', {
      reason: 'body publicKey: is a private key; never send it to anybody',
    });
  }
  const key = keyIn(pem, algorithm.includes('X509'));
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {};
  const fits = algorithm.startsWith('RSA')
    ? key.asymmetricKeyType === 'rsa' && modulusLength >= rsaBitsMin
    : key.asymmetricKeyType === 'ec' && namedCurve === 'prime256v1';
  if (!fits) {
    const wanted = algorithm.startsWith('RSA')
      ? `RSA of at least ${rsaBitsMin} bits`
      : 'an elliptic curve, P-256';
    throw problem('invalidRequest', {
      reason: `body publicKey: ${algorithm} needs a key of ${wanted}`,
    });
  }
  const der = key.export({ type: 'spki', format: 'der' });
  return { pem, fingerprint: createHash('sha1').update(der).digest('hex') };
}

function expirationFrom(sent: string | null | undefined): number | null {
  if (sent === undefined || sent === null) return null;
  const ms = parseInstant(sent);
  if (ms === undefined)
    throw problem('invalidRequest', { reason: 'body expiration: is no ISO-8601 date-time' });
  return ms;
}

export async function createDeviceCredential(
  records: Records,
  deviceId: string,
  draft: DeviceCredentialDraft,
) {
  const { pem, fingerprint } = publicKeyFrom(draft.algorithm, draft.publicKey);
  const expiration = expirationFrom(draft.expiration);
  return change(records, async (step) => {
    const device = found(await findDevice(step, deviceId), 'device', deviceId);
    const known = await findDeviceCredentials(step.db, deviceId);
    if (known.some((credential) => credential.fingerprint === fingerprint)) {
      throw problem('credentialNotUnique', { fingerprint });
    }
    if (known.length >= credentialsPerDeviceMax) {
      throw problem('invalidRequest', {
        reason: `A device has at most ${credentialsPerDeviceMax} credentials`,
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
    await insertDeviceCredential(step.db, record);
    step.announce({ kind: 'deviceCredential', id: record.id, action: 'created' });
    return view(record, device);
  });
}

/** All of them in one answer (contract 0.1). */
export async function listDeviceCredentials(records: Records, deviceId: string) {
  const device = found(await findDevice(records, deviceId), 'device', deviceId);
  const credentials = await findDeviceCredentials(records.db, deviceId);
  return unpagedOf(credentials.map((credential) => view(credential, device)));
}

export async function deleteDeviceCredential(
  records: Records,
  deviceId: string,
  id: string,
): Promise<void> {
  await change(records, async (step) => {
    const known = await findDeviceCredentials(step.db, deviceId);
    found(
      known.find((credential) => credential.id === id),
      'device credential',
      id,
    );
    await removeDeviceCredential(step.db, id);
    step.announce({ kind: 'deviceCredential', id, action: 'deleted' });
  });
}
