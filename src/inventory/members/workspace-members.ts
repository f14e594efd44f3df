// Workspace members: give a role in one workspace, change it, take it away (contract 2).
import { newId } from '../../model/ids.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { WorkspaceRole } from '../../model/user.ts';
import type { Records } from '../../storage/records/records.ts';
import {
  findOrganizationMember,
  findWorkspaceMember,
  insertWorkspaceMember,
  removeWorkspaceMember,
  saveWorkspaceRole,
} from '../../storage/records/rows/members.ts';
import { change, found, type Step } from '../record-change.ts';
import { placeIn } from '../record-crud.ts';
import { refuseHigherWorkspaceRole } from './grant-limit.ts';
import {
  type InvitedMember,
  type Inviter,
  mailInvitation,
  pendingMember,
  renewedLink,
  userOfAddress,
} from './member-invitations.ts';
import { memberView, readMemberView } from './member-view.ts';

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
    const current = await memberOf(step, { workspaceId, userId });
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
    const member = await memberOf(step, { workspaceId, userId });
    refuseHigherWorkspaceRole(principal, workspaceId, member.role);
    await removeWorkspaceMember(step.db, member.id);
    step.announce({ kind: 'member', id: member.id, userId, action: 'deleted' });
  });
}

async function memberOf(step: Step, { workspaceId, userId }: MemberOfWorkspace) {
  return found(await findWorkspaceMember(step.db, workspaceId, userId), 'member', userId);
}
