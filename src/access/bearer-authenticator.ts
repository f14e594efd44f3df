// Bearer authenticator: checks a token once, and caches it until it expires or its client is deleted (interface 5 rules 2, 8, 9).
import type { EpochMs } from '../model/instant.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { ChangeFollower } from '../model/record.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { findOAuthClientByClientId } from '../storage/records/rows/credentials.ts';
import type { Authenticator } from './authenticator.ts';
import { grantedPrincipal } from './granted-principal.ts';
import { clockSkewSeconds, type TokenService } from './token-service.ts';
import { createCacheByPart } from '../structures/cache-by-part.ts';
import { createRecordChanges } from '../structures/record-changes.ts';

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
  const changes = createRecordChanges();

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
