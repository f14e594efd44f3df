// API key authenticator: finds keys by the SHA-256 of their secret, and caches them until they are deleted (interface 5).
import { type EpochMs, formatInstant } from '../model/instant.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { ChangeFollower } from '../model/record.ts';
import { findApiKeyBySecretHash, saveLastUses } from '../storage/records/rows/credentials.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { secretHash } from '../storage/records/secret-encryption.ts';
import type { Authenticator } from './authenticator.ts';
import { grantedPrincipal } from './granted-principal.ts';
import { createCacheByPart } from '../structures/cache-by-part.ts';
import { createRecordChanges } from '../structures/record-changes.ts';

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
  const principals = createCacheByPart<Principal>(principalsMax);
  const uses = new Map<string, EpochMs>();
  const changes = createRecordChanges();

  function use(principal: Principal): Principal {
    const { expiresAt } = principal;
    if (expiresAt !== undefined && expiresAt <= now())
      throw problem('apiKeyExpired', { expired: formatInstant(expiresAt) });
    uses.set(principal.id, now());
    return principal;
  }

  async function load(hash: string): Promise<Principal> {
    const { revision } = changes;
    const key = await findApiKeyBySecretHash(db, hash);
    if (key === undefined) throw problem('unauthorized');
    const { expiration: expiresAt } = key;
    const principal = {
      ...grantedPrincipal('API_KEY', key),
      ...(expiresAt !== null && { expiresAt }),
    };
    const parts = [principal.id, principal.organizationId];
    // A key deleted while it was being read must not stay in memory.
    if (!parts.some((id) => changes.hasChanged(id, revision)))
      principals.set(hash, principal, parts);
    return use(principal);
  }

  return {
    header: 'x-api-key',
    authenticate(secret) {
      if (secret.length === 0 || secret.length > secretLengthMax) throw problem('unauthorized');
      const hash = secretHash(secret);
      const known = principals.use(hash);
      if (known === undefined) return load(hash);
      return use(known);
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
