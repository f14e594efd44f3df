// Organization members: invite, change the role, remove (contract 2).
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { OrganizationRole } from '../../model/user.ts';
import type { Records } from '../../storage/records/records.ts';
import {
  findOrganizationMember,
  type OrganizationMember,
  organizationMembershipsOf,
  ownersOf,
  removeOrganizationMember,
  saveOrganizationMember,
} from '../../storage/records/rows/members.ts';
import { findOrganization, saveOrganization } from '../../storage/records/rows/organizations.ts';
import { removeUser } from '../../storage/records/rows/users.ts';
import { change, found, type Step } from '../record-change.ts';
import { assertRoleWithinOwn } from './grant-limit.ts';
import {
  type InvitedMember,
  type Inviter,
  mailInvitation,
  pendingMember,
  renewedLink,
  userOfAddress,
} from './member-invitations.ts';
import { memberView, readMemberView } from './member-view.ts';

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
      await removeUser(step.db, userId);
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
  const known = await findOrganization(step.db, organizationId);
  const organization = found(known, 'organization', organizationId);
  if (organization.ownerId !== leavingUserId) return;
  await saveOrganization(step.db, { ...organization, ownerId: next.userId });
  step.announce({ kind: 'organization', id: organizationId, action: 'updated' });
}
