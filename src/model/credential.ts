// Credentials: those of machines and devices and passkeys of users, stored as hashes or public keys (interface 2.5, 2.6; contract 11, 23, 24).
import { type EpochMs, parseInstant } from './instant.ts';
import type { Permissions } from './principal.ts';
import { problem } from './problem.ts';

/** What a credential may do and where; never changed after creation (interface 5 rule 6). */
export interface Grant {
  readonly organizationId: string;
  readonly allWorkspaces: boolean;
  /** Empty when `allWorkspaces`. */
  readonly workspaceIds: readonly string[];
  readonly permissions: Permissions;
}

interface MachineCredential extends Grant {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** SHA-256 of the whole secret, hexadecimal. */
  readonly secretHash: string;
  readonly created: EpochMs;
}

export interface ApiKey extends MachineCredential {
  /** The secret's first characters, so that people recognise a key. */
  readonly secretPrefix: string;
  readonly lastUsed: EpochMs | null;
  /** The key is rejected from this time on; null: never. */
  readonly expiration: EpochMs | null;
}

export interface OAuthClient extends MachineCredential {
  /** The public name that a client gives at the token endpoint. */
  readonly clientId: string;
}

// Expiration of a credential, as a request sends it.

/** Null for a credential that does not expire. Throws 400 for what is not a time. */
export function expirationFrom(sent: string | null | undefined): EpochMs | null {
  if (sent === undefined || sent === null) return null;
  const ms = parseInstant(sent);
  if (ms === undefined)
    throw problem('invalidRequest', { reason: 'body expiration: must be an ISO-8601 date-time' });
  return ms;
}

// Device credential: the public key with which a device authenticates (contract 11).

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

// Passkey: a public key whose private part a phone, computer or security key keeps for one user (WebAuthn).

export interface Passkey {
  readonly id: string;
  readonly userId: string;
  /** As the browser names it, in base64url. */
  readonly credentialId: string;
  /** COSE, in base64url. */
  readonly publicKey: string;
  /** How often the device has signed; 0 for devices that do not count. */
  readonly counter: number;
  /** What the user calls it. */
  readonly name: string;
  /** How browsers reach the device, such as `internal` or `usb`. */
  readonly transports: readonly string[];
  /** When the last challenge that counted was issued; older ones are refused. */
  readonly lastChallenge: EpochMs;
  readonly created: EpochMs;
  readonly lastUsed: EpochMs | null;
}

// Token paths: addresses of the token service and its documents (interface 4.10).

export const tokenPaths = {
  realm: '/realms/api-keys',
  token: '/realms/api-keys/protocol/openid-connect/token',
  keys: '/realms/api-keys/protocol/openid-connect/certs',
  discovery: '/realms/api-keys/.well-known/openid-configuration',
} as const;
