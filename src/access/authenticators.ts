// Authenticators: one per kind of credential (session, API key, token, shared dashboard), each of which makes a principal; a request may carry a single credential (interface 5).
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Grant } from '../model/credential.ts';
import type { Author, Permissions, Principal } from '../model/principal.ts';
import { problem, Problem } from '../model/problem.ts';
import { dayMs, type EpochMs, formatInstant, hourMs } from '../model/instant.ts';
import {
  organizationRolePermissions,
  type Session,
  type User,
  workspaceRolePermissions,
  type OrganizationRole,
} from '../model/user.ts';
import type { ChangeFollower, RecordChange } from '../model/record.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import {
  type OrganizationMember,
  userRows,
  organizationMemberRows,
  workspaceMemberRows,
} from '../storage/records/rows/users.ts';
import {
  sessionRows,
  hasSecondFactor,
  secondFactorDemandRows,
} from '../storage/records/rows/sign-in.ts';
import { secretHash } from '../storage/records/secret-encryption.ts';
import { createBoundedMap, createCacheByPart, RecordChanges } from '../structures/caches.ts';

import { apiKeyRows, oauthClientRows } from '../storage/records/rows/credentials.ts';
import { clockSkewSeconds, type TokenService } from './token-service.ts';
import {
  namesOfShare,
  type SharedNames,
  type SharedDashboard,
  type SharedTopics,
  shareTokenPrefix,
  withDevices,
} from '../model/dashboard.ts';
import { dashboardRows, type SharedBy } from '../storage/records/rows/dashboards.ts';
import { tagRows } from '../storage/records/rows/tags.ts';
import { customFieldRows } from '../storage/records/rows/custom-fields.ts';
import { placeRows } from '../storage/records/rows/places.ts';

export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface Authenticator {
  /** The header, in lower case, that carries this kind of credential. */
  readonly header: string;
  /**
   * Whether browsers send it by themselves: it counts only in a request that shows nothing else.
   */
  readonly ambient?: true;
  /** Throws Problem 401 for a credential that is unknown, deleted or expired. */
  readonly authenticate: (
    credential: string,
    request: ShownRequest,
  ) => Principal | Promise<Principal>;
}

/** What a check may look at besides the credential. */
interface ShownRequest {
  readonly method: string;
  readonly headers: RequestHeaders;
}

/** Throws Problem 401 when the headers hold no credential, two, or an invalid one. */
export function identify(
  authenticators: readonly Authenticator[],
  headers: RequestHeaders,
  method = 'GET',
): Principal | Promise<Principal> {
  let used: Authenticator | undefined;
  for (const authenticator of authenticators) {
    if (headers[authenticator.header] === undefined) continue;
    if (authenticator.ambient && used !== undefined) continue;
    if (used !== undefined && !used.ambient) throw problem('twoCredentials');
    used = authenticator;
  }
  if (used === undefined) throw problem('unauthorized');
  const credential = headers[used.header];
  // A header sent twice arrives joined or as a list; neither can be a valid credential.
  if (typeof credential !== 'string') throw problem('twoCredentials');
  return used.authenticate(credential, { method, headers });
}

/** Whether the headers have one valid credential. Never throws a Problem. */
export async function isIdentified(
  authenticators: readonly Authenticator[],
  headers: RequestHeaders,
): Promise<boolean> {
  try {
    await identify(authenticators, headers);
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}

// Granted principal: the principal of an API key or OAuth client, from what it was granted when it was created.

function grantedPrincipal(
  kind: 'API_KEY' | 'OAUTH_CLIENT',
  credential: Grant & { readonly id: string; readonly name: string },
): Principal {
  return {
    kind,
    id: credential.id,
    name: credential.name,
    organizationId: credential.organizationId,
    workspaces: credential.allWorkspaces ? 'all' : new Set(credential.workspaceIds),
    permissions: credential.permissions,
  };
}

// Console sessions: a cookie that only this server can read, and a second token against forged requests (contract 35).

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
  return token !== undefined && token.length <= sessionTokenLengthMax ? token : undefined;
}

export const sessionLifetimeMs = 7 * dayMs;
/** A session that is not used for this time ends early. */
const sessionIdleMs = dayMs;
const principalsMax = 10_000;
const sessionTokenLengthMax = 200;
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
  readonly #known = createCacheByPart<{
    readonly csrfToken: string;
    readonly sessionId: string;
    readonly principal: Principal;
    readonly expiresAt: EpochMs;
  }>(principalsMax);
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
  const accepted = (await organizationMemberRows.ofUser(db, user.id)).filter(
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
async function principalOfMember(
  db: RecordsDb,
  userId: string,
  organizationId: string,
): Promise<Principal | undefined> {
  const user = await userRows.find(db, userId);
  if (user === undefined) return undefined;
  const memberships = await organizationMemberRows.ofUser(db, userId);
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
  const memberships = await workspaceMemberRows.ofUser(db, organizationId, user.id);
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

// Authenticators of machines: API keys and bearer tokens are checked once, and cached until they end (interface 5).

const tokensMax = 10_000;
const tokenLengthMax = 4_096;

/** Tokens of a deleted client are rejected from the change on. */
export class BearerAuthenticator implements Authenticator, ChangeFollower {
  readonly #db: RecordsDb;
  readonly #tokens: Pick<TokenService, 'check'>;
  readonly #now: () => EpochMs;
  readonly #known = createCacheByPart<{
    readonly principal: Principal;
    readonly expiresAt: EpochMs;
  }>(tokensMax);
  readonly #changes = new RecordChanges();
  readonly header = 'authorization';
  readonly recordChanged = ({ kind, id, action }: RecordChange): void => {
    if (action !== 'deleted') return;
    if (kind !== 'oauthClient' && kind !== 'organization') return;
    this.#changes.add(id);
    this.#known.deleteUsersOf(id);
  };
  readonly changesMissed = (): void => {
    this.#changes.addAll();
    this.#known.clear();
  };

  constructor({
    db,
    tokens,
    now,
  }: {
    readonly db: RecordsDb;
    readonly tokens: Pick<TokenService, 'check'>;
    readonly now: () => EpochMs;
  }) {
    this.#db = db;
    this.#tokens = tokens;
    this.#now = now;
  }

  async #load(token: string): Promise<Principal> {
    const { clientId, expiresAt } = await this.#tokens.check(token);
    const { revision } = this.#changes;
    const client = await oauthClientRows.byClientId(this.#db, clientId);
    if (client === undefined) throw problem('invalidToken');
    const principal = grantedPrincipal('OAUTH_CLIENT', client);
    const used = [principal.id, principal.organizationId];
    // A client deleted while it was being read must not stay in memory.
    if (!used.some((id) => this.#changes.hasChanged(id, revision)))
      this.#known.set(token, { principal, expiresAt }, used);
    return principal;
  }

  authenticate(header: string): Principal | Promise<Principal> {
    const token = /^bearer +(\S+)$/i.exec(header)?.[1];
    if (token === undefined || token.length > tokenLengthMax) throw problem('invalidToken');
    const found = this.#known.use(token);
    if (found === undefined) return this.#load(token);
    if (found.expiresAt + clockSkewSeconds * 1_000 > this.#now()) return found.principal;
    this.#known.delete(token);
    throw problem('invalidToken');
  }
}
const secretLengthMax = 200;

/** A deleted key is rejected from the change on. */
export class ApiKeyAuthenticator implements Authenticator, ChangeFollower {
  readonly #db: RecordsDb;
  readonly #now: () => EpochMs;
  /** By secret, as it came: hashing it takes longer than all other checks of a request. */
  readonly #principals = createCacheByPart<Principal>(principalsMax);
  readonly #uses = new Map<string, EpochMs>();
  readonly #changes = new RecordChanges();
  readonly header = 'x-api-key';
  readonly recordChanged = ({ kind, id, action }: RecordChange): void => {
    if (kind !== 'apiKey' && !(kind === 'organization' && action === 'deleted')) return;
    this.#changes.add(id);
    this.#principals.deleteUsersOf(id);
  };
  readonly changesMissed = (): void => {
    this.#changes.addAll();
    this.#principals.clear();
  };

  constructor({
    db,
    now,
  }: {
    readonly db: RecordsDb;
    readonly now: () => EpochMs;
  }) {
    this.#db = db;
    this.#now = now;
  }

  #use(principal: Principal): Principal {
    const { expiresAt } = principal;
    if (expiresAt !== undefined && expiresAt <= this.#now())
      throw problem('apiKeyExpired', { expired: formatInstant(expiresAt) });
    this.#uses.set(principal.id, this.#now());
    return principal;
  }

  async #load(secret: string): Promise<Principal> {
    const { revision } = this.#changes;
    const key = await apiKeyRows.bySecretHash(this.#db, secretHash(secret));
    if (key === undefined) throw problem('unauthorized');
    const { expiration: expiresAt } = key;
    const principal = {
      ...grantedPrincipal('API_KEY', key),
      ...(expiresAt !== null && { expiresAt }),
    };
    const parts = [principal.id, principal.organizationId];
    // A key deleted while it was being read must not stay in memory.
    if (!parts.some((id) => this.#changes.hasChanged(id, revision)))
      this.#principals.set(secret, principal, parts);
    return this.#use(principal);
  }

  authenticate(secret: string): Principal | Promise<Principal> {
    if (secret.length === 0 || secret.length > secretLengthMax) throw problem('unauthorized');
    const known = this.#principals.use(secret);
    return known === undefined ? this.#load(secret) : this.#use(known);
  }

  /** Saves when keys were last used. Call it periodically, and before the records close. */
  async saveUses(): Promise<void> {
    if (this.#uses.size === 0) return;
    const seen = new Map(this.#uses);
    this.#uses.clear();
    await apiKeyRows.saveLastUses(this.#db, seen);
  }
}

// Stored principals: those for whom work is done later, with the permissions that they have then.

/** Undefined for one that is removed or expired, or belongs to the organization no longer. */
export async function storedPrincipal(
  db: RecordsDb,
  { type, id }: Pick<Author, 'type' | 'id'>,
  organizationId: string,
  now: EpochMs,
): Promise<Principal | undefined> {
  if (type === 'USER') return principalOfMember(db, id, organizationId);
  if (type === 'API_KEY') {
    const key = await apiKeyRows.find(db, id);
    if (key?.organizationId !== organizationId) return undefined;
    if (key.expiration !== null && key.expiration <= now) return undefined;
    return grantedPrincipal('API_KEY', key);
  }
  const client = await oauthClientRows.find(db, id);
  return client?.organizationId === organizationId
    ? grantedPrincipal('OAUTH_CLIENT', client)
    : undefined;
}

// Tokens of shared dashboards: each reads one dashboard and the series of its tiles (contract 37, 42).

const sharesKept = 1_000;
/** Devices of the tags, at the places, and with the values of custom fields that a token reads, each. */
const devicesMax = 2_000;

/** A token in use is noted in the audit log once in this time. */
const useEveryMs = hourMs;

export class ShareAuthenticator {
  readonly #db: RecordsDb;
  readonly #now: () => EpochMs;
  readonly #used: (share: SharedBy, before: EpochMs) => void;
  /** By share and version of the dashboard, because a configuration may be large. */
  readonly #known = createBoundedMap<string, SharedNames>(sharesKept);

  constructor(parts: {
    readonly db: RecordsDb;
    readonly now: () => EpochMs;
    /** Notes the use in the records and in the audit log. */
    readonly used: (share: SharedBy, before: EpochMs) => void;
  }) {
    const { db, now, used } = parts;
    this.#db = db;
    this.#now = now;
    this.#used = used;
  }

  /**
   * The principal of a token of a shared dashboard; undefined when the headers have none. Throws
   * Problem 401 for one that is unknown, revoked or expired, and for a second credential.
   */
  authenticate(headers: RequestHeaders): Promise<Principal> | undefined {
    const { authorization } = headers;
    if (typeof authorization !== 'string') return undefined;
    const token = /^bearer +(\S+)$/i.exec(authorization)?.[1];
    if (!token?.startsWith(shareTokenPrefix)) return undefined;
    if (headers['x-api-key'] !== undefined) throw problem('twoCredentials');
    return this.#principalOf(token);
  }

  async #namesOf({ id, dashboardId, version, variables }: SharedBy): Promise<SharedNames> {
    const kept = this.#known.use(`${id} ${version}`);
    if (kept !== undefined) return kept;
    const current = await dashboardRows.findConfiguration(this.#db, dashboardId);
    if (current === undefined) throw problem('invalidToken');
    const names = namesOfShare(current.configuration, variables);
    this.#known.set(`${id} ${current.version}`, names);
    return names;
  }

  /** Devices get and lose tags, places, and values, so they are looked up for each request. */
  async #sharedBy({
    series,
    tags,
    places,
    fields,
  }: SharedNames): Promise<Pick<SharedDashboard, 'series' | 'fields'>> {
    if (tags.size + places.size + fields.length === 0) return { series, fields: [] };
    const found: { readonly deviceId: string; readonly topics: SharedTopics }[] = [];
    const add = (deviceId: string, topics: SharedTopics | undefined) => {
      if (topics !== undefined) found.push({ deviceId, topics });
    };
    for (const { tagId, deviceId } of await tagRows.devicesByTag(this.#db, [...tags], devicesMax))
      add(deviceId, series.get(tagId));
    const atPlaces = await placeRows.devicesByPlace(this.#db, [...places], devicesMax);
    for (const { placeId, deviceId } of atPlaces) add(deviceId, series.get(placeId));
    const withValues: SharedDashboard['fields'][number][] = [];
    for (const { metaId, value, topics } of fields) {
      const wanted = { metaId, value, max: devicesMax };
      const deviceIds = await customFieldRows.devicesWithValue(this.#db, wanted);
      for (const deviceId of deviceIds) add(deviceId, topics);
      withValues.push({ metaId, value, deviceIds });
    }
    return { series: withDevices(series, found), fields: withValues };
  }

  async #principalOf(token: string): Promise<Principal> {
    if (token.length > sessionTokenLengthMax) throw problem('invalidToken');
    const found = await dashboardRows.ofToken(this.#db, secretHash(token), this.#now());
    if (found === undefined) throw problem('invalidToken');
    const { id, dashboardId, organizationId, workspaceId, lastUsed } = found;
    const before = this.#now() - useEveryMs;
    if (lastUsed === null || lastUsed < before) this.#used(found, before);
    const names = await this.#namesOf(found);
    return {
      // Like a key without any permission; only `share` says what it reads.
      kind: 'API_KEY',
      id,
      name: 'Shared dashboard',
      organizationId,
      workspaces: new Set(),
      permissions: {},
      share: { dashboardId, workspaceId, blobs: names.blobs, ...(await this.#sharedBy(names)) },
    };
  }
}

/**
 * Those of the organizations that demand a second factor which the user does not have. Sessions of
 * the provider are closed out of none, because the provider asks for what its own rules demand.
 */
async function organizationsClosedTo(
  db: RecordsDb,
  { userId, signInKind }: Session,
  organizationIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (signInKind === 'PROVIDER') return new Set();
  const demanding = await secondFactorDemandRows.among(db, organizationIds);
  if (demanding.size === 0 || (await hasSecondFactor(db, userId))) return new Set();
  return demanding;
}

/** Whether the roles above MEMBER carry into every workspace: all but MEMBER do. */
function reachesAllWorkspaces(role: OrganizationRole): boolean {
  return role !== 'MEMBER';
}
