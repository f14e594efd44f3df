// Console sessions: a cookie that only this server can read, and a second token against forged requests (contract 35).
import { createHmac, timingSafeEqual } from 'node:crypto';
import { dayMs, type EpochMs } from '../model/instant.ts';
import type { Permissions } from '../model/permission.ts';
import {
  organizationRolePermissions,
  reachesAllWorkspaces,
  type Session,
  type User,
  workspaceRolePermissions,
} from '../model/user.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { ChangeFollower, RecordChange } from '../model/record.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import {
  type OrganizationMember,
  organizationMembershipsOf,
  userRows,
  workspaceMembershipsOf,
} from '../storage/records/rows/users.ts';
import { sessionRows } from '../storage/records/rows/sign-in.ts';
import { secretHash } from '../storage/records/secret-encryption.ts';
import { createCacheByPart, RecordChanges } from '../structures/cache-by-part.ts';
import type { Authenticator, ShownRequest } from './authenticator.ts';
import { organizationsClosedTo } from './second-factor.ts';

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

/**
 * The token that state-changing calls repeat in `x-csrf-token`; it is derived from the session's,
 * so none is stored.
 */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url');
}

interface KnownSession {
  readonly csrfToken: string;
  readonly sessionId: string;
  readonly principal: Principal;
  readonly expiresAt: EpochMs;
}

/** New roles and ended sessions count from the change on. */
export class SessionAuthenticator implements Authenticator, ChangeFollower {
  /** The header, in lower case, that carries this kind of credential. */
  readonly header: string;
  /** Whether browsers send it by themselves: it counts only in a request that shows nothing else. */
  readonly ambient?: true;
  readonly #db: RecordsDb;
  readonly #now: () => EpochMs;
  readonly #secure: boolean;
  /** By token. */
  readonly #known = createCacheByPart<KnownSession>(principalsMax);
  readonly #seen = new Map<string, EpochMs>();
  readonly #changes = new RecordChanges();

  constructor(parts: {
    readonly db: RecordsDb;
    readonly now: () => EpochMs;
    /** Whether the platform is reached by https. */
    readonly secure?: boolean;
  }) {
    const { db, now, secure = false } = parts;
    this.#db = db;
    this.#now = now;
    this.#secure = secure;
    this.header = 'cookie';
    this.ambient = true;
  }

  /** Call for every record change, once it is durable. */
  readonly recordChanged = (change: RecordChange): void => {
    if (!changesThatCount.has(change.kind)) return;
    // A new membership is a part of no session yet; its user is.
    const id = change.kind === 'member' ? change.userId : change.id;
    this.#changes.add(id);
    this.#known.deleteUsersOf(id);
  };

  /** Call when changes of other nodes were missed: every record may have changed. */
  readonly changesMissed = (): void => {
    this.#changes.addAll();
    this.#known.clear();
  };

  /** The present user of a session; undefined when the session or the membership has ended. */
  readonly current = (sessionId: string): Promise<Principal | undefined> =>
    presentUser(this.#db, sessionId);

  /** Throws Problem 401 for a credential that is unknown, deleted or expired. */
  authenticate(cookies: string, request: ShownRequest): Principal | Promise<Principal> {
    const token = sessionTokenOf(cookies, this.#secure);
    if (token === undefined) throw problem('unauthorized');
    const found = this.#known.use(token);
    if (found !== undefined && found.expiresAt > this.#now()) {
      refuseForgery(found.csrfToken, request);
      this.#seen.set(found.sessionId, this.#now());
      return found.principal;
    }
    const csrfToken = csrfTokenOf(token);
    return this.#load(token, csrfToken).then((principal) => {
      refuseForgery(csrfToken, request);
      return principal;
    });
  }

  /** Saves when sessions were last used. */
  async saveUses(): Promise<void> {
    if (this.#seen.size === 0) return;
    const uses = new Map(this.#seen);
    this.#seen.clear();
    await sessionRows.saveLastSeen(this.#db, uses);
  }

  /** Ids of the sessions that are over, when all uses are saved after this time at most. */
  oldIds(savedLaterMs: number): Promise<string[]> {
    return sessionRows.ended(this.#db, this.#now(), this.#now() - sessionIdleMs - savedLaterMs);
  }

  async #load(token: string, csrfToken: string): Promise<Principal> {
    const { revision } = this.#changes;
    const session = await sessionRows.byTokenHash(this.#db, secretHash(token));
    if (session === undefined || isOver(session, this.#now())) throw problem('unauthorized');
    const principal = await userPrincipal(this.#db, session);
    if (principal === undefined) throw problem('unauthorized');
    const { id: sessionId, expiresAt } = session;
    const used = recordsOf(sessionId, principal);
    if (!used.some((id) => this.#changes.hasChanged(id, revision)))
      this.#known.set(token, { csrfToken, sessionId, principal, expiresAt }, used);
    this.#seen.set(sessionId, this.#now());
    return principal;
  }
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
function refuseForgery(csrfToken: string, { method, headers }: ShownRequest): void {
  if (safeMethods.has(method)) return;
  const given = Buffer.from(String(headers['x-csrf-token'] ?? ''));
  const expected = Buffer.from(csrfToken);
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

/** The user with the present roles in an organization; undefined for one who is no member. */
export async function principalOfMember(
  db: RecordsDb,
  userId: string,
  organizationId: string,
): Promise<Principal | undefined> {
  const user = await userRows.find(db, userId);
  if (user === undefined) return undefined;
  const memberships = await organizationMembershipsOf(db, userId);
  const member = memberships.find(
    (one) => one.organizationId === organizationId && one.acceptedAt !== null,
  );
  return member && memberPrincipal(db, user, member);
}

async function memberPrincipal(
  db: RecordsDb,
  user: User,
  { organizationId, role }: OrganizationMember,
  session?: Session,
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
    ...(session !== undefined && { sessionId: session.id }),
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
