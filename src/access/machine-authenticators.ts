// Authenticators of machines: API keys and bearer tokens are checked once, and cached until they end (interface 5).
import { type EpochMs, formatInstant } from '../model/instant.ts';
import type { Author, Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { ChangeFollower, RecordChange } from '../model/record.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { apiKeyRows, oauthClientRows } from '../storage/records/rows/credentials.ts';
import { secretHash } from '../storage/records/secret-encryption.ts';
import { createCacheByPart, RecordChanges } from '../structures/cache-by-part.ts';
import { type Authenticator, grantedPrincipal } from './authenticator.ts';
import { clockSkewSeconds, type TokenService } from './token-service.ts';
import { principalOfMember } from './session-authenticator.ts';

const tokensMax = 10_000;
const tokenLengthMax = 4_096;

interface KnownToken {
  readonly principal: Principal;
  readonly expiresAt: EpochMs;
}

/** Tokens of a deleted client are rejected from the change on. */
export class BearerAuthenticator implements Authenticator, ChangeFollower {
  readonly #db: RecordsDb;
  readonly #tokens: Pick<TokenService, 'check'>;
  readonly #now: () => EpochMs;
  readonly #known = createCacheByPart<KnownToken>(tokensMax);
  readonly #changes = new RecordChanges();
  readonly header = 'authorization';
  readonly recordChanged = ({ kind, id, action }: RecordChange): void => {
    if (action !== 'deleted') return;
    if (kind !== 'oauthClient' && kind !== 'organization') return;
    this.#changes.add(id);
    this.#known.deleteUsersOf(id);
  };
  readonly changesMissed = (): void => {
    this.#changes.addAll();
    this.#known.clear();
  };

  constructor({
    db,
    tokens,
    now,
  }: {
    readonly db: RecordsDb;
    readonly tokens: Pick<TokenService, 'check'>;
    readonly now: () => EpochMs;
  }) {
    this.#db = db;
    this.#tokens = tokens;
    this.#now = now;
  }

  async #load(token: string): Promise<Principal> {
    const { clientId, expiresAt } = await this.#tokens.check(token);
    const { revision } = this.#changes;
    const client = await oauthClientRows.byClientId(this.#db, clientId);
    if (client === undefined) throw problem('invalidToken');
    const principal = grantedPrincipal('OAUTH_CLIENT', client);
    const used = [principal.id, principal.organizationId];
    // A client deleted while it was being read must not stay in memory.
    if (!used.some((id) => this.#changes.hasChanged(id, revision)))
      this.#known.set(token, { principal, expiresAt }, used);
    return principal;
  }

  authenticate(header: string): Principal | Promise<Principal> {
    const token = /^bearer +(\S+)$/i.exec(header)?.[1];
    if (token === undefined || token.length > tokenLengthMax) throw problem('invalidToken');
    const found = this.#known.use(token);
    if (found === undefined) return this.#load(token);
    if (found.expiresAt + clockSkewSeconds * 1_000 > this.#now()) return found.principal;
    this.#known.delete(token);
    throw problem('invalidToken');
  }
}

// API key authenticator: finds keys by the SHA-256 of their secret, and caches them until they are deleted (interface 5).

const principalsMax = 10_000;
const secretLengthMax = 200;

/** A deleted key is rejected from the change on. */
export class ApiKeyAuthenticator implements Authenticator, ChangeFollower {
  readonly #db: RecordsDb;
  readonly #now: () => EpochMs;
  /** By secret, as it came: hashing it takes longer than all other checks of a request. */
  readonly #principals = createCacheByPart<Principal>(principalsMax);
  readonly #uses = new Map<string, EpochMs>();
  readonly #changes = new RecordChanges();
  readonly header = 'x-api-key';
  readonly recordChanged = ({ kind, id, action }: RecordChange): void => {
    if (kind !== 'apiKey' && !(kind === 'organization' && action === 'deleted')) return;
    this.#changes.add(id);
    this.#principals.deleteUsersOf(id);
  };
  readonly changesMissed = (): void => {
    this.#changes.addAll();
    this.#principals.clear();
  };

  constructor({
    db,
    now,
  }: {
    readonly db: RecordsDb;
    readonly now: () => EpochMs;
  }) {
    this.#db = db;
    this.#now = now;
  }

  #use(principal: Principal): Principal {
    const { expiresAt } = principal;
    if (expiresAt !== undefined && expiresAt <= this.#now())
      throw problem('apiKeyExpired', { expired: formatInstant(expiresAt) });
    this.#uses.set(principal.id, this.#now());
    return principal;
  }

  async #load(secret: string): Promise<Principal> {
    const { revision } = this.#changes;
    const key = await apiKeyRows.bySecretHash(this.#db, secretHash(secret));
    if (key === undefined) throw problem('unauthorized');
    const { expiration: expiresAt } = key;
    const principal = {
      ...grantedPrincipal('API_KEY', key),
      ...(expiresAt !== null && { expiresAt }),
    };
    const parts = [principal.id, principal.organizationId];
    // A key deleted while it was being read must not stay in memory.
    if (!parts.some((id) => this.#changes.hasChanged(id, revision)))
      this.#principals.set(secret, principal, parts);
    return this.#use(principal);
  }

  authenticate(secret: string): Principal | Promise<Principal> {
    if (secret.length === 0 || secret.length > secretLengthMax) throw problem('unauthorized');
    const known = this.#principals.use(secret);
    return known === undefined ? this.#load(secret) : this.#use(known);
  }

  /** Saves when keys were last used. Call it periodically, and before the records close. */
  async saveUses(): Promise<void> {
    if (this.#uses.size === 0) return;
    const seen = new Map(this.#uses);
    this.#uses.clear();
    await apiKeyRows.saveLastUses(this.#db, seen);
  }
}

// Stored principals: those for whom work is done later, with the permissions that they have then.

/** Undefined for one that is removed or expired, or belongs to the organization no longer. */
export async function storedPrincipal(
  db: RecordsDb,
  { type, id }: Pick<Author, 'type' | 'id'>,
  organizationId: string,
  now: EpochMs,
): Promise<Principal | undefined> {
  if (type === 'USER') return principalOfMember(db, id, organizationId);
  if (type === 'API_KEY') {
    const key = await apiKeyRows.find(db, id);
    if (key?.organizationId !== organizationId) return undefined;
    if (key.expiration !== null && key.expiration <= now) return undefined;
    return grantedPrincipal('API_KEY', key);
  }
  const client = await oauthClientRows.find(db, id);
  return client?.organizationId === organizationId
    ? grantedPrincipal('OAUTH_CLIENT', client)
    : undefined;
}
