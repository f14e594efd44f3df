// Provider members: users of people whom the sign-in provider has proven, and the memberships that follow its groups.
import { newId } from '../../model/ids.ts';
import { problem } from '../../model/problem.ts';
import { everyGroup, type GroupRole, type ProvenPerson } from '../../model/sign-in-provider.ts';
import {
  type OrganizationRole,
  organizationRoles,
  type User,
  type WorkspaceRole,
  workspaceRoles,
} from '../../model/user.ts';
import { toFlag } from '../../storage/records/columns.ts';
import type { Records, RecordsDb } from '../../storage/records/records.ts';
import {
  findOrganizationMember,
  findWorkspaceMember,
  insertOrganizationMember,
  insertWorkspaceMember,
  type OrganizationMember,
  organizationMembershipsOf,
  ownersOf,
  removeOrganizationMember,
  removeWorkspaceMember,
  saveOrganizationMember,
  saveWorkspaceRole,
  userRows,
} from '../../storage/records/rows/users.ts';
import { organizationRows } from '../../storage/records/rows/workspaces.ts';
import { findPlace } from '../../storage/records/rows/search.ts';
import { removeSecondFactorsOf, sessionRows } from '../../storage/records/rows/sign-in.ts';
import { change, firstVersion, type Step } from '../record-change.ts';
import { transferOwnership } from './members.ts';

/** The user that the person already has; undefined at the first sign-in of a new one. */
export async function userOfPerson(
  { db }: Records,
  person: ProvenPerson,
): Promise<User | undefined> {
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
export async function admitPerson(
  records: Records,
  person: ProvenPerson,
  roles: readonly GroupRole[],
  newUserId: string,
): Promise<User> {
  const admitted = await change(records, async (step) => {
    const wanted = await existingPlaces(step, wantedRoles(roles, person.groups));
    const user = await linkedUser(step, person, wanted, newUserId);
    await giveOrganizations(step, user.id, wanted);
    await giveWorkspaces(step, user.id, wanted);
    await takeAway(step, user.id, wanted);
    if ((await organizationMembershipsOf(step.db, user.id)).length > 0) return user;
    step.announce({ kind: 'user', id: user.id, action: 'deleted' });
    await userRows.remove(step.db, user.id);
    return undefined;
  });
  // Thrown here, because an error inside would bring the memberships back.
  if (admitted === undefined) throw problem('noEntry');
  return admitted;
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
    const known = await findOrganizationMember(step.db, organizationId, userId);
    if (known === undefined) await joinOrganization(step, { organizationId, userId, role });
    else if (fromProvider.has(known.id) || known.acceptedAt === null)
      await keepInOrganization(step, known, role);
  }
}

async function joinOrganization(
  step: Step,
  joined: Pick<OrganizationMember, 'organizationId' | 'userId' | 'role'>,
): Promise<void> {
  const now = step.now();
  const member = { ...joined, id: newId('member'), created: now, acceptedAt: now };
  await insertOrganizationMember(step.db, member);
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
  await saveOrganizationMember(step.db, { id, role, acceptedAt: member.acceptedAt ?? step.now() });
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
  const owners = await ownersOf(step.db, organizationId);
  return owners.every((owner) => owner.userId === userId);
}

async function giveWorkspaces(step: Step, userId: string, wanted: Wanted): Promise<void> {
  const fromProvider = new Set((await workspacesFromProvider(step.db, userId)).map(({ id }) => id));
  for (const [workspaceId, role] of wanted.workspaces) {
    const known = await findWorkspaceMember(step.db, workspaceId, userId);
    if (known === undefined) {
      const now = step.now();
      const id = newId('member');
      const member = { id, workspaceId, userId, role, created: now, acceptedAt: now };
      await insertWorkspaceMember(step.db, member);
      await markFromProvider(step.db, 'workspaceMembers', id);
      step.announce({ kind: 'member', id, userId, action: 'created' });
    } else if (fromProvider.has(known.id) && known.role !== role) {
      await saveWorkspaceRole(step.db, known.id, role);
      step.announce({ kind: 'member', id: known.id, userId, action: 'updated' });
    }
  }
}

async function takeAway(step: Step, userId: string, wanted: Wanted): Promise<void> {
  for (const { id, workspaceId } of await workspacesFromProvider(step.db, userId)) {
    if (wanted.workspaces.has(workspaceId)) continue;
    await removeWorkspaceMember(step.db, id);
    step.announce({ kind: 'member', id, userId, action: 'deleted' });
  }
  for (const member of await organizationsFromProvider(step.db, userId)) {
    const { id, organizationId, role } = member;
    if (wanted.organizations.has(organizationId)) continue;
    if (await isLastOwner(step, member, undefined)) continue;
    await removeOrganizationMember(step.db, member);
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
