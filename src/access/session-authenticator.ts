// Console sessions: a cookie that only this server can read, and a second token that only our own pages can send back (contract 35).
import { createHmac, timingSafeEqual } from 'node:crypto';
import { dayMs, type EpochMs } from '../model/instant.ts';
import type { Permissions } from '../model/permission.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { RecordChange } from '../model/record.ts';
import {
  organizationRolePermissions,
  reachesAllWorkspaces,
  workspaceRolePermissions,
} from '../model/role.ts';
import type { Session, User } from '../model/user.ts';
import type { RecordsDb } from '../records/records.ts';
import {
  type OrganizationMember,
  organizationMembershipsOf,
  workspaceMembershipsOf,
} from '../records/rows/members.ts';
import { secretHash } from '../records/secret-encryption.ts';
import {
  endedSessions,
  findSession,
  findSessionByTokenHash,
  removeSession,
  saveLastSeen,
} from '../records/rows/sessions.ts';
import { findUser } from '../records/rows/users.ts';
import type { Authenticator, ShownRequest } from './authenticator.ts';
import { createBoundedMap } from '../structures/bounded-map.ts';

export const sessionCookie = 'session';
export const csrfCookie = 'csrf';
export const sessionLifetimeMs = 7 * dayMs;
/** A session that was not used so long is over before its end. */
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

export interface SessionAuthenticator extends Authenticator {
  /** Must be told every change of a record: roles and sessions count from then on. */
  readonly recordChanged: (change: RecordChange) => void;
  /** The user of a session as of now; undefined when the session or the membership is over. */
  readonly current: (sessionId: string) => Promise<Principal | undefined>;
  /** Writes when sessions were last used and ends those that are over; returns their ids. */
  readonly runMaintenance: () => Promise<string[]>;
}

/** The token that state-changing calls repeat in `x-csrf-token`; it follows from the session's, so none has to be kept. */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url');
}

interface KnownSession {
  readonly principal: Principal;
  readonly expiresAt: EpochMs;
}

export function sessionAuthenticator(parts: {
  readonly db: RecordsDb;
  readonly now: () => EpochMs;
}): SessionAuthenticator {
  const { db, now } = parts;
  const known = createBoundedMap<string, KnownSession>(principalsMax);
  const seen = new Map<string, EpochMs>();
  let changes = 0;

  const look = async (hash: string): Promise<Principal> => {
    const changesBefore = changes;
    const session = await findSessionByTokenHash(db, hash);
    if (
      session === undefined ||
      session.expiresAt <= now() ||
      session.lastSeen + sessionIdleMs <= now()
    ) {
      throw problem('unauthorized');
    }
    const principal = await userPrincipal(db, session);
    if (principal === undefined) throw problem('unauthorized');
    if (changes === changesBefore) known.set(hash, { principal, expiresAt: session.expiresAt });
    seen.set(session.id, now());
    return principal;
  };

  return {
    header: 'cookie',
    ambient: true,
    authenticate(cookies, request) {
      const token = cookieOf(cookies, sessionCookie);
      if (token === undefined || token.length > tokenLengthMax) throw problem('unauthorized');
      const hash = secretHash(token);
      const found = known.use(hash);
      if (found !== undefined && found.expiresAt > now()) {
        refuseForgery(token, request);
        seen.set(found.principal.sessionId!, now());
        return found.principal;
      }
      return look(hash).then((principal) => {
        refuseForgery(token, request);
        return principal;
      });
    },
    recordChanged(change) {
      if (!changesThatCount.has(change.kind)) return;
      // Roles are rarely changed and quickly read again, so nobody has to find out whom a change concerns.
      changes += 1;
      known.clear();
    },
    async current(sessionId) {
      const session = await findSession(db, sessionId);
      return session === undefined ? undefined : userPrincipal(db, session);
    },
    async runMaintenance() {
      const uses = new Map(seen);
      seen.clear();
      if (uses.size > 0) await saveLastSeen(db, uses);
      const ended = await endedSessions(db, now(), now() - sessionIdleMs);
      for (const id of ended) await removeSession(db, id);
      return ended;
    },
  };
}

/** Throws Problem 403 when a state-changing call does not repeat the token: a foreign page can send cookies but not read them. */
function refuseForgery(sessionToken: string, { method, headers }: ShownRequest): void {
  if (safeMethods.has(method)) return;
  const sent = headers['x-csrf-token'];
  const given = Buffer.from(typeof sent === 'string' ? sent : '');
  const expected = Buffer.from(csrfTokenOf(sessionToken));
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw problem('csrfTokenMissing');
}

/**
 * The user in the session's organization, and in every other one (contract 36), with the roles of the moment; undefined when the
 * membership of the session's organization is gone.
 */
async function userPrincipal(db: RecordsDb, session: Session): Promise<Principal | undefined> {
  const user = await findUser(db, session.userId);
  if (user === undefined) return undefined;
  const accepted = (await organizationMembershipsOf(db, user.id)).filter(
    ({ acceptedAt }) => acceptedAt !== null,
  );
  const inOrganizations = new Map<string, Principal>();
  for (const member of accepted)
    inOrganizations.set(member.organizationId, await memberPrincipal(db, user, member, session));
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

/** The value of a cookie; of several with the name the first, which is the most specific. */
function cookieOf(header: string, name: string): string | undefined {
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}
