// Connects access: authenticators, token service, signing keys and the limits of sign-in.
import type { AsyncLocalStorage } from 'node:async_hooks';
import {
  type ApiKeyAuthenticator,
  createApiKeyAuthenticator,
} from '../access/api-key-authenticator.ts';
import { type Attempts, createAttempts } from '../access/sign-in-throttle.ts';
import { type Authenticator, identify } from '../access/authenticator.ts';
import { authorize } from '../access/authorize.ts';
import {
  type BearerAuthenticator,
  createBearerAuthenticator,
} from '../access/bearer-authenticator.ts';
import { endSessionsById } from '../access/ended-sessions.ts';
import { createShareAuthenticator, type ShareAuthenticator } from '../access/dashboard-shares.ts';
import { type NamedIds, namedOrganization } from '../access/named-organization.ts';
import { createRequestLimit } from '../access/rate-limit.ts';
import {
  type SessionAuthenticator,
  createSessionAuthenticator,
} from '../access/session-authenticator.ts';
import { type SigningKeys, createSigningKeys } from '../access/signing-keys.ts';
import {
  clockSkewSeconds,
  tokenLifetimeSeconds,
  type TokenService,
  createTokenService,
} from '../access/token-service.ts';
import type { Config } from '../config.ts';
import type { Guard } from '../http/edge/admission.ts';
import type { Actor } from '../model/actor.ts';
import type { ChangeFollower } from '../model/record.ts';
import { dropOldAuditEntries } from '../records/rows/audit-log.ts';
import type { OpenRecords } from '../records/records.ts';

export interface Access extends ChangeFollower {
  readonly apiKeys: ApiKeyAuthenticator;
  readonly bearer: BearerAuthenticator;
  readonly sessions: SessionAuthenticator;
  readonly keys: SigningKeys;
  readonly tokens: TokenService;
  readonly attempts: Attempts;
  readonly authenticators: readonly Authenticator[];
  /** Tokens of shared dashboards count for requests, not for the live stream. */
  readonly shares: ShareAuthenticator;
  readonly actAs: <T>(actor: Actor, work: () => T) => T;
  readonly organizationOf: (named: NamedIds) => Promise<string | undefined>;
  /** Runs once a minute, and before the records close. */
  readonly runMaintenance: () => Promise<void>;
}

/**
 * `acting` contains the actor of the request in progress, which the records write to the audit log.
 */
export function composeAccess(
  publicUrl: () => string,
  records: OpenRecords,
  acting: AsyncLocalStorage<Actor | undefined>,
  now: () => number,
): Access {
  const { db } = records;
  const tokenLifetimeMs = (tokenLifetimeSeconds + 2 * clockSkewSeconds) * 1_000;
  const keys = createSigningKeys({ records, now, tokenLifetimeMs });
  const tokens = createTokenService({ db, keys, now, publicUrl });
  const apiKeys = createApiKeyAuthenticator({ db, now });
  const bearer = createBearerAuthenticator({ db, tokens, now });
  const sessions = createSessionAuthenticator({ db, now });
  return {
    apiKeys,
    bearer,
    sessions,
    keys,
    tokens,
    attempts: createAttempts(now),
    authenticators: [apiKeys, bearer, sessions],
    shares: createShareAuthenticator({ db, now }),
    actAs: (actor, work) => acting.run(actor, work),
    organizationOf: (named) => namedOrganization(db, named),
    recordChanged(change) {
      for (const { recordChanged } of [apiKeys, bearer, sessions]) recordChanged(change);
    },
    changesMissed() {
      for (const { changesMissed } of [apiKeys, bearer, sessions]) changesMissed();
      keys.discard();
    },
    async runMaintenance() {
      await apiKeys.saveUses();
      await endSessionsById(records, await sessions.runMaintenance());
      await keys.runMaintenance();
      await dropOldAuditEntries(db, now());
    },
  };
}

/** The checks of every request. */
export function guardOf(
  { authenticators, shares, actAs, organizationOf: findOrganization }: Access,
  config: Config,
  now: () => number,
): Guard {
  return {
    identify: (headers, method) =>
      shares.authenticate(headers) ?? identify(authenticators, headers, method),
    authorize,
    organizationOf: findOrganization,
    limit: createRequestLimit(config.rateLimitPerSecond, now),
    actAs,
  };
}
