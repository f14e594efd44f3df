// Members of an organization and of its workspaces: role, second factor, removal, and those that the sign-in provider gives (contract 2).
import { newId } from '../../model/ids.ts';
import { type Actor, isClosed, type Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import {
  emailAddressOf,
  type GroupRole,
  type OrganizationRole,
  organizationRoles,
  type ProvenPerson,
  type User,
  type WorkspaceRole,
  workspaceRoles,
} from '../../model/user.ts';
import type { Records, RecordsDb } from '../../storage/records/records.ts';
import {
  type OrganizationMember,
  userRows,
  organizationMemberRows,
  workspaceMemberRows,
} from '../../storage/records/rows/users.ts';
import { organizationRows } from '../../storage/records/rows/workspaces.ts';
import { change, firstVersion, found, placeIn, type Step } from '../record-crud.ts';
import { assertRoleWithinOwn, refuseHigherWorkspaceRole } from './machine-credentials.ts';
import {
  type InvitedMember,
  type Inviter,
  mailInvitation,
  memberView,
  pendingMember,
  readMemberView,
  renewedLink,
  userOfAddress,
} from './invitations.ts';
import {
  hasSecondFactor,
  removeSecondFactorsOf,
  sessionRows,
  secondFactorDemandRows,
} from '../../storage/records/rows/sign-in.ts';
import { auditAction } from '../audit/audit.ts';
import { toFlag } from '../../storage/records/columns.ts';
import { findPlace } from '../../storage/records/rows/search.ts';

/** The group of every person who may sign in. */
const everyGroup = '*';

interface MemberOfOrganization {
  readonly organizationId: string;
  readonly userId: string;
}

/** Memberships of organizations (contract 2). */
export class OrganizationMembers {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /**
   * Creates a membership that counts once the invitation is accepted; repeated before that, it renews
   * the invitation.
   */
  async add(
    organizationId: string,
    { email, role }: { readonly email: string; readonly role: OrganizationRole },
    inviter: Inviter,
  ): Promise<InvitedMember> {
    const { principal } = inviter;
    assertRoleWithinOwn(principal, role);
    const added = await change(this.#records, async (step) => {
      const user = await userOfAddress(step, email);
      const member = await pendingMember(step, principal, { organizationId, user, role });
      await organizationMemberRows.save(step.db, member);
      const link = await renewedLink(step, inviter, member);
      const { name } = user;
      return { organizationId, link, member: memberView({ ...member, name, email: user.email }) };
    });
    return mailInvitation(this.#records, added, inviter);
  }

  /**
   * A caller gives and takes only roles that may do no more than the caller; the last owner stays
   * one. A user who has not accepted gets a new link, because the holder of the old one may do less
   * than the new role.
   */
  async changeRole(
    { organizationId, userId }: MemberOfOrganization,
    role: OrganizationRole,
    inviter: Inviter,
  ): Promise<InvitedMember> {
    const changed = await change(this.#records, async (step) => {
      const current = await memberOf(step, { organizationId, userId });
      assertRoleWithinOwn(inviter.principal, current.role);
      assertRoleWithinOwn(inviter.principal, role);
      const member = { ...current, role };
      await organizationMemberRows.save(step.db, member);
      if (current.role === 'OWNER' && role !== 'OWNER')
        await transferOwnership(step, organizationId, userId);
      step.announce({ kind: 'member', id: member.id, userId, action: 'updated' });
      const link = await renewedLink(step, inviter, member);
      return { organizationId, link, member: await readMemberView(step, member) };
    });
    return mailInvitation(this.#records, changed, inviter);
  }

  /** Removes the roles in workspaces as well, and the user when it was the last membership. */
  async remove(
    principal: Principal,
    { organizationId, userId }: MemberOfOrganization,
  ): Promise<void> {
    await change(this.#records, async (step) => {
      const member = await memberOf(step, { organizationId, userId });
      assertRoleWithinOwn(principal, member.role);
      await organizationMemberRows.remove(step.db, member);
      if (member.role === 'OWNER') await transferOwnership(step, organizationId, userId);
      step.announce({ kind: 'member', id: member.id, userId, action: 'deleted' });
      step.announce({ kind: 'user', id: userId, action: 'updated' });
      if ((await organizationMemberRows.ofUser(step.db, userId)).length === 0)
        await userRows.remove(step.db, userId);
    });
  }
}

async function memberOf(
  step: Step,
  { organizationId, userId }: MemberOfOrganization,
): Promise<OrganizationMember> {
  return found(
    await organizationMemberRows.find(step.db, organizationId, userId),
    'member',
    userId,
  );
}

/**
 * The organization names the owner who stayed longest after its owner has left. Throws 409 when no
 * owner remains.
 */
async function transferOwnership(
  step: Step,
  organizationId: string,
  leavingUserId: string,
): Promise<void> {
  const [next] = await organizationMemberRows.owners(step.db, organizationId);
  if (next === undefined) throw problem('lastOwner');
  const known = await organizationRows.find(step.db, organizationId);
  const organization = found(known, 'organization', organizationId);
  if (organization.ownerId !== leavingUserId) return;
  await organizationRows.save(step.db, { ...organization, ownerId: next.userId });
  step.announce({ kind: 'organization', id: organizationId, action: 'updated' });
}

// Workspace members: give a role in one workspace, change it, take it away (contract 2).

interface MemberOfWorkspace {
  readonly workspaceId: string;
  readonly userId: string;
}

/** Roles in single workspaces (contract 2). */
export class WorkspaceMembers {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /**
   * A user who is new to the organization becomes a plain member of it as well; the role counts once
   * that is accepted.
   */
  async add(
    workspaceId: string,
    { email, role }: { readonly email: string; readonly role: WorkspaceRole },
    inviter: Inviter,
  ): Promise<InvitedMember> {
    const { principal } = inviter;
    refuseHigherWorkspaceRole(principal, workspaceId, role);
    const added = await change(this.#records, async (step) => {
      const { organizationId } = await placeIn(step, workspaceId);
      const user = await userOfAddress(step, email);
      const inOrganization =
        (await organizationMemberRows.find(step.db, organizationId, user.id)) ??
        (await pendingMember(step, principal, { organizationId, user, role: 'MEMBER' }));
      if ((await workspaceMemberRows.find(step.db, workspaceId, user.id)) !== undefined)
        throw problem('alreadyMember', { email: user.email });
      const member = {
        id: newId('member'),
        workspaceId,
        userId: user.id,
        role,
        created: step.now(),
        acceptedAt: inOrganization.acceptedAt,
      };
      await workspaceMemberRows.insert(step.db, member);
      step.announce({ kind: 'member', id: member.id, userId: user.id, action: 'created' });
      const link = await renewedLink(step, inviter, inOrganization);
      const { name } = user;
      return { organizationId, link, member: memberView({ ...member, name, email: user.email }) };
    });
    return mailInvitation(this.#records, added, inviter);
  }

  /** Throws 403 for a role, the present or the new one, that may do more than the caller. */
  async changeRole(
    { workspaceId, userId }: MemberOfWorkspace,
    role: WorkspaceRole,
    inviter: Inviter,
  ): Promise<InvitedMember> {
    const changed = await change(this.#records, async (step) => {
      const current = await workspaceMemberOf(step, { workspaceId, userId });
      const { organizationId } = await placeIn(step, workspaceId);
      refuseHigherWorkspaceRole(inviter.principal, workspaceId, current.role);
      refuseHigherWorkspaceRole(inviter.principal, workspaceId, role);
      await workspaceMemberRows.saveRole(step.db, current.id, role);
      step.announce({ kind: 'member', id: current.id, userId, action: 'updated' });
      const known = await organizationMemberRows.find(step.db, organizationId, userId);
      const link = await renewedLink(step, inviter, found(known, 'member', userId));
      return { organizationId, link, member: await readMemberView(step, { ...current, role }) };
    });
    return mailInvitation(this.#records, changed, inviter);
  }

  async remove(principal: Principal, { workspaceId, userId }: MemberOfWorkspace): Promise<void> {
    await change(this.#records, async (step) => {
      const member = await workspaceMemberOf(step, { workspaceId, userId });
      refuseHigherWorkspaceRole(principal, workspaceId, member.role);
      await workspaceMemberRows.remove(step.db, member.id);
      step.announce({ kind: 'member', id: member.id, userId, action: 'deleted' });
    });
  }
}

async function workspaceMemberOf(step: Step, { workspaceId, userId }: MemberOfWorkspace) {
  return found(await workspaceMemberRows.find(step.db, workspaceId, userId), 'member', userId);
}

// Second factors of members: an organization demands them, and a member who lost every one starts again.

/** Second factors of members. */
export class MemberFactors {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /**
   * Removes app, passkeys and recovery codes of the member, and ends the member's sessions. Throws
   * 403 for the caller's own, for a role that may do more than the caller's, and for a member of an
   * organization where the caller cannot do the same: the account is one for all of them. Throws
   * 404 for a membership that is not accepted, because the user did not agree to it.
   */
  async reset(principal: Principal, organizationId: string, userId: string): Promise<void> {
    const actor = this.#records.actor();
    await change(this.#records, async (step) => {
      const { db } = step;
      const member = await organizationMemberRows.find(db, organizationId, userId);
      const accepted = member === undefined || member.acceptedAt === null ? undefined : member;
      const { role } = found(accepted, 'member', userId);
      if (userId === principal.id) throw problem('ownSecondFactorReset');
      assertRoleWithinOwn(principal, role);
      if (!(await mayResetEverywhere(db, principal, userId))) throw problem('memberElsewhere');
      const user = found(await userRows.find(db, userId), 'user', userId);
      await removeFactors(step, userId);
      if (actor !== undefined) await logReset(step, actor, { organizationId, user });
    });
  }

  /**
   * The same in the name of the operator, who may do it for every account: an only owner has no
   * other way back. Each organization of the user has it in its audit log. Undefined for an unknown
   * address.
   */
  async resetByOperator(email: string, operator: Actor): Promise<OperatorReset | undefined> {
    return change(this.#records, async (step) => {
      const user = await userRows.byEmail(step.db, emailAddressOf(email));
      if (user === undefined) return undefined;
      const hadFactor = await hasSecondFactor(step.db, user.id);
      const endedSessions = await removeFactors(step, user.id);
      const memberships = await organizationMemberRows.ofUser(step.db, user.id);
      for (const { organizationId } of memberships.filter(isAccepted))
        await logReset(step, operator, { organizationId, user });
      return { hadFactor, endedSessions };
    });
  }

  async readDemand(organizationId: string) {
    const { db } = this.#records;
    return { secondFactorRequired: await secondFactorDemandRows.has(db, organizationId) };
  }

  /**
   * Open sessions follow the change with their next request. Throws 409 for a caller who demands what
   * the caller does not have, and would be shut out.
   */
  async changeDemand(principal: Principal, organizationId: string, required: boolean) {
    return change(this.#records, async (step) => {
      if ((await secondFactorDemandRows.has(step.db, organizationId)) !== required) {
        if (required && !(await wouldStay(step.db, principal)))
          throw problem('ownSecondFactorMissing');
        await secondFactorDemandRows.save(step.db, organizationId, required);
        step.announce({ kind: 'organization', id: organizationId, action: 'updated' });
      }
      return { secondFactorRequired: required };
    });
  }
}

export interface OperatorReset {
  /** Whether the user had an authenticator app or a passkey. */
  readonly hadFactor: boolean;
  readonly endedSessions: number;
}

/** How many sessions it has ended. */
async function removeFactors(step: Step, userId: string): Promise<number> {
  await removeSecondFactorsOf(step.db, userId);
  const sessions = await sessionRows.removeOf(step.db, userId);
  for (const id of sessions) step.announce({ kind: 'session', id, action: 'deleted' });
  step.announce({ kind: 'user', id: userId, action: 'updated' });
  return sessions.length;
}

function logReset(
  step: Step,
  actor: Actor,
  about: { readonly organizationId: string; readonly user: User },
): Promise<void> {
  const changes = [{ field: 'secondFactors', secret: true }] as const;
  return auditAction(step, actor, { ...about, action: 'UPDATE', changes });
}

async function mayResetEverywhere(
  db: RecordsDb,
  principal: Principal,
  userId: string,
): Promise<boolean> {
  const own = new Map(
    (await organizationMemberRows.ofUser(db, principal.id))
      .filter(isAccepted)
      .filter(({ organizationId }) => !isClosed(principal, organizationId))
      .map(({ organizationId, role }) => [organizationId, role]),
  );
  const theirs = (await organizationMemberRows.ofUser(db, userId)).filter(isAccepted);
  return theirs.every(({ organizationId, role }) => mayReset(own.get(organizationId), role));
}

function isAccepted({ acceptedAt }: OrganizationMember): boolean {
  return acceptedAt !== null;
}

function mayReset(own: OrganizationRole | undefined, role: OrganizationRole): boolean {
  return own === 'OWNER' || (own === 'ADMIN' && role !== 'OWNER');
}

/** Whether the demand does not concern the caller: with a second factor, or signed in by the provider. */
async function wouldStay(db: RecordsDb, { id, sessionId }: Principal): Promise<boolean> {
  if (await hasSecondFactor(db, id)) return true;
  const session = sessionId === undefined ? undefined : await sessionRows.find(db, sessionId);
  return session?.signInKind === 'PROVIDER';
}

// Provider members: users of people whom the sign-in provider has proven, and the memberships that follow its groups.

/** Users of people whom the sign-in provider has proven. */
export class ProviderMembers {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /** The user that the person already has; undefined at the first sign-in of a new one. */
  async userOf(person: ProvenPerson): Promise<User | undefined> {
    const { db } = this.#records;
    const identity = await userRows.findIdentity(db, person);
    if (identity !== undefined) return userRows.find(db, identity.userId);
    return person.email === undefined ? undefined : userRows.byEmail(db, person.email);
  }

  /**
   * The user of the person, with the memberships that its groups give now: what the provider gave
   * before and no longer gives is taken away. What members gave by hand stays. `newUserId` is
   * that of a user who is created. Throws 403 for a person without an address, with the address of
   * another person, or with no membership.
   */
  async admit(person: ProvenPerson, roles: readonly GroupRole[], newUserId: string): Promise<User> {
    const admitted = await change(this.#records, async (step) => {
      const wanted = await existingPlaces(step, wantedRoles(roles, person.groups));
      const user = await linkedUser(step, person, wanted, newUserId);
      await giveOrganizations(step, user.id, wanted);
      await giveWorkspaces(step, user.id, wanted);
      await takeAway(step, user.id, wanted);
      if ((await organizationMemberRows.ofUser(step.db, user.id)).length > 0) return user;
      step.announce({ kind: 'user', id: user.id, action: 'deleted' });
      await userRows.remove(step.db, user.id);
      return undefined;
    });
    // Thrown here, because an error inside would bring the memberships back.
    if (admitted === undefined) throw problem('noEntry');
    return admitted;
  }
}

interface Wanted extends WantedRoles {
  /** The organization of each workspace. */
  readonly organizationOf: ReadonlyMap<string, string>;
}

/** Without the places that were deleted; a workspace makes its organization wanted too. */
async function existingPlaces(step: Step, given: WantedRoles): Promise<Wanted> {
  const organizations = new Map<string, OrganizationRole>();
  const workspaces = new Map<string, WorkspaceRole>();
  const organizationOf = new Map<string, string>();
  for (const [id, role] of given.organizations)
    if ((await organizationRows.find(step.db, id)) !== undefined) organizations.set(id, role);
  for (const [id, role] of given.workspaces) {
    const organizationId = (await findPlace(step.db, 'workspace', id))?.organizationId;
    if (organizationId === undefined || organizationId === null) continue;
    workspaces.set(id, role);
    organizationOf.set(id, organizationId);
    if (!organizations.has(organizationId)) organizations.set(organizationId, 'MEMBER');
  }
  return { organizations, workspaces, organizationOf };
}

/** By issuer and subject; the first time by the verified address. */
async function linkedUser(
  step: Step,
  person: ProvenPerson,
  wanted: Wanted,
  newUserId: string,
): Promise<User> {
  const { issuer, subject, email } = person;
  const identity = await userRows.findIdentity(step.db, person);
  const linked = identity && (await userRows.find(step.db, identity.userId));
  if (linked !== undefined) return linked;
  if (email === undefined) throw problem('emailNotVerified');
  const known = await userRows.byEmail(step.db, email);
  if (known === undefined && wanted.organizations.size === 0) throw problem('noEntry');
  if (known !== undefined && (await userRows.hasIdentityOf(step.db, known.id, issuer)))
    throw problem('emailTaken');
  const user = await (known === undefined
    ? createdUser(step, newUserId, { email, name: person.name })
    : provenUser(step, known));
  await userRows.insertIdentity(step.db, { issuer, subject, userId: user.id, created: step.now() });
  return user;
}

async function createdUser(
  step: Step,
  id: string,
  { email, name = email }: { readonly email: string; readonly name: string | undefined },
): Promise<User> {
  const secret = { passwordHash: null, proven: true };
  const user: User = { id, name, email, ...secret, ...firstVersion(step.now()) };
  await userRows.insert(step.db, user);
  return user;
}

/**
 * An account with an unproven address may be that of another person, so that its password and its
 * sessions end with the first sign-in of the owner of the address.
 */
async function provenUser(step: Step, user: User): Promise<User> {
  if (user.proven) return user;
  const { version } = user;
  const owned = { passwordHash: null, proven: true, updated: step.now(), version: version + 1 };
  const proven: User = { ...user, ...owned };
  await userRows.save(step.db, proven);
  await removeSecondFactorsOf(step.db, user.id);
  for (const id of await sessionRows.removeOf(step.db, user.id))
    step.announce({ kind: 'session', id, action: 'deleted' });
  return proven;
}

async function giveOrganizations(step: Step, userId: string, wanted: Wanted): Promise<void> {
  const fromProvider = new Set(
    (await organizationsFromProvider(step.db, userId)).map(({ id }) => id),
  );
  for (const [organizationId, role] of wanted.organizations) {
    const known = await organizationMemberRows.find(step.db, organizationId, userId);
    if (known === undefined) await joinOrganization(step, { organizationId, userId, role });
    else if (fromProvider.has(known.id) || known.acceptedAt === null)
      await keepInOrganization(step, known, role);
  }
}

async function joinOrganization(
  step: Step,
  joined: MemberOfOrganization & { readonly role: OrganizationRole },
): Promise<void> {
  const now = step.now();
  const member = { ...joined, id: newId('member'), created: now, acceptedAt: now };
  await organizationMemberRows.insert(step.db, member);
  await markFromProvider(step.db, 'organizationMembers', member.id);
  step.announce({ kind: 'member', id: member.id, userId: member.userId, action: 'created' });
}

/** An open invitation is accepted, with the role of the groups. */
async function keepInOrganization(
  step: Step,
  member: OrganizationMember,
  role: OrganizationRole,
): Promise<void> {
  const { id, userId, organizationId } = member;
  if (member.acceptedAt !== null && member.role === role) return;
  if (await isLastOwner(step, member, role)) return;
  await organizationMemberRows.save(step.db, {
    ...member,
    role,
    acceptedAt: member.acceptedAt ?? step.now(),
  });
  await markFromProvider(step.db, 'organizationMembers', id);
  if (member.role === 'OWNER' && role !== 'OWNER')
    await transferOwnership(step, organizationId, userId);
  step.announce({ kind: 'member', id, userId, action: 'updated' });
}

/** The last owner of an organization stays one: no other member could appoint one. */
async function isLastOwner(
  step: Step,
  { organizationId, userId, role }: OrganizationMember,
  next: OrganizationRole | undefined,
): Promise<boolean> {
  if (role !== 'OWNER' || next === 'OWNER') return false;
  const owners = await organizationMemberRows.owners(step.db, organizationId);
  return owners.every((owner) => owner.userId === userId);
}

async function giveWorkspaces(step: Step, userId: string, wanted: Wanted): Promise<void> {
  const fromProvider = new Set((await workspacesFromProvider(step.db, userId)).map(({ id }) => id));
  for (const [workspaceId, role] of wanted.workspaces) {
    const known = await workspaceMemberRows.find(step.db, workspaceId, userId);
    if (known === undefined) {
      const now = step.now();
      const id = newId('member');
      const member = { id, workspaceId, userId, role, created: now, acceptedAt: now };
      await workspaceMemberRows.insert(step.db, member);
      await markFromProvider(step.db, 'workspaceMembers', id);
      step.announce({ kind: 'member', id, userId, action: 'created' });
    } else if (fromProvider.has(known.id) && known.role !== role) {
      await workspaceMemberRows.saveRole(step.db, known.id, role);
      step.announce({ kind: 'member', id: known.id, userId, action: 'updated' });
    }
  }
}

async function takeAway(step: Step, userId: string, wanted: Wanted): Promise<void> {
  for (const { id, workspaceId } of await workspacesFromProvider(step.db, userId)) {
    if (wanted.workspaces.has(workspaceId)) continue;
    await workspaceMemberRows.remove(step.db, id);
    step.announce({ kind: 'member', id, userId, action: 'deleted' });
  }
  for (const member of await organizationsFromProvider(step.db, userId)) {
    const { id, organizationId, role } = member;
    if (wanted.organizations.has(organizationId)) continue;
    if (await isLastOwner(step, member, undefined)) continue;
    await organizationMemberRows.remove(step.db, member);
    if (role === 'OWNER') await transferOwnership(step, organizationId, userId);
    step.announce({ kind: 'member', id, userId, action: 'deleted' });
    step.announce({ kind: 'user', id: userId, action: 'updated' });
  }
}

// Memberships that the sign-in provider gave, which its groups change and take away.

async function organizationsFromProvider(
  db: RecordsDb,
  userId: string,
): Promise<OrganizationMember[]> {
  const query = db.selectFrom('organizationMembers').selectAll().where('userId', '=', userId);
  return (await query.where('fromProvider', '=', toFlag(true)).execute()) as OrganizationMember[];
}

async function workspacesFromProvider(
  db: RecordsDb,
  userId: string,
): Promise<{ readonly id: string; readonly workspaceId: string }[]> {
  const query = db
    .selectFrom('workspaceMembers')
    .select(['id', 'workspaceId'])
    .where('userId', '=', userId);
  return query.where('fromProvider', '=', toFlag(true)).execute();
}

/** The membership follows the groups of the provider from now on. */
async function markFromProvider(
  db: RecordsDb,
  table: 'organizationMembers' | 'workspaceMembers',
  id: string,
): Promise<void> {
  await db
    .updateTable(table)
    .set({ fromProvider: toFlag(true) })
    .where('id', '=', id)
    .execute();
}

// Group roles: the roles that the groups of a person give, the highest one in each place.

interface WantedRoles {
  readonly organizations: ReadonlyMap<string, OrganizationRole>;
  readonly workspaces: ReadonlyMap<string, WorkspaceRole>;
}

export function wantedRoles(roles: readonly GroupRole[], groups: readonly string[]): WantedRoles {
  const own = new Set([everyGroup, ...groups]);
  const organizations = new Map<string, OrganizationRole>();
  const workspaces = new Map<string, WorkspaceRole>();
  for (const given of roles.filter(({ group }) => own.has(group))) {
    if ('organizationId' in given)
      keepHigher(organizations, given.organizationId, [given.role, organizationRoles]);
    else keepHigher(workspaces, given.workspaceId, [given.role, workspaceRoles]);
  }
  return { organizations, workspaces };
}

/** Roles are listed with the highest first. */
function keepHigher<R extends string>(
  found: Map<string, R>,
  id: string,
  [role, order]: readonly [R, readonly R[]],
): void {
  const known = found.get(id);
  if (known === undefined || order.indexOf(role) < order.indexOf(known)) found.set(id, role);
}
