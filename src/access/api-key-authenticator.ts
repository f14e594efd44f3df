// API key authenticator: finds keys by the SHA-256 of their secret, and caches them until they are deleted (interface 5).
import type { EpochMs } from '../model/instant.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { RecordChange } from '../model/record.ts';
import { findApiKeyBySecretHash, saveLastUses } from '../records/rows/api-keys.ts';
import type { RecordsDb } from '../records/records.ts';
import { secretHash } from '../records/secret-encryption.ts';
import type { Authenticator } from './authenticator.ts';
import { grantedPrincipal } from './granted-principal.ts';
import { createBoundedMap } from '../structures/bounded-map.ts';

const principalsMax = 10_000;
const secretLengthMax = 200;

export interface ApiKeyAuthenticator extends Authenticator {
  readonly authenticate: (credential: string) => Principal | Promise<Principal>;
  /** Call for every record change: a deleted key is rejected from then on. */
  readonly recordChanged: (change: RecordChange) => void;
  /** Saves when keys were last used. Call it periodically, and before the records close. */
  readonly saveUses: () => Promise<void>;
}

export function createApiKeyAuthenticator(parts: {
  readonly db: RecordsDb;
  readonly now: () => EpochMs;
}): ApiKeyAuthenticator {
  const principals = createBoundedMap<string, Principal>(principalsMax);
  const uses = new Map<string, EpochMs>();
  let changes = 0;

  function use(principal: Principal): Principal {
    uses.set(principal.id, parts.now());
    return principal;
  }

  async function load(hash: string): Promise<Principal> {
    const changesBefore = changes;
    const key = await findApiKeyBySecretHash(parts.db, hash);
    if (key === undefined) throw problem('unauthorized');
    const principal = grantedPrincipal('API_KEY', key);
    // A key deleted while it was being read must not stay in memory.
    if (changes === changesBefore) principals.set(hash, principal);
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
    recordChanged(change) {
      const organizationGone = change.kind === 'organization' && change.action === 'deleted';
      if (change.kind !== 'apiKey' && !organizationGone) return;
      changes += 1;
      if (organizationGone) return principals.clear();
      for (const [hash, principal] of principals)
        if (principal.id === change.id) principals.delete(hash);
    },
    async saveUses() {
      if (uses.size === 0) return;
      const seen = new Map(uses);
      uses.clear();
      await saveLastUses(parts.db, seen);
    },
  };
}
