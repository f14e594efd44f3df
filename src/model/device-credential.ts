// Device credential: the public key with which a device authenticates (contract 11).
import type { EpochMs } from './instant.ts';

export const credentialAlgorithms = [
  'RSA256_PEM',
  'RSA256_X509_PEM',
  'EC256_PEM',
  'EC256_X509_PEM',
] as const;
export type CredentialAlgorithm = (typeof credentialAlgorithms)[number];

export interface DeviceCredential {
  readonly id: string;
  /** Service device id. */
  readonly deviceId: string;
  readonly name: string | null;
  readonly algorithm: CredentialAlgorithm;
  /** PEM of a public key or of a certificate, by the algorithm. */
  readonly publicKey: string;
  /** SHA-1 of the key's DER, 40 hexadecimal characters. */
  readonly fingerprint: string;
  readonly expiration: EpochMs | null;
  readonly created: EpochMs;
}
