// Connects access: authenticators, token service, signing keys and the limits of sign-in.
import {
  ApiKeyAuthenticator,
  type Authenticator,
  BearerAuthenticator,
  identify,
  SessionAuthenticator,
  ShareAuthenticator,
} from '../access/authenticators.ts';
import { authorize, type NamedIds, namedOrganization } from '../access/authorize.ts';
import { UserSessions } from '../access/user-sessions.ts';
import { Attempts, codeLimits, createRequestLimit } from '../access/rate-limits.ts';
import {
  clockSkewSeconds,
  createSigningKeys,
  type SigningKeys,
  tokenLifetimeSeconds,
  TokenService,
} from '../access/token-service.ts';
import type { Config } from './config/config.ts';
import type { Guard } from '../http/edge/admission.ts';
import { noteShareUse } from '../inventory/workspaces/dashboards.ts';
import type { Actor } from '../model/principal.ts';
import { minuteMs } from '../model/instant.ts';
import type { ChangeFollower } from '../model/record.ts';
import type { OpenRecords } from '../storage/records/records.ts';
import { auditRows } from '../storage/records/rows/audit-log.ts';
import { nodeOf } from '../storage/records/rows/shared-records.ts';

export interface Access extends ChangeFollower {
  readonly apiKeys: ApiKeyAuthenticator;
  readonly bearer: BearerAuthenticator;
  readonly sessions: SessionAuthenticator;
  readonly keys: SigningKeys;
  readonly tokens: TokenService;
  readonly attempts: Attempts;
  /** Of one-time codes. */
  readonly codeAttempts: Attempts;
  readonly authenticators: readonly Authenticator[];
  /** Tokens of shared dashboards count for requests, not for the live stream. */
  readonly shares: ShareAuthenticator;
  readonly actAs: <T>(actor: Actor, work: () => T) => T;
  readonly organizationOf: (named: NamedIds) => Promise<string | undefined>;
  /** Writes when keys and sessions were used; once a minute, and before the records close. */
  readonly saveUses: () => Promise<void>;
  /** Ends old sessions, renews signing keys and removes old audit entries, for all nodes. */
  readonly endOld: () => Promise<void>;
}

/** How long other nodes may keep to themselves that a session was used. */
const othersSaveWithinMs = 2 * minuteMs;

/** `actAs` runs work in the name of an actor, which the records write to the audit log. */
export function composeAccess(
  publicUrl: () => string,
  records: OpenRecords,
  actAs: Access['actAs'],
  now: () => number,
  {
    failed = () => undefined,
    secure = false,
  }: {
    readonly failed?: (what: string, error: unknown) => void;
    /** Whether browsers reach the platform by https. */
    readonly secure?: boolean;
  } = {},
): Access {
  const { db } = records;
  const useFailed = (error: unknown) => failed('noting the use of a shared dashboard', error);
  const isShared = nodeOf(db) !== '';
  const tokenLifetimeMs = (tokenLifetimeSeconds + 2 * clockSkewSeconds) * 1_000;
  const keys = createSigningKeys({ records, now, tokenLifetimeMs });
  const tokens = new TokenService(db, keys, now, publicUrl);
  const apiKeys = new ApiKeyAuthenticator({ db, now });
  const bearer = new BearerAuthenticator({ db, tokens, now });
  const sessions = new SessionAuthenticator({ db, now, secure });
  return {
    apiKeys,
    bearer,
    sessions,
    keys,
    tokens,
    attempts: new Attempts(now),
    codeAttempts: new Attempts(now, codeLimits),
    authenticators: [apiKeys, bearer, sessions],
    shares: new ShareAuthenticator({
      db,
      now,
      used: (share, before) => void noteShareUse({ db, now }, share, before).catch(useFailed),
    }),
    actAs,
    organizationOf: (named) => namedOrganization(db, named),
    recordChanged(change) {
      for (const { recordChanged } of [apiKeys, bearer, sessions]) recordChanged(change);
    },
    changesMissed() {
      for (const { changesMissed } of [apiKeys, bearer, sessions]) changesMissed();
      keys.discard();
    },
    async saveUses() {
      await apiKeys.saveUses();
      await sessions.saveUses();
      // Another node may have renewed them.
      if (isShared) keys.discard();
    },
    async endOld() {
      await new UserSessions(records, now).end(
        await sessions.oldIds(isShared ? othersSaveWithinMs : 0),
      );
      // Of several nodes, the one that looks after the keys may have needed none.
      if (isShared) await keys.current();
      await keys.runMaintenance();
      await auditRows.dropOld(db, now());
    },
  };
}

/** The checks of every request. */
export function guardOf(
  { authenticators, shares, actAs, organizationOf: findOrganization }: Access,
  config: Config,
  now: () => number,
  turns?: Guard['turns'],
): Guard {
  return {
    identify: (headers, method) =>
      shares.authenticate(headers) ?? identify(authenticators, headers, method),
    authorize,
    organizationOf: findOrganization,
    limit: createRequestLimit(config.rateLimitPerSecond, now),
    turns,
    actAs,
  };
}
