// Accounts: users by e-mail address and password, their password resets, and what they are shown of themselves (contract 35).
import { randomBytes } from 'node:crypto';
import { callerWorkspacesMax, emailAddressOf, type User } from '../model/user.ts';
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
import { UserSessions } from './user-sessions.ts';
import { hashPassword, isPassword, newPasswordHash } from './password.ts';
import type { JsonObject } from '../model/json.ts';
import { preferenceRows } from '../storage/records/rows/views.ts';
import { isPermittedAt } from './authorize.ts';

// Checked for an unknown user, so that it takes the same time as a wrong password.
let unknownHash: Promise<string> | undefined;

// A mailed link sets a new password, proves the address and ends every session of the user (contract 36, 42).
const tokenBytes = 32;
const tokenLengthMax = 100;
const lifetimeMs = hourMs;

export interface PasswordResetMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Accounts of users: their passwords, and what they are shown of themselves. */
export class Accounts {
  readonly #records: Records;
  readonly #now: () => EpochMs;
  readonly #sessions: UserSessions;

  constructor(records: Records, now: () => EpochMs) {
    this.#records = records;
    this.#now = now;
    this.#sessions = new UserSessions(records, now);
  }

  /**
   * The user with this e-mail address and password; undefined when either is wrong, after the same
   * time.
   */
  async authenticate(email: string, password: string): Promise<User | undefined> {
    const { db } = this.#records;
    const user = await userRows.byEmail(db, emailAddressOf(email));
    unknownHash ??= hashPassword(randomBytes(16).toString('hex'));
    const right = await isPassword(password, user?.passwordHash ?? (await unknownHash));
    if (right && user?.passwordHash) return user;
    return undefined;
  }

  /**
   * The user, when the password is right; undefined for a wrong one. Throws 403 for an account
   * without a password: the provider asks for the second factor of such users.
   */
  async withPassword(userId: string, password: string): Promise<User | undefined> {
    const user = await userRows.find(this.#records.db, userId);
    if (user === undefined) throw problem('unauthorized');
    if (user.passwordHash === null) throw problem('noPassword');
    return (await isPassword(password, user.passwordHash)) ? user : undefined;
  }

  /** Throws 401 when the user has changed since, because a new password is shown again. */
  async ofFirstStep({
    userId,
    version,
  }: {
    readonly userId: string;
    readonly version: number;
  }): Promise<User> {
    const user = await userRows.find(this.#records.db, userId);
    if (user?.version !== version) throw problem('ticketExpired');
    return user;
  }

  /** Throws 401 for a user who is gone, or has lost the password: the provider admits those. */
  async ofPasskey({ userId }: { readonly userId: string }): Promise<User> {
    const user = await userRows.find(this.#records.db, userId);
    if (user === undefined || user.passwordHash === null) throw problem('unauthorized');
    return user;
  }

  /** Changes the password and ends every other session; false when the current one is wrong. */
  async changePassword(
    principal: Principal,
    sent: { readonly currentPassword: string; readonly newPassword: string },
  ): Promise<boolean> {
    const records = this.#records;
    const user = await userRows.find(records.db, principal.id);
    if (!user?.passwordHash || !(await isPassword(sent.currentPassword, user.passwordHash)))
      return false;
    const names = await this.#namesAround(user);
    const passwordHash = await newPasswordHash(sent.newPassword, user.email, names);
    const saved = { ...user, passwordHash, updated: this.#now(), version: user.version + 1 };
    await transaction(records.db, async ({ db }) => {
      await userRows.save(db, saved);
      await userRows.forgetFirstPassword(db, user.id);
    });
    await this.#sessions.endAll(user.id, principal.sessionId);
    return true;
  }

  /** Names that make a password of this user easily guessed. */
  async #namesAround({ id, name }: User): Promise<string[]> {
    const { db } = this.#records;
    const memberships = await organizationMemberRows.ofUser(db, id);
    const ids = memberships.map(({ organizationId }) => organizationId);
    return [name, ...(await organizationRows.namesOf(db, ids)).values()];
  }

  /**
   * Creates a link and returns the mail with it; undefined when no user with a password has the
   * address.
   */
  async preparePasswordReset(
    email: string,
    publicUrl: string,
  ): Promise<PasswordResetMail | undefined> {
    const { db } = this.#records;
    const now = this.#now();
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
  async resetPassword(token: string, password: string): Promise<User> {
    const records = this.#records;
    const now = this.#now();
    if (token.length > tokenLengthMax) throw unknownReset();
    const hash = secretHash(token);
    const known = await userOfReset(records, hash, now);
    const names = await this.#namesAround(known);
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

  /**
   * `principal` is the one that the credential has now: for a session with every organization of its
   * user. Throws 401 for a user who is gone.
   */
  async caller(principal: Principal) {
    const { db } = this.#records;
    const { kind, organizationId } = principal;
    const inOrganizations = principal.inOrganizations ?? new Map([[organizationId, principal]]);
    const account =
      kind === 'USER' ? await this.account(principal) : await credentialAccount(db, principal);
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

  /** `organizationId` is that of the session. Throws 401 for somebody who is gone. */
  async account({ id, organizationId }: { readonly id: string; readonly organizationId: string }) {
    const { db } = this.#records;
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

  /** What a user or a credential stores for a console, visible only to its owner; empty for one who has stored nothing (contract 37). */
  preferences({ id }: { readonly id: string }): Promise<JsonObject> {
    return preferenceRows.find(this.#records.db, id);
  }

  /** Replaces all of them; returns what is stored now. */
  async replacePreferences(
    { id }: { readonly id: string },
    preferences: JsonObject,
  ): Promise<JsonObject> {
    await preferenceRows.save(this.#records.db, { ownerId: id, preferences }, this.#now());
    return preferences;
  }
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
