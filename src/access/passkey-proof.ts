// Passkey proof: what a browser sends after it has created a passkey or signed with one, for the name of this installation (WebAuthn).
import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import type { EpochMs } from '../model/instant.ts';
import type { Passkey } from '../model/credential.ts';
import { problem } from '../model/problem.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { passkeyRows } from '../storage/records/rows/sign-in.ts';

const challengeBytes = 32;
const textOfBytes = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');

/** Loaded with the first use, because it is large. */
export const webAuthn = () => import('@simplewebauthn/server');

export function newChallenge(): string {
  return randomBytes(challengeBytes).toString('base64url');
}

/** A signature of a challenge, as `PublicKeyCredential.toJSON` returns it. */
export interface Assertion {
  readonly id: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
  };
}

/** A new credential in the same form. */
export interface Attestation {
  readonly id: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly attestationObject: string;
    readonly transports?: readonly string[] | null | undefined;
  };
}

interface Asked {
  readonly challenge: string;
  readonly issuedAt: EpochMs;
  readonly party: RelyingParty;
  readonly now: EpochMs;
}

/**
 * Options of a signature for the browser: by any passkey of the user, or by any that the browser
 * has. The user shows a fingerprint, a face or a PIN, so that a passkey is two factors.
 */
export async function signatureOptions(
  db: RecordsDb,
  { challenge, party }: { readonly challenge: string; readonly party: RelyingParty },
  userId?: string,
) {
  const { generateAuthenticationOptions } = await webAuthn();
  const own = userId === undefined ? [] : await passkeyRows.ofUser(db, userId);
  return generateAuthenticationOptions({
    rpID: party.id,
    challenge: Buffer.from(challenge, 'base64url'),
    allowCredentials: own.map(({ credentialId: id, transports }) => ({
      id,
      transports: [...transports],
    })),
    userVerification: 'required',
  });
}

/**
 * The passkey that signed the challenge, which it uses up. Throws 401 with the reason for one that
 * is unknown, belongs to another user than `userId`, signed something else, or has signed this or a
 * later challenge before.
 */
export async function verifyPasskey(
  db: RecordsDb,
  { id, response }: Assertion,
  asked: Asked,
  userId?: string,
): Promise<Passkey> {
  const passkey = await passkeyRows.find(db, id);
  if (passkey === undefined || (userId !== undefined && passkey.userId !== userId))
    throw refused('unknown passkey');
  const counter = await counterOf(passkey, { id, response }, asked);
  const used = { id: passkey.id, counter, lastChallenge: asked.issuedAt };
  if (!(await passkeyRows.useChallenge(db, used, asked.now)))
    throw refused('this response has already been used');
  return passkey;
}

async function counterOf(
  { credentialId, publicKey, counter }: Passkey,
  { id, response }: Assertion,
  { challenge, party }: Asked,
): Promise<number> {
  const { verifyAuthenticationResponse } = await webAuthn();
  const { clientDataJSON, authenticatorData, signature } = response;
  const key = new Uint8Array(Buffer.from(publicKey, 'base64url'));
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    ...expected({ challenge, party }),
    response: {
      ...credentialFrame(id),
      response: { clientDataJSON, authenticatorData, signature },
    },
    credential: { id: credentialId, publicKey: key, counter },
  }).catch((error: unknown) => {
    throw refused(reasonOf(error));
  });
  if (!verified) throw refused('invalid signature');
  return authenticationInfo.newCounter;
}

/** The credential that the browser has created. Throws 401 with the reason for a wrong one. */
export async function provenCredential(
  { id, response }: Attestation,
  asked: { readonly challenge: string; readonly party: RelyingParty },
): Promise<{
  readonly credentialId: string;
  readonly publicKey: string;
  readonly counter: number;
}> {
  const { verifyRegistrationResponse } = await webAuthn();
  const { clientDataJSON, attestationObject } = response;
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    ...expected(asked),
    response: { ...credentialFrame(id), response: { clientDataJSON, attestationObject } },
  }).catch((error: unknown) => {
    throw refused(reasonOf(error));
  });
  if (!verified || registrationInfo === undefined) throw refused('the credential is malformed');
  const { credential } = registrationInfo;
  const { counter } = credential;
  return { credentialId: credential.id, publicKey: textOfBytes(credential.publicKey), counter };
}

function expected({
  challenge,
  party,
}: {
  readonly challenge: string;
  readonly party: RelyingParty;
}) {
  return {
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
  };
}

function credentialFrame(id: string) {
  return { id, rawId: id, type: 'public-key', clientExtensionResults: {} } as const;
}

function refused(reason: string) {
  return problem('passkeyRefused', { reason });
}

/** The package throws plain errors for what browsers send wrong; they contain nothing secret. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// Relying party: the name under which browsers keep passkeys of this installation (WebAuthn).

export interface RelyingParty {
  /** A host name; by the standard never an address. */
  readonly id: string;
  /** What pages that use the passkeys begin with, such as `https://platform.example`. */
  readonly origin: string;
}

/** Undefined where browsers offer no passkeys: an address, or http of another host than localhost. */
export function relyingPartyOf(publicUrl: string): RelyingParty | undefined {
  const { hostname, origin, protocol } = new URL(publicUrl);
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return undefined;
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (protocol !== 'https:' && !isLocal) return undefined;
  return { id: hostname, origin };
}

/** Throws 403 where browsers offer no passkeys. */
export function neededRelyingParty(publicUrl: string): RelyingParty {
  const party = relyingPartyOf(publicUrl);
  if (party === undefined) throw problem('passkeysOff', { publicUrl });
  return party;
}
