// Members of an organization and of its workspaces: invite, change the role, remove (contract 2).
import { newId } from '../../model/ids.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { OrganizationRole, WorkspaceRole } from '../../model/user.ts';
import type { Records } from '../../storage/records/records.ts';
import {
  findOrganizationMember,
  findWorkspaceMember,
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
import { change, found, type Step } from '../record-change.ts';
import { placeIn } from '../record-crud.ts';
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

interface MemberOfOrganization {
  readonly organizationId: string;
  readonly userId: string;
}

/**
 * Creates a membership that counts once the invitation is accepted; repeated before that, it renews
 * the invitation.
 */
export async function addOrganizationMember(
  records: Records,
  organizationId: string,
  { email, role }: { readonly email: string; readonly role: OrganizationRole },
  inviter: Inviter,
): Promise<InvitedMember> {
  const { principal } = inviter;
  assertRoleWithinOwn(principal, role);
  const added = await change(records, async (step) => {
    const user = await userOfAddress(step, email);
    const member = await pendingMember(step, principal, { organizationId, user, role });
    await saveOrganizationMember(step.db, member);
    const link = await renewedLink(step, inviter, member);
    const { name } = user;
    return { organizationId, link, member: memberView({ ...member, name, email: user.email }) };
  });
  return mailInvitation(records, added, inviter);
}

/**
 * A caller gives and takes only roles that may do no more than the caller; the last owner stays
 * one. A user who has not accepted gets a new link, because the holder of the old one may do less
 * than the new role.
 */
export async function changeOrganizationRole(
  records: Records,
  { organizationId, userId }: MemberOfOrganization,
  role: OrganizationRole,
  inviter: Inviter,
): Promise<InvitedMember> {
  const changed = await change(records, async (step) => {
    const current = await memberOf(step, { organizationId, userId });
    assertRoleWithinOwn(inviter.principal, current.role);
    assertRoleWithinOwn(inviter.principal, role);
    const member = { ...current, role };
    await saveOrganizationMember(step.db, member);
    if (current.role === 'OWNER' && role !== 'OWNER')
      await transferOwnership(step, organizationId, userId);
    step.announce({ kind: 'member', id: member.id, userId, action: 'updated' });
    const link = await renewedLink(step, inviter, member);
    return { organizationId, link, member: await readMemberView(step, member) };
  });
  return mailInvitation(records, changed, inviter);
}

/** Removes the roles in workspaces as well, and the user when it was the last membership. */
export async function deleteOrganizationMember(
  records: Records,
  principal: Principal,
  { organizationId, userId }: MemberOfOrganization,
): Promise<void> {
  await change(records, async (step) => {
    const member = await memberOf(step, { organizationId, userId });
    assertRoleWithinOwn(principal, member.role);
    await removeOrganizationMember(step.db, member);
    if (member.role === 'OWNER') await transferOwnership(step, organizationId, userId);
    step.announce({ kind: 'member', id: member.id, userId, action: 'deleted' });
    step.announce({ kind: 'user', id: userId, action: 'updated' });
    if ((await organizationMembershipsOf(step.db, userId)).length === 0)
      await userRows.remove(step.db, userId);
  });
}

async function memberOf(
  step: Step,
  { organizationId, userId }: MemberOfOrganization,
): Promise<OrganizationMember> {
  return found(await findOrganizationMember(step.db, organizationId, userId), 'member', userId);
}

/**
 * The organization names the owner who stayed longest after its owner has left. Throws 409 when no
 * owner remains.
 */
export async function transferOwnership(
  step: Step,
  organizationId: string,
  leavingUserId: string,
): Promise<void> {
  const [next] = await ownersOf(step.db, organizationId);
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

/**
 * A user who is new to the organization becomes a plain member of it as well; the role counts once
 * that is accepted.
 */
export async function addWorkspaceMember(
  records: Records,
  workspaceId: string,
  { email, role }: { readonly email: string; readonly role: WorkspaceRole },
  inviter: Inviter,
): Promise<InvitedMember> {
  const { principal } = inviter;
  refuseHigherWorkspaceRole(principal, workspaceId, role);
  const added = await change(records, async (step) => {
    const { organizationId } = await placeIn(step, workspaceId);
    const user = await userOfAddress(step, email);
    const inOrganization =
      (await findOrganizationMember(step.db, organizationId, user.id)) ??
      (await pendingMember(step, principal, { organizationId, user, role: 'MEMBER' }));
    if ((await findWorkspaceMember(step.db, workspaceId, user.id)) !== undefined)
      throw problem('alreadyMember', { email: user.email });
    const member = {
      id: newId('member'),
      workspaceId,
      userId: user.id,
      role,
      created: step.now(),
      acceptedAt: inOrganization.acceptedAt,
    };
    await insertWorkspaceMember(step.db, member);
    step.announce({ kind: 'member', id: member.id, userId: user.id, action: 'created' });
    const link = await renewedLink(step, inviter, inOrganization);
    const { name } = user;
    return { organizationId, link, member: memberView({ ...member, name, email: user.email }) };
  });
  return mailInvitation(records, added, inviter);
}

/** Throws 403 for a role, the present or the new one, that may do more than the caller. */
export async function changeWorkspaceRole(
  records: Records,
  { workspaceId, userId }: MemberOfWorkspace,
  role: WorkspaceRole,
  inviter: Inviter,
): Promise<InvitedMember> {
  const changed = await change(records, async (step) => {
    const current = await workspaceMemberOf(step, { workspaceId, userId });
    const { organizationId } = await placeIn(step, workspaceId);
    refuseHigherWorkspaceRole(inviter.principal, workspaceId, current.role);
    refuseHigherWorkspaceRole(inviter.principal, workspaceId, role);
    await saveWorkspaceRole(step.db, current.id, role);
    step.announce({ kind: 'member', id: current.id, userId, action: 'updated' });
    const known = await findOrganizationMember(step.db, organizationId, userId);
    const link = await renewedLink(step, inviter, found(known, 'member', userId));
    return { organizationId, link, member: await readMemberView(step, { ...current, role }) };
  });
  return mailInvitation(records, changed, inviter);
}

export async function deleteWorkspaceMember(
  records: Records,
  principal: Principal,
  { workspaceId, userId }: MemberOfWorkspace,
): Promise<void> {
  await change(records, async (step) => {
    const member = await workspaceMemberOf(step, { workspaceId, userId });
    refuseHigherWorkspaceRole(principal, workspaceId, member.role);
    await removeWorkspaceMember(step.db, member.id);
    step.announce({ kind: 'member', id: member.id, userId, action: 'deleted' });
  });
}

async function workspaceMemberOf(step: Step, { workspaceId, userId }: MemberOfWorkspace) {
  return found(await findWorkspaceMember(step.db, workspaceId, userId), 'member', userId);
}
