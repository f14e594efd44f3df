// Composes access: every kind of credential, what ends with a revoked one, and how often anybody may try.
import type { AsyncLocalStorage } from 'node:async_hooks';
import { type ApiKeyAuthenticator, apiKeyAuthenticator } from '../access/api-key-authenticator.ts';
import { type Attempts, attempts } from '../access/sign-in-throttle.ts';
import { type Authenticator, identify } from '../access/authenticator.ts';
import { authorize } from '../access/authorize.ts';
import { type BearerAuthenticator, bearerAuthenticator } from '../access/bearer-authenticator.ts';
import { requestLimit } from '../access/rate-limit.ts';
import {
  type SessionAuthenticator,
  sessionAuthenticator,
} from '../access/session-authenticator.ts';
import { type SigningKeys, signingKeys } from '../access/signing-keys.ts';
import {
  clockSkewSeconds,
  tokenLifetimeSeconds,
  type TokenService,
  tokenService,
} from '../access/token-service.ts';
import type { Config } from '../config.ts';
import type { DataStreams } from '../http/streams/data-streams.ts';
import type { Guard } from '../http/edge/admission.ts';
import type { NamedPlaces } from '../http/edge/named-resources.ts';
import type { Actor } from '../model/actor.ts';
import type { Principal } from '../model/principal.ts';
import type { RecordChange } from '../model/record.ts';
import { dropOldAuditEntries } from '../records/rows/audit-log.ts';
import type { OpenRecords } from '../records/records.ts';
import { findPlace } from '../records/rows/resource-refs.ts';

export interface Access {
  readonly apiKeys: ApiKeyAuthenticator;
  readonly bearer: BearerAuthenticator;
  readonly sessions: SessionAuthenticator;
  readonly keys: SigningKeys;
  readonly tokens: TokenService;
  readonly attempts: Attempts;
  readonly authenticators: readonly Authenticator[];
  readonly actAs: <T>(actor: Actor, work: () => T) => T;
  readonly organizationOf: (named: NamedPlaces) => Promise<string | undefined>;
  /** Must be told every change of a record. */
  readonly recordChanged: (change: RecordChange) => void;
  /** To be called now and then, and before the records close. */
  readonly runMaintenance: () => Promise<void>;
}

/** `acting` holds the actor of the request under way; the records read it for the audit log. */
export function composeAccess(
  config: Config,
  records: OpenRecords,
  acting: AsyncLocalStorage<Actor | undefined>,
  now: () => number,
): Access {
  const { db } = records;
  const tokenLifetimeMs = (tokenLifetimeSeconds + 2 * clockSkewSeconds) * 1_000;
  const keys = signingKeys({ records, now, tokenLifetimeMs });
  const tokens = tokenService({ db, keys, now, publicUrl: config.publicUrl });
  const apiKeys = apiKeyAuthenticator({ db, now });
  const bearer = bearerAuthenticator({ db, tokens, now });
  const sessions = sessionAuthenticator({ db, now });
  return {
    apiKeys,
    bearer,
    sessions,
    keys,
    tokens,
    attempts: attempts(now),
    authenticators: [apiKeys, bearer, sessions],
    actAs: (actor, work) => acting.run(actor, work),
    organizationOf: (named) => organizationOf(records, named),
    recordChanged(change) {
      for (const one of [apiKeys, bearer, sessions]) one.recordChanged(change);
    },
    async runMaintenance() {
      await apiKeys.saveUses();
      for (const id of await sessions.runMaintenance())
        records.announce({ kind: 'session', id, action: 'deleted' });
      await keys.runMaintenance();
      await dropOldAuditEntries(db, now());
    },
  };
}

/** What the edge asks of every request. */
export function guardOf(
  { authenticators, actAs, organizationOf: findOrganization }: Access,
  config: Config,
  now: () => number,
): Guard {
  return {
    identify: (headers, method) => identify(authenticators, headers, method),
    authorize,
    organizationOf: findOrganization,
    limit: requestLimit(config.rateLimitPerSecond, now),
    actAs,
  };
}

async function organizationOf(
  { db }: OpenRecords,
  named: NamedPlaces,
): Promise<string | undefined> {
  if (named.organizationId !== undefined) return named.organizationId;
  const ids = { workspace: named.workspaceIds, device: named.deviceIds };
  for (const kind of ['workspace', 'device'] as const) {
    for (const id of ids[kind]) {
      const place = await findPlace(db, kind, id);
      if (place !== undefined) return place.organizationId ?? undefined;
    }
  }
  return undefined;
}

/** Ends live connections as soon as their credential is revoked or may do less; to be told every change of a record. */
export function streamRevocation(
  streams: Pick<DataStreams, 'endSessions'>,
  sessions: Pick<SessionAuthenticator, 'current'>,
  failed: (error: unknown) => void,
): (change: RecordChange) => void {
  const checkUsers = async () => {
    const connected = new Map<string, Principal>();
    streams.endSessions((principal) => {
      if (principal.sessionId !== undefined) connected.set(principal.sessionId, principal);
      return false;
    });
    const ended = new Set<string>();
    for (const [sessionId, principal] of connected) {
      const current = await sessions.current(sessionId);
      if (current === undefined || rightsOf(current) !== rightsOf(principal)) ended.add(sessionId);
    }
    if (ended.size > 0)
      streams.endSessions(({ sessionId }) => sessionId !== undefined && ended.has(sessionId));
  };
  const machines = { apiKey: 'API_KEY', oauthClient: 'OAUTH_CLIENT' } as const;
  return ({ kind, id, action }) => {
    if ((kind === 'apiKey' || kind === 'oauthClient') && action === 'deleted') {
      streams.endSessions((principal) => principal.kind === machines[kind] && principal.id === id);
    } else if (kind === 'organization' && action === 'deleted') {
      streams.endSessions((principal) => principal.organizationId === id);
      checkUsers().catch(failed);
    } else if (kind === 'session' || kind === 'member' || kind === 'user') {
      checkUsers().catch(failed);
    }
  };
}

function rightsOf(principal: Principal): string {
  return JSON.stringify([
    principal.organizationId,
    ...[...(principal.inOrganizations?.values() ?? [])].map(rightsIn),
  ]);
}

function rightsIn({
  organizationId,
  workspaces,
  permissions,
  workspacePermissions,
}: Principal): string {
  const reached = workspaces === 'all' ? workspaces : [...workspaces].sort();
  const added = [...(workspacePermissions ?? [])].sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([organizationId, reached, permissions, added]);
}
