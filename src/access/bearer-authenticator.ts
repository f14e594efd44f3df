// Bearer authenticator: checks a token once, and caches it until it expires or its client is deleted (interface 5 rules 2, 8, 9).
import type { EpochMs } from '../model/instant.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { RecordChange } from '../model/record.ts';
import type { RecordsDb } from '../records/records.ts';
import { findOAuthClientByClientId } from '../records/rows/oauth-clients.ts';
import type { Authenticator } from './authenticator.ts';
import { grantedPrincipal } from './granted-principal.ts';
import { clockSkewSeconds, type TokenService } from './token-service.ts';
import { createBoundedMap } from '../structures/bounded-map.ts';

const tokensMax = 10_000;
const tokenLengthMax = 4_096;

interface KnownToken {
  readonly principal: Principal;
  readonly expiresAt: EpochMs;
}

export interface BearerAuthenticator extends Authenticator {
  readonly authenticate: (credential: string) => Principal | Promise<Principal>;
  /** Call for every record change: tokens of a deleted client are rejected from then on. */
  readonly recordChanged: (change: RecordChange) => void;
}

export function createBearerAuthenticator(parts: {
  readonly db: RecordsDb;
  readonly tokens: Pick<TokenService, 'check'>;
  readonly now: () => EpochMs;
}): BearerAuthenticator {
  const known = createBoundedMap<string, KnownToken>(tokensMax);
  let changes = 0;

  async function load(token: string): Promise<Principal> {
    const { clientId, expiresAt } = await parts.tokens.check(token);
    const changesBefore = changes;
    const client = await findOAuthClientByClientId(parts.db, clientId);
    if (client === undefined) throw problem('invalidToken');
    const principal = grantedPrincipal('OAUTH_CLIENT', client);
    // A client deleted while it was being read must not stay in memory.
    if (changes === changesBefore) known.set(token, { principal, expiresAt });
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
    recordChanged(change) {
      if (change.action !== 'deleted') return;
      if (change.kind !== 'oauthClient' && change.kind !== 'organization') return;
      changes += 1;
      if (change.kind === 'organization') return known.clear();
      for (const [token, { principal }] of known)
        if (principal.id === change.id) known.delete(token);
    },
  };
}
