// Sign-in, sign-out and the own account: a session for an e-mail address and password, and what its user is shown of itself (contract 35).
import { randomBytes } from 'node:crypto';
import { callerWorkspacesMax, emailAddressOf, type SignInKind, type User } from '../model/user.ts';
import { newId } from '../model/ids.ts';
import { type EpochMs, hourMs, minuteMs } from '../model/instant.ts';
import {
  everyPermission,
  isClosed,
  type Permissions,
  type Principal,
  type Scope,
  scopes,
  type Verb,
} from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import {
  announceAfterCommit,
  type Records,
  type RecordsDb,
  transaction,
} from '../storage/records/records.ts';
import { userRows, organizationMemberRows } from '../storage/records/rows/users.ts';
import { organizationRows, workspaceRows } from '../storage/records/rows/workspaces.ts';
import {
  hasSecondFactor,
  sessionRows,
  passwordResetRows,
} from '../storage/records/rows/sign-in.ts';
import { secretHash } from '../storage/records/secret-encryption.ts';
import { endSessionsById, removeInStep } from './own-sessions.ts';
import { hashPassword, isPassword, newPasswordHash } from './password.ts';
import { sessionLifetimeMs } from './authenticators.ts';
import type { JsonObject } from '../model/json.ts';
import { preferenceRows } from '../storage/records/rows/views.ts';
import { isPermittedAt } from './authorize.ts';

const sessionTokenBytes = 32;
/** Beyond this number the oldest session of a user ends. */
const sessionsPerUserMax = 50;
const userAgentLengthMax = 300;

// Checked for an unknown user, so that it takes the same time as a wrong password.
let unknownHash: Promise<string> | undefined;

/**
 * The user with this e-mail address and password; undefined when either is wrong, after the same
 * time.
 */
export async function authenticateUser(
  { db }: Records,
  email: string,
  password: string,
): Promise<User | undefined> {
  const user = await userRows.byEmail(db, emailAddressOf(email));
  unknownHash ??= hashPassword(randomBytes(16).toString('hex'));
  const right = await isPassword(password, user?.passwordHash ?? (await unknownHash));
  if (right && user?.passwordHash) return user;
  return undefined;
}

/**
 * Starts a session in the requested organization, else in the first that the user joined. Throws
 * 403 for a member of none.
 */
export async function startSession(
  records: Records,
  user: User,
  start: {
    readonly now: EpochMs;
    readonly signInKind: SignInKind;
    /** Of several, the organization to begin in. */
    readonly organizationId?: string | null | undefined;
    readonly provider?: {
      readonly providerSession: string | null;
      readonly idToken: string | null;
    };
    /** What the owner recognizes the session by. */
    readonly from?: { readonly ip: string; readonly userAgent: string | undefined };
    /** The token of the session that the browser had until now, which ends. */
    readonly replaced?: string | undefined;
  },
): Promise<{
  readonly user: User;
  readonly sessionToken: string;
  readonly session: { readonly id: string; readonly organizationId: string };
}> {
  const { now, organizationId, signInKind, from, provider, replaced } = start;
  const memberships = await organizationMemberRows.ofUser(records.db, user.id);
  const accepted = memberships.filter((member) => member.acceptedAt !== null);
  const member = accepted.find((joined) => joined.organizationId === organizationId) ?? accepted[0];
  if (member === undefined) throw problem('noOrganization');
  const sessionToken = randomBytes(sessionTokenBytes).toString('base64url');
  const session = { id: newId('session'), organizationId: member.organizationId };
  const older = await sessionRows.ofUser(records.db, user.id);
  const crowdedOut = older.slice(0, Math.max(0, older.length + 1 - sessionsPerUserMax));
  const before = replaced && (await sessionRows.byTokenHash(records.db, secretHash(replaced)));
  const ended = new Set([...crowdedOut, ...(before ? [before] : [])].map(({ id }) => id));
  await transaction(records.db, async (step) => {
    await removeInStep(step, records.announce, [...ended]);
    await sessionRows.insert(step.db, {
      ...session,
      tokenHash: secretHash(sessionToken),
      userId: user.id,
      created: now,
      lastSeen: now,
      expiresAt: now + sessionLifetimeMs,
      signInKind,
      userAgent: from?.userAgent?.slice(0, userAgentLengthMax) ?? null,
      ip: from?.ip ?? null,
      providerSession: provider?.providerSession ?? null,
      idToken: provider?.idToken ?? null,
    });
  });
  return { user, sessionToken, session };
}

export async function endSession(records: Records, sessionId: string): Promise<void> {
  await endSessionsById(records, [sessionId]);
}

/** Ends every session of the user, or every other one; returns how many. */
export async function endSessions(
  records: Records,
  userId: string,
  except?: string,
): Promise<number> {
  const ids = (await sessionRows.ofUser(records.db, userId))
    .map(({ id }) => id)
    .filter((id) => id !== except);
  await endSessionsById(records, ids);
  return ids.length;
}

/**
 * Switches the session to another organization. Throws 404 for one that the user is not a member
 * of.
 */
export async function switchOrganization(
  records: Records,
  principal: Principal,
  organizationId: string,
): Promise<void> {
  const member = await organizationMemberRows.find(records.db, organizationId, principal.id);
  if (member === undefined || member.acceptedAt === null || principal.sessionId === undefined) {
    throw problem('notFound', { what: 'organization', id: organizationId });
  }
  const { sessionId: id } = principal;
  await transaction(records.db, async (step) => {
    await sessionRows.saveOrganization(step.db, id, organizationId);
    const changed = { kind: 'session', id, action: 'updated' } as const;
    await announceAfterCommit(step, records.announce, [changed]);
  });
}

/** Names that make a password of this user easily guessed. */
async function namesAround({ db }: Records, { id, name }: User): Promise<string[]> {
  const memberships = await organizationMemberRows.ofUser(db, id);
  const ids = memberships.map(({ organizationId }) => organizationId);
  return [name, ...(await organizationRows.namesOf(db, ids)).values()];
}

/** Changes the password and ends every other session; false when the current one is wrong. */
export async function changePassword(
  records: Records,
  principal: Principal,
  sent: { readonly currentPassword: string; readonly newPassword: string },
  now: EpochMs,
): Promise<boolean> {
  const user = await userRows.find(records.db, principal.id);
  if (!user?.passwordHash || !(await isPassword(sent.currentPassword, user.passwordHash)))
    return false;
  const names = await namesAround(records, user);
  const passwordHash = await newPasswordHash(sent.newPassword, user.email, names);
  const saved = { ...user, passwordHash, updated: now, version: user.version + 1 };
  await transaction(records.db, async ({ db }) => {
    await userRows.save(db, saved);
    await userRows.forgetFirstPassword(db, user.id);
  });
  await endSessions(records, user.id, principal.sessionId);
  return true;
}

// Password reset: a mailed link sets a new password, proves the address and ends every session of the user (contract 36, 42).

const tokenBytes = 32;
const tokenLengthMax = 100;
const lifetimeMs = hourMs;

export interface PasswordResetMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/**
 * Creates a link and returns the mail with it; undefined when no user with a password has the
 * address.
 */
export async function preparePasswordReset(
  { db }: Records,
  email: string,
  { publicUrl, now }: { readonly publicUrl: string; readonly now: EpochMs },
): Promise<PasswordResetMail | undefined> {
  const user = await userRows.byEmail(db, emailAddressOf(email));
  if (user === undefined || user.passwordHash === null) return undefined;
  const token = randomBytes(tokenBytes).toString('base64url');
  const reset = {
    tokenHash: secretHash(token),
    userId: user.id,
    created: now,
    expiresAt: now + lifetimeMs,
  };
  await transaction(db, (step) => passwordResetRows.add(step.db, reset));
  return {
    to: user.email,
    subject: 'Reset your Heliograph password',
    text: [
      'Someone, probably you, requested a password reset for this address.',
      `To choose a new password, open this link within ${lifetimeMs / minuteMs} minutes. It can be used once:`,
      `${publicUrl}/password-reset/${token}`,
      'If you did not request this, ignore this email. Your password stays the same.',
    ].join('\n\n'),
  };
}

/**
 * Sets the password and ends every session. Second factors stay: the mailbox alone is one factor
 * (contract 42). Throws 404 for a link that is unknown, used or expired,
 * 400 for a weak password.
 */
export async function resetPassword(
  records: Records,
  token: string,
  password: string,
  now: EpochMs,
): Promise<User> {
  if (token.length > tokenLengthMax) throw unknownReset();
  const hash = secretHash(token);
  const known = await userOfReset(records, hash, now);
  const names = await namesAround(records, known);
  const passwordHash = await newPasswordHash(password, known.email, names);
  return transaction(records.db, async (step) => {
    const { db } = step;
    // The second of two concurrent requests finds nothing.
    const user = await userOfReset({ db }, hash, now);
    const saved: User = {
      ...user,
      passwordHash,
      // A factor of a time without proof may be that of a person who took the address first. The
      // mailbox does not outweigh it, and the address counts as proven only without it.
      proven: user.proven || !(await hasSecondFactor(db, user.id)),
      updated: now,
      version: user.version + 1,
    };
    await userRows.save(db, saved);
    await passwordResetRows.removeOf(db, user.id);
    await userRows.forgetFirstPassword(db, user.id);
    const ended = await sessionRows.removeOf(db, user.id);
    await announceAfterCommit(step, records.announce, [
      ...ended.map((id) => ({ kind: 'session', id, action: 'deleted' }) as const),
      { kind: 'user', id: saved.id, action: 'updated' },
    ]);
    return saved;
  });
}

async function userOfReset(
  { db }: { readonly db: RecordsDb },
  hash: string,
  now: EpochMs,
): Promise<User> {
  const reset = await passwordResetRows.find(db, hash, now);
  const user = reset && (await userRows.find(db, reset.userId));
  if (user === undefined) throw unknownReset();
  return user;
}

/** The token is a secret, so the message does not repeat it. */
function unknownReset() {
  return problem('notFound', { what: 'password reset', id: 'with this token' });
}

// Caller: who a credential belongs to, with its organizations, account and preferences (contract 37).

/**
 * `principal` is the one that the credential has now: for a session with every organization of its
 * user. Throws 401 for a user who is gone.
 */
export async function readCaller(db: RecordsDb, principal: Principal) {
  const { kind, organizationId } = principal;
  const inOrganizations = principal.inOrganizations ?? new Map([[organizationId, principal]]);
  const account =
    kind === 'USER' ? await readAccount(db, principal) : await credentialAccount(db, principal);
  return {
    kind,
    ...account,
    organizations: account.organizations.map((organization) => {
      const there = inOrganizations.get(organization.organizationId);
      const permissions = there ? permissionsInOrganization(there) : {};
      const secondFactorMissing = isClosed(principal, organization.organizationId);
      return { ...organization, permissions, secondFactorMissing };
    }),
    ...(await permissionsOf(db, organizationId, inOrganizations)),
  };
}

/** A key or client in the form of a user's account. */
async function credentialAccount(db: RecordsDb, { id, name, organizationId }: Principal) {
  const names = await organizationRows.namesOf(db, [organizationId]);
  const organization = { organizationId, name: names.get(organizationId) ?? '', role: null };
  return { id, name, email: null, organizationId, role: null, organizations: [organization] };
}

/** Of the workspaces of the first organization, then of the others, up to the limit. */
async function permissionsOf(
  db: RecordsDb,
  firstId: string,
  inOrganizations: ReadonlyMap<string, Principal>,
) {
  const ordered = [...inOrganizations.values()].sort(
    (a, b) => Number(b.organizationId === firstId) - Number(a.organizationId === firstId),
  );
  let permissions = {};
  let left = callerWorkspacesMax;
  for (const principal of ordered) {
    const { organizationId, workspaces } = principal;
    const workspaceIds = workspaces === 'all' ? undefined : [...workspaces];
    const ids = await workspaceRows.firstIds(db, { organizationId, workspaceIds }, left + 1);
    const shown = ids.slice(0, left);
    permissions = { ...permissions, ...permissionsByWorkspace(principal, shown) };
    left -= shown.length;
    if (ids.length > shown.length) return { permissions, permissionsComplete: false };
  }
  return { permissions, permissionsComplete: true };
}

// Effective permissions: what a principal may do in workspaces, by the checks of requests (contract 37).

/** Scopes of records that belong to the organization and not to one of its workspaces. */
const organizationScopes: ReadonlySet<Scope> = new Set([
  'organization',
  'organization.member',
  'deviceType',
  'customLogic',
  'billing',
]);

/** Verbs by scope that the principal may do with records of the organization itself. */
function permissionsInOrganization(principal: Principal): Permissions {
  return permittedAt(principal, () => null);
}

/**
 * Verbs by scope that the principal may do in each of the workspaces. A scope of records of the
 * organization, such as device types, counts as it does there.
 */
function permissionsByWorkspace(
  principal: Principal,
  workspaceIds: readonly string[],
): Readonly<Record<string, Permissions>> {
  // Most workspaces have no role, and those with the same role the same permissions.
  const known = new Map<Permissions | undefined, Permissions>();
  const inWorkspace = (workspaceId: string): Permissions => {
    const role = principal.workspacePermissions?.get(workspaceId);
    const permitted =
      known.get(role) ??
      permittedAt(principal, (scope, verb) => (isOfOrganization(scope, verb) ? null : workspaceId));
    known.set(role, permitted);
    return permitted;
  };
  return Object.fromEntries(workspaceIds.map((id) => [id, inWorkspace(id)]));
}

/** A new workspace belongs to the organization. */
function isOfOrganization(scope: Scope, verb: Verb): boolean {
  return organizationScopes.has(scope) || (scope === 'workspace' && verb === 'create');
}

function permittedAt(
  principal: Principal,
  workspaceOf: (scope: Scope, verb: Verb) => string | null,
): Permissions {
  const { organizationId } = principal;
  const permitted = scopes.map((scope) => {
    const verbs = (everyPermission[scope] ?? []).filter((verb) =>
      isPermittedAt(principal, [scope, verb], {
        organizationId,
        workspaceId: workspaceOf(scope, verb),
      }),
    );
    return [scope, verbs] as const;
  });
  return Object.fromEntries(permitted.filter(([, verbs]) => verbs.length > 0));
}

// A user's own account as the console shows it: who, in which organization, with which role.

/** `organizationId` is that of the session. Throws 401 for somebody who is gone. */
export async function readAccount(
  db: RecordsDb,
  { id, organizationId }: { readonly id: string; readonly organizationId: string },
) {
  const user = await userRows.find(db, id);
  const memberships = (await organizationMemberRows.ofUser(db, id)).filter(
    ({ acceptedAt }) => acceptedAt !== null,
  );
  const role = memberships.find((member) => member.organizationId === organizationId)?.role;
  if (user === undefined || role === undefined) throw problem('unauthorized');
  const names = await organizationRows.namesOf(
    db,
    memberships.map((member) => member.organizationId),
  );
  const organizations = memberships.map((member) => ({
    organizationId: member.organizationId,
    name: names.get(member.organizationId) ?? '',
    role: member.role,
  }));
  const isFirst = user.passwordHash !== null && (await userRows.hasFirstPassword(db, id));
  return {
    id,
    name: user.name,
    email: user.email,
    organizationId,
    role,
    organizations,
    ...(isFirst && { passwordChangeRequired: true }),
  };
}

// Preferences: what a user or a credential stores for a console, visible only to its owner (contract 37).

type Owner = { readonly id: string };

/** Empty for an owner who has stored nothing. */
export function readPreferences({ db }: Records, { id }: Owner): Promise<JsonObject> {
  return preferenceRows.find(db, id);
}

/** Replaces all of them; returns what is stored now. */
export async function replacePreferences(
  { db, now }: Records,
  { id }: Owner,
  preferences: JsonObject,
): Promise<JsonObject> {
  await preferenceRows.save(db, { ownerId: id, preferences }, now());
  return preferences;
}
