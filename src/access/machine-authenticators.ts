// Authenticators of machines: API keys and bearer tokens are checked once, and cached until they end (interface 5).
import { type EpochMs, formatInstant } from '../model/instant.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { ChangeFollower } from '../model/record.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import {
  findApiKeyBySecretHash,
  findOAuthClientByClientId,
  saveLastUses,
} from '../storage/records/rows/credentials.ts';
import { secretHash } from '../storage/records/secret-encryption.ts';
import { createCacheByPart, RecordChanges } from '../structures/cache-by-part.ts';
import { type Authenticator, grantedPrincipal } from './authenticator.ts';
import { clockSkewSeconds, type TokenService } from './token-service.ts';

const tokensMax = 10_000;
const tokenLengthMax = 4_096;

interface KnownToken {
  readonly principal: Principal;
  readonly expiresAt: EpochMs;
}

/** Tokens of a deleted client are rejected from the change on. */
export interface BearerAuthenticator extends Authenticator, ChangeFollower {
  readonly authenticate: (credential: string) => Principal | Promise<Principal>;
}

export function createBearerAuthenticator(parts: {
  readonly db: RecordsDb;
  readonly tokens: Pick<TokenService, 'check'>;
  readonly now: () => EpochMs;
}): BearerAuthenticator {
  const known = createCacheByPart<KnownToken>(tokensMax);
  const changes = new RecordChanges();

  async function load(token: string): Promise<Principal> {
    const { clientId, expiresAt } = await parts.tokens.check(token);
    const { revision } = changes;
    const client = await findOAuthClientByClientId(parts.db, clientId);
    if (client === undefined) throw problem('invalidToken');
    const principal = grantedPrincipal('OAUTH_CLIENT', client);
    const used = [principal.id, principal.organizationId];
    // A client deleted while it was being read must not stay in memory.
    if (!used.some((id) => changes.hasChanged(id, revision)))
      known.set(token, { principal, expiresAt }, used);
    return principal;
  }

  return {
    header: 'authorization',
    authenticate(header) {
      const token = /^bearer +(\S+)$/i.exec(header)?.[1];
      if (token === undefined || token.length > tokenLengthMax) throw problem('invalidToken');
      const found = known.use(token);
      if (found === undefined) return load(token);
      if (found.expiresAt + clockSkewSeconds * 1_000 > parts.now()) return found.principal;
      known.delete(token);
      throw problem('invalidToken');
    },
    recordChanged({ kind, id, action }) {
      if (action !== 'deleted') return;
      if (kind !== 'oauthClient' && kind !== 'organization') return;
      changes.add(id);
      known.deleteUsersOf(id);
    },
    changesMissed() {
      changes.addAll();
      known.clear();
    },
  };
}

// API key authenticator: finds keys by the SHA-256 of their secret, and caches them until they are deleted (interface 5).

const principalsMax = 10_000;
const secretLengthMax = 200;

/** A deleted key is rejected from the change on. */
export interface ApiKeyAuthenticator extends Authenticator, ChangeFollower {
  readonly authenticate: (credential: string) => Principal | Promise<Principal>;
  /** Saves when keys were last used. Call it periodically, and before the records close. */
  readonly saveUses: () => Promise<void>;
}

export function createApiKeyAuthenticator({
  db,
  now,
}: {
  readonly db: RecordsDb;
  readonly now: () => EpochMs;
}): ApiKeyAuthenticator {
  /** By secret, as it came: hashing it takes longer than all other checks of a request. */
  const principals = createCacheByPart<Principal>(principalsMax);
  const uses = new Map<string, EpochMs>();
  const changes = new RecordChanges();

  function use(principal: Principal): Principal {
    const { expiresAt } = principal;
    if (expiresAt !== undefined && expiresAt <= now())
      throw problem('apiKeyExpired', { expired: formatInstant(expiresAt) });
    uses.set(principal.id, now());
    return principal;
  }

  async function load(secret: string): Promise<Principal> {
    const { revision } = changes;
    const key = await findApiKeyBySecretHash(db, secretHash(secret));
    if (key === undefined) throw problem('unauthorized');
    const { expiration: expiresAt } = key;
    const principal = {
      ...grantedPrincipal('API_KEY', key),
      ...(expiresAt !== null && { expiresAt }),
    };
    const parts = [principal.id, principal.organizationId];
    // A key deleted while it was being read must not stay in memory.
    if (!parts.some((id) => changes.hasChanged(id, revision)))
      principals.set(secret, principal, parts);
    return use(principal);
  }

  return {
    header: 'x-api-key',
    authenticate(secret) {
      if (secret.length === 0 || secret.length > secretLengthMax) throw problem('unauthorized');
      const known = principals.use(secret);
      return known === undefined ? load(secret) : use(known);
    },
    recordChanged({ kind, id, action }) {
      if (kind !== 'apiKey' && !(kind === 'organization' && action === 'deleted')) return;
      changes.add(id);
      principals.deleteUsersOf(id);
    },
    changesMissed() {
      changes.addAll();
      principals.clear();
    },
    async saveUses() {
      if (uses.size === 0) return;
      const seen = new Map(uses);
      uses.clear();
      await saveLastUses(db, seen);
    },
  };
}
