// Members of organizations and workspaces: list, invite, change the role, remove (contract 2).
import { newId } from '../model/ids.ts';
import { formatInstant } from '../model/instant.ts';
import { type Page, type PageRequest, pageOf } from '../model/page.ts';
import { holds, type Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import { covers, organizationRolePermissions, workspaceRolePermissions } from '../model/role.ts';
import type { OrganizationRole, User, WorkspaceRole } from '../model/user.ts';
import type { Records } from '../store/records/database.ts';
import {
  findOrganizationMember,
  findWorkspaceMember,
  insertOrganizationMember,
  insertWorkspaceMember,
  listMembers as listRows,
  type MembersOf,
  type NamedMember,
  organizationMembershipsOf,
  type OrganizationMember,
  ownersOf,
  removeOrganizationMember,
  removeWorkspaceMember,
  saveOrganizationMember,
  saveWorkspaceRole,
} from '../store/records/members.ts';
import { findOrganization, saveOrganization } from '../store/records/organizations.ts';
import { findUser, findUserByEmail, insertUser, removeUser } from '../store/records/users.ts';
import { findWorkspace } from '../store/records/workspaces.ts';
import { change, firstVersion, found, type Step } from './change.ts';
import { type InvitationMail, invitationMail, invite } from './invitations.ts';

export interface MemberDraft<R> {
  readonly email: string;
  readonly role: R;
}

/** What an invitation needs to know besides the member. */
export interface InvitationParts {
  readonly publicUrl: string;
  readonly now: number;
  /** Sends it on without being waited for; undefined when the link in the answer is all there is. */
  readonly sendMail?: ((mail: InvitationMail) => void) | undefined;
}

// The name of somebody who has not accepted is not told: it could be that of a user of another organization.
function view(member: NamedMember) {
  const { id, userId, name, email, role, created, acceptedAt } = member;
  const pending = acceptedAt === null;
  return { id, userId, name: pending ? email : name, email, role, created: formatInstant(created), pending };
}

export async function listMembers(
  records: Records,
  of: MembersOf,
  page: PageRequest,
): Promise<Page<ReturnType<typeof view>>> {
  const { rows, total } = await listRows(records.db, of, page);
  return pageOf(rows.map(view), total, page);
}

/** Throws 403 for a role in the organization that may do what the principal may not. */
function refuseHigherRole(principal: Principal, role: OrganizationRole): void {
  const granted = principal.workspaces === 'all';
  const may = covers(
    (scope, verb) => granted && holds(principal, scope, verb, null),
    organizationRolePermissions[role],
  );
  if (!may) throw problem('roleTooHigh', { role });
}

function refuseHigherWorkspaceRole(principal: Principal, workspaceId: string, role: WorkspaceRole): void {
  const may = covers((scope, verb) => holds(principal, scope, verb, workspaceId), workspaceRolePermissions[role]);
  if (!may) throw problem('roleTooHigh', { role });
}

/** The user with this address, made without a password when there is none. */
async function userOf(step: Step, email: string, now: number): Promise<User> {
  const address = email.trim().toLowerCase();
  const known = await findUserByEmail(step.db, address);
  if (known !== undefined) return known;
  const user: User = { id: newId('user'), name: address, email: address, passwordHash: null, ...firstVersion(now) };
  await insertUser(step.db, user);
  return user;
}

/** Makes a membership that counts once the invitation is accepted; asked again meanwhile, there is a new invitation. */
export async function addOrganizationMember(
  records: Records,
  principal: Principal,
  organizationId: string,
  draft: MemberDraft<OrganizationRole>,
  { publicUrl, now, sendMail }: InvitationParts,
) {
  refuseHigherRole(principal, draft.role);
  const added = await change(records, async (step) => {
    const user = await userOf(step, draft.email, now);
    const member = await pendingMember(step, organizationId, user, draft.role, now);
    await saveOrganizationMember(step.db, member);
    const invitationUrl = await invite(step, { organizationId, userId: user.id }, publicUrl, now);
    return { ...view({ ...member, name: user.name, email: user.email }), invitationUrl };
  });
  // Only what is committed is told to anybody.
  sendMail?.(await invitationMail(records, organizationId, { email: added.email, url: added.invitationUrl }));
  return added;
}

/** Throws 409 for somebody who has accepted. */
async function pendingMember(
  step: Step,
  organizationId: string,
  user: User,
  role: OrganizationRole,
  now: number,
): Promise<OrganizationMember> {
  const known = await findOrganizationMember(step.db, organizationId, user.id);
  if (known !== undefined && known.acceptedAt !== null) throw problem('alreadyMember', { email: user.email });
  if (known !== undefined) {
    step.announce({ kind: 'member', id: known.id, action: 'updated' });
    return { ...known, role };
  }
  const member = { id: newId('member'), organizationId, userId: user.id, role, created: now, acceptedAt: null };
  await insertOrganizationMember(step.db, member);
  step.announce({ kind: 'member', id: member.id, action: 'created' });
  return member;
}

/** Somebody new to the organization becomes a plain member of it as well; the role counts once that is accepted. */
export async function addWorkspaceMember(
  records: Records,
  principal: Principal,
  workspaceId: string,
  draft: MemberDraft<WorkspaceRole>,
  { publicUrl, now, sendMail }: InvitationParts,
) {
  refuseHigherWorkspaceRole(principal, workspaceId, draft.role);
  const { organizationId } = found(await findWorkspace(records.db, workspaceId), 'workspace', workspaceId);
  const added = await change(records, async (step) => {
    found(await findWorkspace(step.db, workspaceId), 'workspace', workspaceId);
    const user = await userOf(step, draft.email, now);
    const known = await findOrganizationMember(step.db, organizationId, user.id);
    const ofOrganization = known ?? (await pendingMember(step, organizationId, user, 'MEMBER', now));
    if ((await findWorkspaceMember(step.db, workspaceId, user.id)) !== undefined) {
      throw problem('alreadyMember', { email: user.email });
    }
    const { acceptedAt } = ofOrganization;
    const member = { id: newId('member'), workspaceId, userId: user.id, role: draft.role, created: now, acceptedAt };
    await insertWorkspaceMember(step.db, member);
    step.announce({ kind: 'member', id: member.id, action: 'created' });
    const invitation = { organizationId, userId: user.id };
    const invitationUrl = acceptedAt === null ? await invite(step, invitation, publicUrl, now) : null;
    return { ...view({ ...member, name: user.name, email: user.email }), invitationUrl };
  });
  const { email, invitationUrl: url } = added;
  if (url !== null) sendMail?.(await invitationMail(records, organizationId, { email, url }));
  return added;
}

/** Nobody gives or takes a role that may do more than the giver; the last owner stays one. */
export async function changeOrganizationRole(
  records: Records,
  principal: Principal,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
  role: OrganizationRole,
) {
  return change(records, async (step) => {
    const member = found(await findOrganizationMember(step.db, organizationId, userId), 'member', userId);
    refuseHigherRole(principal, member.role);
    refuseHigherRole(principal, role);
    await saveOrganizationMember(step.db, { ...member, role });
    if (member.role === 'OWNER' && role !== 'OWNER') await passOnOwnership(step, organizationId, userId);
    step.announce({ kind: 'member', id: member.id, action: 'updated' });
    return memberView(step, { ...member, role });
  });
}

export async function changeWorkspaceRole(
  records: Records,
  principal: Principal,
  { workspaceId, userId }: { readonly workspaceId: string; readonly userId: string },
  role: WorkspaceRole,
) {
  return change(records, async (step) => {
    const member = found(await findWorkspaceMember(step.db, workspaceId, userId), 'member', userId);
    refuseHigherWorkspaceRole(principal, workspaceId, member.role);
    refuseHigherWorkspaceRole(principal, workspaceId, role);
    await saveWorkspaceRole(step.db, member.id, role);
    step.announce({ kind: 'member', id: member.id, action: 'updated' });
    return memberView(step, { ...member, role });
  });
}

/** With the roles in workspaces. Somebody who is a member of nothing any more is forgotten. */
export async function deleteOrganizationMember(
  records: Records,
  principal: Principal,
  organizationId: string,
  userId: string,
): Promise<void> {
  await change(records, async (step) => {
    const member = found(await findOrganizationMember(step.db, organizationId, userId), 'member', userId);
    refuseHigherRole(principal, member.role);
    await removeOrganizationMember(step.db, member);
    if (member.role === 'OWNER') await passOnOwnership(step, organizationId, userId);
    step.announce({ kind: 'member', id: member.id, action: 'deleted' });
    step.announce({ kind: 'user', id: userId, action: 'updated' });
    if ((await organizationMembershipsOf(step.db, userId)).length === 0) await removeUser(step.db, userId);
  });
}

export async function deleteWorkspaceMember(
  records: Records,
  principal: Principal,
  workspaceId: string,
  userId: string,
): Promise<void> {
  await change(records, async (step) => {
    const member = found(await findWorkspaceMember(step.db, workspaceId, userId), 'member', userId);
    refuseHigherWorkspaceRole(principal, workspaceId, member.role);
    await removeWorkspaceMember(step.db, member.id);
    step.announce({ kind: 'member', id: member.id, action: 'deleted' });
  });
}

/** When an owner goes, the one named in the organization is the one who stayed longest. Throws 409 when nobody is left. */
async function passOnOwnership(step: Step, organizationId: string, leavingUserId: string): Promise<void> {
  const [next] = await ownersOf(step.db, organizationId);
  if (next === undefined) throw problem('lastOwner');
  const organization = found(await findOrganization(step.db, organizationId), 'organization', organizationId);
  if (organization.ownerId !== leavingUserId) return;
  await saveOrganization(step.db, { ...organization, ownerId: next.userId });
  step.announce({ kind: 'organization', id: organizationId, action: 'updated' });
}

async function memberView(step: Step, member: Omit<NamedMember, 'name' | 'email'>) {
  const { name, email } = found(await findUser(step.db, member.userId), 'user', member.userId);
  return view({ ...member, name, email });
}
