// Provider transaction: what the browser keeps, sealed, while its user is at the provider.
import { randomBytes } from 'node:crypto';
import type { EpochMs } from '../model/instant.ts';
import type { Sealer } from '../storage/records/secret-encryption.ts';

/** For one path, so that it cannot have the prefix of the session's. */
export const providerCookieName = (secure: boolean) => (secure ? '__Secure-oidc' : 'oidc');
export const transactionSeconds = 600;
const secretBytes = 32;
const sealedLengthMax = 4_096;
const purpose = 'oidc';

export interface ProviderTransaction {
  /** Repeated by the provider, so that a foreign page cannot end a sign-in that it began. */
  readonly state: string;
  /** Repeated in the ID token. */
  readonly nonce: string;
  /** Proves that who exchanges the code is who asked for it (RFC 7636). */
  readonly verifier: string;
  /** Where the user wanted to go: a path of the console. */
  readonly to: string;
}

export function newTransaction(to: string | undefined): ProviderTransaction {
  const secret = () => randomBytes(secretBytes).toString('base64url');
  return { state: secret(), nonce: secret(), verifier: secret(), to: pathOf(to) };
}

/** Browsers take a backslash for a slash, and two slashes for another host. */
function pathOf(to: string | undefined): string {
  if (to === undefined || !/^\/(?![/\\])[^\\\s]*$/.test(to)) return '/';
  return to;
}

export function sealTransaction(
  sealer: Sealer,
  transaction: ProviderTransaction,
  now: EpochMs,
): string {
  const expiresAt = now + transactionSeconds * 1_000;
  return sealer.seal(JSON.stringify({ ...transaction, purpose, expiresAt }));
}

/** Undefined for one that is missing, expired or was not sealed here. */
export function openTransaction(
  sealer: Sealer,
  sealed: string | undefined,
  now: EpochMs,
): ProviderTransaction | undefined {
  if (sealed === undefined || sealed.length > sealedLengthMax) return undefined;
  try {
    const { expiresAt, ...opened } = JSON.parse(sealer.open(sealed)) as ProviderTransaction & {
      readonly purpose?: string;
      readonly expiresAt: EpochMs;
    };
    return opened.purpose === purpose && expiresAt > now ? opened : undefined;
  } catch {
    // Any caller can send any cookie: one that cannot be opened was not sealed here.
    return undefined;
  }
}
