// Device tokens: a JWT that the device signed with the private key of one of its credentials (contract 11, 18, 35).
import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { decodeProtectedHeader, errors, jwtVerify } from 'jose';
import type { CredentialAlgorithm, DeviceCredential } from '../../model/credential.ts';
import type { EpochMs } from '../../model/instant.ts';

const clockSkewSeconds = 60;
const tokenLengthMax = 16 * 1024;

interface TokenCheck {
  /** Physical id: the token's subject. */
  readonly deviceId: string;
  readonly credentials: readonly DeviceCredential[];
  /** One of these must be the token's audience. */
  readonly audiences: readonly string[];
  readonly now: EpochMs;
}

type CheckedToken =
  | { readonly credential: DeviceCredential; readonly expiresAt: EpochMs }
  /** Why not, for the operator; the device is told nothing. */
  | { readonly refused: string };

/** The audiences that tokens of a device may name. */
export function tokenAudiences(
  root: string,
  vendorAliases: 'header' | 'always' | 'off',
  deviceId: string,
): string[] {
  const roots = [root];
  if (vendorAliases !== 'off') roots.push('https://akenza.io');
  return roots.map((one) => `${one.replace(/\/+$/, '')}/devices/${deviceId}`);
}

/** Whether a password is a token rather than a secret. */
export function looksLikeToken(password: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(password) && password.startsWith('ey');
}

function algorithmOf(algorithm: CredentialAlgorithm): 'RS256' | 'ES256' {
  if (algorithm.startsWith('RSA')) return 'RS256';
  return 'ES256';
}

function keyOf({ algorithm, publicKey }: DeviceCredential): KeyObject {
  if (algorithm.includes('X509')) return new X509Certificate(publicKey).publicKey;
  return createPublicKey(publicKey);
}

/**
 * The credential that signed the token. Each key is only ever used with its own algorithm, whatever
 * the token's header says.
 */
export async function checkDeviceToken(token: string, check: TokenCheck): Promise<CheckedToken> {
  if (token.length > tokenLengthMax) return { refused: 'the token is too long' };
  const usable = check.credentials.filter(
    ({ expiration }) => expiration === null || expiration > check.now,
  );
  if (usable.length === 0) return { refused: 'the device has no valid credential' };
  const alg = algorithmIn(token);
  const fitting = usable.filter(({ algorithm }) => algorithmOf(algorithm) === alg);
  let refused = `the device has no credential for algorithm ${alg}`;
  for (const credential of fitting) {
    const checked = await checkWith(credential, token, check);
    if ('expiresAt' in checked) return checked;
    ({ refused } = checked);
  }
  return { refused };
}

function algorithmIn(token: string): string {
  try {
    return String(decodeProtectedHeader(token).alg);
  } catch {
    return 'none';
  }
}

async function checkWith(
  credential: DeviceCredential,
  token: string,
  check: TokenCheck,
): Promise<CheckedToken> {
  try {
    const { payload } = await jwtVerify(token, keyOf(credential), {
      algorithms: [algorithmOf(credential.algorithm)],
      audience: [...check.audiences],
      subject: check.deviceId,
      requiredClaims: ['sub', 'aud', 'exp'],
      clockTolerance: clockSkewSeconds,
      currentDate: new Date(check.now),
    });
    const { iat = 0, exp = 0 } = payload;
    if (iat * 1_000 > check.now + clockSkewSeconds * 1_000) {
      return { refused: 'the token is not valid yet' };
    }
    const expiresAt = (exp + clockSkewSeconds) * 1_000;
    return { credential, expiresAt: Math.min(expiresAt, credential.expiration ?? expiresAt) };
  } catch (error) {
    if (error instanceof errors.JOSEError) return { refused: error.message };
    throw error;
  }
}
