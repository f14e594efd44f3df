// Token service: issues signed tokens for client credentials, and checks them (interface 4.10, 5 rule 2).
import { randomUUID, timingSafeEqual } from 'node:crypto';
import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from 'jose';
import type { OAuthClient } from '../model/credential.ts';
import type { EpochMs } from '../model/instant.ts';
import { problem } from '../model/problem.ts';
import { tokenPaths } from '../model/token-paths.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { findOAuthClientByClientId } from '../storage/records/rows/credentials.ts';
import { secretHash } from '../storage/records/secret-encryption.ts';
import { signingAlgorithm, type SigningKeys } from './signing-keys.ts';

// Token requests: form fields and client authentication of the token endpoint (RFC 6749, interface 4.10).

interface TokenRequest {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Whether the client authenticated by HTTP Basic, which an error must answer in kind. */
  readonly basic: boolean;
}

/** An error of RFC 6749 section 5.2. */
interface TokenRefusal {
  readonly status: 400 | 401;
  readonly error: 'invalid_request' | 'invalid_client' | 'unsupported_grant_type';
  readonly description: string;
  readonly basic: boolean;
}

const fieldLengthMax = 1_000;

/** `form` is the body as received; `authorization` the header, if any. */
function readTokenRequest(
  form: string,
  authorization: string | undefined,
): TokenRequest | TokenRefusal {
  const basic = authorization !== undefined;
  const refuse = (error: TokenRefusal['error'], description: string): TokenRefusal => {
    return { status: statusOf(error), error, description, basic };
  };
  const fields = new URLSearchParams(form);
  for (const name of new Set(fields.keys())) {
    if (fields.getAll(name).length > 1)
      return refuse('invalid_request', `${shown(name)} was sent more than once`);
  }
  // A parameter without a value counts as absent (RFC 6749 section 3.2).
  const field = (name: string) => fields.get(name) || undefined;
  const client = basic ? basicClient(authorization, field) : formClient(field);
  if ('problem' in client) return refuse(client.error, client.problem);
  const grantType = field('grant_type');
  if (grantType === undefined) return refuse('invalid_request', 'grant_type is required');
  if (grantType !== 'client_credentials') {
    return refuse('unsupported_grant_type', 'Unsupported grant_type. Use client_credentials.');
  }
  return { ...client, basic };
}

function statusOf(error: TokenRefusal['error']): 400 | 401 {
  return error === 'invalid_client' ? 401 : 400;
}

type Client = { readonly clientId: string; readonly clientSecret: string };
type ClientProblem = {
  readonly error: 'invalid_request' | 'invalid_client';
  readonly problem: string;
};
type Field = (name: string) => string | undefined;

function formClient(field: Field): Client | ClientProblem {
  const clientId = field('client_id');
  const clientSecret = field('client_secret');
  if (clientId === undefined || clientSecret === undefined) {
    return { error: 'invalid_client', problem: 'Client authentication is required' };
  }
  return checked({ clientId, clientSecret });
}

function basicClient(authorization: string, field: Field): Client | ClientProblem {
  const encoded = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(authorization)?.[1];
  const text = Buffer.from(encoded ?? '', 'base64').toString('utf8');
  const at = text.indexOf(':');
  if (at < 1)
    return {
      error: 'invalid_client',
      problem: 'The Authorization header contains no client ID and secret',
    };
  // Both parts are form-encoded before they are joined (RFC 6749 section 2.3.1).
  const clientId = formDecoded(text.slice(0, at));
  const clientSecret = formDecoded(text.slice(at + 1));
  if (clientId === undefined || clientSecret === undefined || clientSecret === '') {
    return {
      error: 'invalid_client',
      problem: 'The Authorization header contains no client ID and secret',
    };
  }
  if (field('client_secret') !== undefined) {
    return {
      error: 'invalid_request',
      problem: 'Authenticate with either the Authorization header or client_secret, not both',
    };
  }
  const named = field('client_id');
  if (named !== undefined && named !== clientId) {
    return {
      error: 'invalid_request',
      problem: 'client_id does not match the Authorization header',
    };
  }
  return checked({ clientId, clientSecret });
}

function checked(client: Client): Client | ClientProblem {
  if (client.clientId.length <= fieldLengthMax && client.clientSecret.length <= fieldLengthMax)
    return client;
  return {
    error: 'invalid_client',
    problem: 'Unknown client or incorrect secret (RFC 6749 error: invalid_client)',
  };
}

function formDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/**
 * A name sent by the client, safe to repeat in `error_description` (printable ASCII without quote
 * and backslash).
 */
function shown(name: string): string {
  return name.slice(0, 40).replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?');
}

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
