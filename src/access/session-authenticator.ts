// Console sessions: a cookie that only this server can read, and a second token against forged requests (contract 35).
import { createHmac, timingSafeEqual } from 'node:crypto';
import { dayMs, type EpochMs } from '../model/instant.ts';
import type { Permissions } from '../model/permission.ts';
import {
  organizationRolePermissions,
  reachesAllWorkspaces,
  workspaceRolePermissions,
} from '../model/role.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { ChangeFollower, RecordChange } from '../model/record.ts';
import type { Session, User } from '../model/user.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import {
  type OrganizationMember,
  organizationMembershipsOf,
  workspaceMembershipsOf,
} from '../storage/records/rows/members.ts';
import {
  endedSessions,
  findSessionByTokenHash,
  saveLastSeen,
  sessionRows,
} from '../storage/records/rows/sign-in.ts';
import { userRows } from '../storage/records/rows/users.ts';
import { secretHash } from '../storage/records/secret-encryption.ts';
import { createCacheByPart, createRecordChanges } from '../structures/cache-by-part.ts';
import type { Authenticator, ShownRequest } from './authenticator.ts';
import { organizationsClosedTo } from './second-factor-demand.ts';

const sessionCookie = 'session';
const csrfCookie = 'csrf';
/** Browsers take cookies of such names from https and from this very host only (RFC 6265bis). */
const hostPrefix = '__Host-';

/** `secure` when the platform is reached by https. */
export function cookieNames(secure: boolean) {
  const prefix = secure ? hostPrefix : '';
  return { session: prefix + sessionCookie, csrf: prefix + csrfCookie } as const;
}

/** The token of the session in the cookies of a request. */
export function sessionTokenOf(cookies: string | undefined, secure: boolean): string | undefined {
  const token = cookieValue(cookies, cookieNames(secure).session);
  return token !== undefined && token.length <= tokenLengthMax ? token : undefined;
}

export const sessionLifetimeMs = 7 * dayMs;
/** A session that is not used for this time ends early. */
const sessionIdleMs = dayMs;
const principalsMax = 10_000;
const tokenLengthMax = 200;
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);
const changesThatCount = new Set<RecordChange['kind']>([
  'session',
  'user',
  'member',
  'organization',
  'workspace',
]);

/** New roles and ended sessions count from the change on. */
export interface SessionAuthenticator extends Authenticator, ChangeFollower {
  /** The present user of a session; undefined when the session or the membership has ended. */
  readonly current: (sessionId: string) => Promise<Principal | undefined>;
  /** Saves when sessions were last used. */
  readonly saveUses: () => Promise<void>;
  /** Ids of the sessions that are over, when all uses are saved after this time at most. */
  readonly oldIds: (savedLaterMs: number) => Promise<string[]>;
}

/**
 * The token that state-changing calls repeat in `x-csrf-token`; it is derived from the session's,
 * so none is stored.
 */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url');
}

interface KnownSession {
  readonly sessionId: string;
  readonly principal: Principal;
  readonly expiresAt: EpochMs;
}

export function createSessionAuthenticator(parts: {
  readonly db: RecordsDb;
  readonly now: () => EpochMs;
  /** Whether the platform is reached by https. */
  readonly secure?: boolean;
}): SessionAuthenticator {
  const { db, now, secure = false } = parts;
  const known = createCacheByPart<KnownSession>(principalsMax);
  const seen = new Map<string, EpochMs>();
  const changes = createRecordChanges();

  async function load(hash: string): Promise<Principal> {
    const { revision } = changes;
    const session = await findSessionByTokenHash(db, hash);
    if (session === undefined || isOver(session, now())) throw problem('unauthorized');
    const principal = await userPrincipal(db, session);
    if (principal === undefined) throw problem('unauthorized');
    const { id: sessionId, expiresAt } = session;
    const used = recordsOf(sessionId, principal);
    if (!used.some((id) => changes.hasChanged(id, revision)))
      known.set(hash, { sessionId, principal, expiresAt }, used);
    seen.set(sessionId, now());
    return principal;
  }

  return {
    header: 'cookie',
    ambient: true,
    authenticate(cookies, request) {
      const token = sessionTokenOf(cookies, secure);
      if (token === undefined) throw problem('unauthorized');
      const hash = secretHash(token);
      const found = known.use(hash);
      if (found !== undefined && found.expiresAt > now()) {
        refuseForgery(token, request);
        seen.set(found.sessionId, now());
        return found.principal;
      }
      return load(hash).then((principal) => {
        refuseForgery(token, request);
        return principal;
      });
    },
    recordChanged(change) {
      if (!changesThatCount.has(change.kind)) return;
      // A new membership is a part of no session yet; its user is.
      const id = change.kind === 'member' ? change.userId : change.id;
      changes.add(id);
      known.deleteUsersOf(id);
    },
    changesMissed() {
      changes.addAll();
      known.clear();
    },
    current: (sessionId) => presentUser(db, sessionId),
    async saveUses() {
      if (seen.size === 0) return;
      const uses = new Map(seen);
      seen.clear();
      await saveLastSeen(db, uses);
    },
    oldIds: (savedLaterMs) => endedSessions(db, now(), now() - sessionIdleMs - savedLaterMs),
  };
}

async function presentUser(db: RecordsDb, sessionId: string): Promise<Principal | undefined> {
  const session = await sessionRows.find(db, sessionId);
  return session && userPrincipal(db, session);
}

/** The records whose changes concern the principal of a session. */
function recordsOf(sessionId: string, { id, inOrganizations }: Principal): readonly string[] {
  const places = [...(inOrganizations ?? [])].flatMap(
    ([organizationId, { workspacePermissions }]) => [
      organizationId,
      ...(workspacePermissions?.keys() ?? []),
    ],
  );
  return [sessionId, id, ...places];
}

function isOver({ expiresAt, lastSeen }: Session, now: EpochMs): boolean {
  return expiresAt <= now || lastSeen + sessionIdleMs <= now;
}

/**
 * Throws Problem 403 when a state-changing call does not repeat the token: a foreign page can send
 * cookies but not read them.
 */
function refuseForgery(sessionToken: string, { method, headers }: ShownRequest): void {
  if (safeMethods.has(method)) return;
  const given = Buffer.from(String(headers['x-csrf-token'] ?? ''));
  const expected = Buffer.from(csrfTokenOf(sessionToken));
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw problem('csrfTokenMissing');
}

/**
 * The user in the session's organization, and in every other one (contract 36), with the present
 * roles; undefined when the membership of the session's organization has ended.
 */
async function userPrincipal(db: RecordsDb, session: Session): Promise<Principal | undefined> {
  const user = await userRows.find(db, session.userId);
  if (user === undefined) return undefined;
  const accepted = (await organizationMembershipsOf(db, user.id)).filter(
    ({ acceptedAt }) => acceptedAt !== null,
  );
  const closedOrganizations = await organizationsClosedTo(
    db,
    session,
    accepted.map(({ organizationId }) => organizationId),
  );
  const inOrganizations = new Map<string, Principal>();
  for (const member of accepted) {
    const principal = closedOrganizations.has(member.organizationId)
      ? strangerIn(user, member, session)
      : await memberPrincipal(db, user, member, session);
    inOrganizations.set(member.organizationId, { ...principal, closedOrganizations });
  }
  const own = inOrganizations.get(session.organizationId);
  return own && { ...own, inOrganizations };
}

async function memberPrincipal(
  db: RecordsDb,
  user: User,
  { organizationId, role }: OrganizationMember,
  session: Session,
): Promise<Principal> {
  const memberships = await workspaceMembershipsOf(db, organizationId, user.id);
  const workspacePermissions = new Map<string, Permissions>(
    memberships.map((member) => [member.workspaceId, workspaceRolePermissions[member.role]]),
  );
  return {
    kind: 'USER',
    id: user.id,
    name: user.name,
    organizationId,
    workspaces: reachesAllWorkspaces(role) ? 'all' : new Set(workspacePermissions.keys()),
    permissions: organizationRolePermissions[role],
    workspacePermissions,
    sessionId: session.id,
  };
}

/** Until the user has the second factor that the organization demands, the roles count for nothing. */
function strangerIn(
  { id, name }: User,
  { organizationId }: OrganizationMember,
  { id: sessionId }: Session,
): Principal {
  const nothing = { workspaces: new Set<string>(), permissions: {} };
  return { kind: 'USER', id, name, organizationId, ...nothing, sessionId };
}

// Cookie value: reads one cookie of a request.

/** Of several with the name the first, which is the most specific. */
export function cookieValue(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=');
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}
