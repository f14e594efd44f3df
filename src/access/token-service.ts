// Token service: issues signed tokens for client credentials, keeps their keys, and checks them (interface 4.10, 5 rule 2).
import { randomUUID, timingSafeEqual } from 'node:crypto';
import {
  type CryptoKey,
  decodeProtectedHeader,
  errors,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  jwtVerify,
  SignJWT,
} from 'jose';
import { type OAuthClient, tokenPaths } from '../model/credential.ts';
import { dayMs, type EpochMs, isWithin } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import { problem } from '../model/problem.ts';
import type { Records, RecordsDb } from '../storage/records/records.ts';
import {
  type SigningKeyRecord,
  oauthClientRows,
  signingKeyRows,
} from '../storage/records/rows/credentials.ts';
import { secretHash } from '../storage/records/secret-encryption.ts';

// Signing keys of access tokens: created when needed, renewed every 90 days, published while a token of theirs is valid.

const signingAlgorithm = 'ES256';
const renewedAfterMs = 90 * dayMs;
/** Tokens with unknown keys cost at most one read in this time. */
const loadedAgainAfterMs = 1_000;

interface SigningKey {
  readonly id: string;
  readonly created: EpochMs;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly published: JWK;
}

interface KeyRing {
  readonly newest: SigningKey;
  /** Newest first. */
  readonly older: readonly SigningKey[];
}

export interface SigningKeys {
  /** The newest key, which signs. */
  current(): Promise<SigningKey>;
  /** Undefined for an id that is not, or no longer, in use. */
  find(id: string): Promise<SigningKey | undefined>;
  /** The public keys (RFC 7517). */
  published(): Promise<{ readonly keys: readonly JWK[] }>;
  /** Signs with a new key from now on; tokens of the older ones stay valid. */
  renew(): Promise<void>;
  /** Reads the keys again when they are next needed. */
  discard(): void;
  /**
   * Renews a key that is 90 days old, and deletes keys whose last token has expired. Call it
   * periodically.
   */
  runMaintenance(): Promise<void>;
}

/** `tokenLifetimeMs` is how long a superseded key must still verify. */
export function createSigningKeys(parts: {
  readonly records: Records;
  readonly now: () => EpochMs;
  readonly tokenLifetimeMs: number;
}): SigningKeys {
  const { records, now, tokenLifetimeMs } = parts;
  let loading: Promise<KeyRing> | undefined;
  let loadedAt = now();

  async function load(): Promise<KeyRing> {
    loadedAt = now();
    const [newest, ...older] = await Promise.all(
      (await signingKeyRows.list(records)).map(imported),
    );
    return { newest: newest ?? (await create(parts)), older };
  }

  function keyRing(): Promise<KeyRing> {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  }

  async function allKeys(): Promise<SigningKey[]> {
    const { newest, older } = await keyRing();
    return [newest, ...older];
  }

  async function renew(): Promise<void> {
    const older = await allKeys();
    loading = Promise.resolve({ newest: await create(parts), older });
  }

  return {
    current: async () => (await keyRing()).newest,
    async find(id) {
      const known = (await allKeys()).find((key) => key.id === id);
      // Another node may have created it.
      if (known !== undefined || isWithin(loadedAgainAfterMs, loadedAt, now())) return known;
      loading = undefined;
      return (await allKeys()).find((key) => key.id === id);
    },
    published: async () => ({ keys: (await allKeys()).map((key) => key.published) }),
    renew,
    discard: () => void (loading = undefined),
    async runMaintenance() {
      if (loading === undefined) return;
      if ((await keyRing()).newest.created + renewedAfterMs <= now()) await renew();
      const { newest, older } = await keyRing();
      // The second newest signed until the newest was created, so the tokens of all older keys
      // expired by then.
      if (older.length === 0 || newest.created + tokenLifetimeMs > now()) return;
      for (const key of older) await signingKeyRows.remove(records.db, key.id);
      loading = Promise.resolve({ newest, older: [] });
    },
  };
}

async function create({
  records,
  now,
}: Parameters<typeof createSigningKeys>[0]): Promise<SigningKey> {
  const record = await generated(now());
  await signingKeyRows.insert(records, record);
  return imported(record);
}

async function generated(created: EpochMs): Promise<SigningKeyRecord> {
  const { privateKey, publicKey } = await generateKeyPair(signingAlgorithm, { extractable: true });
  return {
    id: randomUUID(),
    created,
    privateKey: { ...(await exportJWK(privateKey)) },
    publicKey: { ...(await exportJWK(publicKey)) },
  };
}

async function imported(record: SigningKeyRecord): Promise<SigningKey> {
  const { id, created } = record;
  const read = async (jwk: JsonObject) =>
    (await importJWK(jwk as JWK, signingAlgorithm)) as CryptoKey;
  const published: JWK = {
    ...(record.publicKey as JWK),
    kid: id,
    alg: signingAlgorithm,
    use: 'sig',
  };
  return {
    id,
    created,
    privateKey: await read(record.privateKey),
    publicKey: await read(record.publicKey),
    published,
  };
}

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

interface IssuedToken {
  readonly access_token: string;
  readonly expires_in: number;
  readonly token_type: 'Bearer';
}

// Compared for an unknown client, so that it takes the same time as a wrong secret.
const unknownHash = secretHash(randomUUID());

export class TokenService {
  readonly #db: RecordsDb;
  readonly #keys: SigningKeys;
  readonly #now: () => EpochMs;
  readonly #publicUrl: () => string;

  constructor(db: RecordsDb, keys: SigningKeys, now: () => EpochMs, publicUrl: () => string) {
    this.#db = db;
    this.#keys = keys;
    this.#now = now;
    this.#publicUrl = publicUrl;
  }

  /** A token for the client that the request authenticates, or the error. */
  async issue(
    form: string,
    authorization: string | undefined,
  ): Promise<IssuedToken | TokenRefusal> {
    const request = readTokenRequest(form, authorization);
    if ('error' in request) return request;
    const client = await oauthClientRows.byClientId(this.#db, request.clientId);
    const given = Buffer.from(secretHash(request.clientSecret));
    const isRight = timingSafeEqual(given, Buffer.from(client?.secretHash ?? unknownHash));
    if (client === undefined || !isRight) return unknownClient(request.basic);
    const access_token = await this.#signed(client);
    return { access_token, expires_in: tokenLifetimeSeconds, token_type: 'Bearer' };
  }

  /**
   * Throws Problem 401 for a token that this service did not sign for this installation, or that
   * has expired. Rejects with the error of the records when the keys cannot be read.
   */
  async check(token: string): Promise<{
    readonly clientId: string;
    readonly expiresAt: EpochMs;
  }> {
    // The key is found by its id among the keys of this installation; nothing else in the head of
    // a token is trusted.
    const key = await this.#keys.find(keyIdOf(token));
    if (key === undefined) throw problem('invalidToken');
    try {
      const { payload } = await jwtVerify(token, key.publicKey, {
        algorithms: [signingAlgorithm],
        typ: tokenType,
        issuer: this.#issuer(),
        audience: this.#publicUrl(),
        clockTolerance: clockSkewSeconds,
        currentDate: new Date(this.#now()),
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
  }

  #issuer(): string {
    return this.#publicUrl() + tokenPaths.realm;
  }

  async #signed(client: OAuthClient): Promise<string> {
    const key = await this.#keys.current();
    const issuedAt = Math.floor(this.#now() / 1_000);
    return new SignJWT({ client_id: client.clientId, organizationId: client.organizationId })
      .setProtectedHeader({ alg: signingAlgorithm, kid: key.id, typ: tokenType })
      .setIssuer(this.#issuer())
      .setAudience(this.#publicUrl())
      .setSubject(client.clientId)
      .setJti(randomUUID())
      .setIssuedAt(issuedAt)
      .setNotBefore(issuedAt)
      .setExpirationTime(issuedAt + tokenLifetimeSeconds)
      .sign(key.privateKey);
  }
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
