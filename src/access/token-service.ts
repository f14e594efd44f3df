// The token service: client credentials in, a signed token out, and the check of such tokens (interface 4.10, 5 rule 2).
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

/** Interface 8: access tokens live 15 minutes. */
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
  /** A token for the client that the request authenticates, or the refusal. */
  issue(form: string, authorization: string | undefined): Promise<IssuedToken | TokenRefusal>;
  /**
   * Throws Problem 401 for a token that this service did not sign for this installation, or that has expired. Rejects with the
   * error of the records when the keys cannot be read.
   */
  check(token: string): Promise<CheckedToken>;
}

interface TokenParts {
  readonly db: RecordsDb;
  readonly keys: SigningKeys;
  readonly now: () => EpochMs;
  readonly publicUrl: string;
}

// Compared with when there is no such client, so that an unknown one takes as long as a wrong secret.
const nobodysHash = secretHash(randomUUID());

export function tokenService({ db, keys, now, publicUrl }: TokenParts): TokenService {
  const issuer = publicUrl + tokenPaths.realm;

  const sign = async (client: OAuthClient): Promise<string> => {
    const key = await keys.current();
    const issuedAt = Math.floor(now() / 1_000);
    return new SignJWT({ client_id: client.clientId, organizationId: client.organizationId })
      .setProtectedHeader({ alg: signingAlgorithm, kid: key.id, typ: tokenType })
      .setIssuer(issuer)
      .setAudience(publicUrl)
      .setSubject(client.clientId)
      .setJti(randomUUID())
      .setIssuedAt(issuedAt)
      .setNotBefore(issuedAt)
      .setExpirationTime(issuedAt + tokenLifetimeSeconds)
      .sign(key.privateKey);
  };

  return {
    async issue(form, authorization) {
      const request = readTokenRequest(form, authorization);
      if ('error' in request) return request;
      const client = await findOAuthClientByClientId(db, request.clientId);
      const given = Buffer.from(secretHash(request.clientSecret));
      const right = timingSafeEqual(given, Buffer.from(client?.secretHash ?? nobodysHash));
      if (client === undefined || !right) {
        const { basic } = request;
        return {
          status: 401,
          error: 'invalid_client',
          description: 'Unknown client or wrong secret',
          basic,
        };
      }
      return {
        access_token: await sign(client),
        expires_in: tokenLifetimeSeconds,
        token_type: 'Bearer',
      };
    },

    async check(token) {
      // The key is chosen among our own by its id; whatever else the head of a token suggests is not followed.
      const key = await keys.find(keyIdOf(token));
      if (key === undefined) throw problem('invalidToken');
      try {
        const { payload } = await jwtVerify(token, key.publicKey, {
          algorithms: [signingAlgorithm],
          typ: tokenType,
          issuer,
          audience: publicUrl,
          clockTolerance: clockSkewSeconds,
          currentDate: new Date(now()),
          maxTokenAge: tokenLifetimeSeconds,
          requiredClaims: ['sub', 'exp', 'iat', 'nbf'],
        });
        return { clientId: payload.sub!, expiresAt: payload.exp! * 1_000 };
      } catch (error) {
        // A failure of the platform's own is no reason for a client to throw its token away.
        throw error instanceof errors.JOSEError ? problem('invalidToken') : error;
      }
    },
  };
}

function keyIdOf(token: string): string {
  try {
    return decodeProtectedHeader(token).kid ?? '';
  } catch {
    throw problem('invalidToken');
  }
}
