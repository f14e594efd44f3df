// Token service: issues signed tokens for client credentials, and checks them (interface 4.10, 5 rule 2).
import { randomUUID, timingSafeEqual } from 'node:crypto';
import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from 'jose';
import type { OAuthClient } from '../model/credential.ts';
import type { EpochMs } from '../model/instant.ts';
import { problem } from '../model/problem.ts';
import type { RecordsDb } from '../records/records.ts';
import { findOAuthClientByClientId } from '../records/rows/oauth-clients.ts';
import { secretHash } from '../records/secret-encryption.ts';
import { type SigningKeys, signingAlgorithm } from './signing-keys.ts';
import { tokenPaths } from '../model/token-paths.ts';
import { readTokenRequest, type TokenRefusal } from './token-request.ts';

/** Access tokens are valid for 15 minutes (interface 8). */
export const tokenLifetimeSeconds = 900;
/** Clocks of two servers may differ by this much. */
export const clockSkewSeconds = 5;
const tokenType = 'at+jwt';

export interface IssuedToken {
  readonly access_token: string;
  readonly expires_in: number;
  readonly token_type: 'Bearer';
}

export interface CheckedToken {
  readonly clientId: string;
  readonly expiresAt: EpochMs;
}

export interface TokenService {
  /** A token for the client that the request authenticates, or the error. */
  issue(form: string, authorization: string | undefined): Promise<IssuedToken | TokenRefusal>;
  /**
   * Throws Problem 401 for a token that this service did not sign for this installation, or that
   * has expired. Rejects with the error of the records when the keys cannot be read.
   */
  check(token: string): Promise<CheckedToken>;
}

interface TokenParts {
  readonly db: RecordsDb;
  readonly keys: SigningKeys;
  readonly now: () => EpochMs;
  readonly publicUrl: () => string;
}

// Compared for an unknown client, so that it takes the same time as a wrong secret.
const unknownHash = secretHash(randomUUID());

export function createTokenService(parts: TokenParts): TokenService {
  const { db, keys, now, publicUrl } = parts;
  return {
    async issue(form, authorization) {
      const request = readTokenRequest(form, authorization);
      if ('error' in request) return request;
      const client = await findOAuthClientByClientId(db, request.clientId);
      const given = Buffer.from(secretHash(request.clientSecret));
      const isRight = timingSafeEqual(given, Buffer.from(client?.secretHash ?? unknownHash));
      if (client === undefined || !isRight) return unknownClient(request.basic);
      const access_token = await signed(client, parts);
      return { access_token, expires_in: tokenLifetimeSeconds, token_type: 'Bearer' };
    },

    async check(token) {
      // The key is found by its id among the keys of this installation; nothing else in the head of
      // a token is trusted.
      const key = await keys.find(keyIdOf(token));
      if (key === undefined) throw problem('invalidToken');
      try {
        const { payload } = await jwtVerify(token, key.publicKey, {
          algorithms: [signingAlgorithm],
          typ: tokenType,
          issuer: issuerOf(parts),
          audience: publicUrl(),
          clockTolerance: clockSkewSeconds,
          currentDate: new Date(now()),
          maxTokenAge: tokenLifetimeSeconds,
          requiredClaims: ['sub', 'exp', 'iat', 'nbf'],
        });
        const { sub: clientId = '', exp = 0 } = payload;
        return { clientId, expiresAt: exp * 1_000 };
      } catch (error) {
        if (error instanceof errors.JOSEError) throw problem('invalidToken');
        // After an internal error the client keeps its token and tries again.
        throw error;
      }
    },
  };
}

function issuerOf({ publicUrl }: TokenParts): string {
  return publicUrl() + tokenPaths.realm;
}

async function signed(client: OAuthClient, parts: TokenParts): Promise<string> {
  const key = await parts.keys.current();
  const issuedAt = Math.floor(parts.now() / 1_000);
  return new SignJWT({ client_id: client.clientId, organizationId: client.organizationId })
    .setProtectedHeader({ alg: signingAlgorithm, kid: key.id, typ: tokenType })
    .setIssuer(issuerOf(parts))
    .setAudience(parts.publicUrl())
    .setSubject(client.clientId)
    .setJti(randomUUID())
    .setIssuedAt(issuedAt)
    .setNotBefore(issuedAt)
    .setExpirationTime(issuedAt + tokenLifetimeSeconds)
    .sign(key.privateKey);
}

function unknownClient(basic: boolean): TokenRefusal {
  const description = 'Unknown client or wrong secret';
  return { status: 401, error: 'invalid_client', description, basic };
}

function keyIdOf(token: string): string {
  try {
    return decodeProtectedHeader(token).kid ?? '';
  } catch {
    throw problem('invalidToken');
  }
}
