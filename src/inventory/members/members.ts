// Members of organizations and workspaces: list, invite, change the role, remove (contract 2).
import { newId } from '../../model/ids.ts';
import { formatInstant } from '../../model/instant.ts';
import { type Page, type PageRequest, pageOf } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { OrganizationRole, User, WorkspaceRole } from '../../model/user.ts';
import type { Records } from '../../records/records.ts';
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
} from '../../records/rows/members.ts';
import { findOrganization, saveOrganization } from '../../records/rows/organizations.ts';
import { findUser, findUserByEmail, insertUser, removeUser } from '../../records/rows/users.ts';
import { findWorkspace } from '../../records/rows/workspaces.ts';
import { change, firstVersion, found, type Step } from '../record-change.ts';
import {
  refuseHigherInvitation,
  refuseHigherRole,
  refuseHigherWorkspaceRole,
} from './grant-limit.ts';
import {
  type InvitationLinks,
  type InvitationMail,
  invitationMail,
  invite,
} from './invitations.ts';

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
  return {
    id,
    userId,
    name: pending ? email : name,
    email,
    role,
    created: formatInstant(created),
    pending,
  };
}

export async function listMembers(
  records: Records,
  of: MembersOf,
  page: PageRequest,
): Promise<Page<ReturnType<typeof view>>> {
  const { rows, total } = await listRows(records.db, of, page);
  return pageOf(rows.map(view), total, page);
}

/** The user with this address, made without a password when there is none. */
async function userOf(step: Step, email: string, now: number): Promise<User> {
  const address = email.trim().toLowerCase();
  const known = await findUserByEmail(step.db, address);
  if (known !== undefined) return known;
  const user: User = {
    id: newId('user'),
    name: address,
    email: address,
    passwordHash: null,
    proven: false,
    ...firstVersion(now),
  };
  await insertUser(step.db, user);
  return user;
}

/** Makes a membership that counts once the invitation is accepted; asked again meanwhile, there is a new invitation. */
export async function addOrganizationMember(
  records: Records,
  principal: Principal,
  organizationId: string,
  draft: MemberDraft<OrganizationRole>,
  parts: InvitationParts,
) {
  refuseHigherRole(principal, draft.role);
  const added = await change(records, async (step) => {
    const user = await userOf(step, draft.email, parts.now);
    const member = await pendingMember(
      step,
      principal,
      { organizationId, user, role: draft.role },
      parts.now,
    );
    await saveOrganizationMember(step.db, member);
    const link = await renewedLink(step, principal, member, parts);
    return { organizationId, link, shown: view({ ...member, name: user.name, email: user.email }) };
  });
  return told(records, added, parts);
}

/** Throws 409 for somebody who has accepted, and 403 for an open invitation to more than the caller holds. */
async function pendingMember(
  step: Step,
  principal: Principal,
  { organizationId, user, role }: { organizationId: string; user: User; role: OrganizationRole },
  now: number,
): Promise<OrganizationMember> {
  const known = await findOrganizationMember(step.db, organizationId, user.id);
  if (known !== undefined && known.acceptedAt !== null)
    throw problem('alreadyMember', { email: user.email });
  if (known !== undefined) {
    await refuseHigherInvitation(step, principal, known);
    step.announce({ kind: 'member', id: known.id, action: 'updated' });
    return { ...known, role };
  }
  const member = {
    id: newId('member'),
    organizationId,
    userId: user.id,
    role,
    created: now,
    acceptedAt: null,
  };
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
  parts: InvitationParts,
) {
  refuseHigherWorkspaceRole(principal, workspaceId, draft.role);
  const added = await change(records, async (step) => {
    const { organizationId } = found(
      await findWorkspace(step.db, workspaceId),
      'workspace',
      workspaceId,
    );
    const user = await userOf(step, draft.email, parts.now);
    const known = await findOrganizationMember(step.db, organizationId, user.id);
    const ofOrganization =
      known ??
      (await pendingMember(step, principal, { organizationId, user, role: 'MEMBER' }, parts.now));
    if ((await findWorkspaceMember(step.db, workspaceId, user.id)) !== undefined) {
      throw problem('alreadyMember', { email: user.email });
    }
    const { acceptedAt } = ofOrganization;
    const own = { workspaceId, userId: user.id, role: draft.role, created: parts.now, acceptedAt };
    const member = { id: newId('member'), ...own };
    await insertWorkspaceMember(step.db, member);
    step.announce({ kind: 'member', id: member.id, action: 'created' });
    const link = await renewedLink(step, principal, ofOrganization, parts);
    return { organizationId, link, shown: view({ ...member, name: user.name, email: user.email }) };
  });
  return told(records, added, parts);
}

/**
 * A caller gives and takes only roles that may do no more than the caller; the last owner stays one. Who has not accepted yet gets a
 * new link, because whoever holds the old one may do less than the new role.
 */
export async function changeOrganizationRole(
  records: Records,
  principal: Principal,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
  role: OrganizationRole,
  parts: InvitationParts,
) {
  const changed = await change(records, async (step) => {
    const member = found(
      await findOrganizationMember(step.db, organizationId, userId),
      'member',
      userId,
    );
    refuseHigherRole(principal, member.role);
    refuseHigherRole(principal, role);
    await saveOrganizationMember(step.db, { ...member, role });
    if (member.role === 'OWNER' && role !== 'OWNER')
      await passOnOwnership(step, organizationId, userId);
    step.announce({ kind: 'member', id: member.id, action: 'updated' });
    const link = await renewedLink(step, principal, { ...member, role }, parts);
    return { organizationId, link, shown: await memberView(step, { ...member, role }) };
  });
  return told(records, changed, parts);
}

export async function changeWorkspaceRole(
  records: Records,
  principal: Principal,
  { workspaceId, userId }: { readonly workspaceId: string; readonly userId: string },
  role: WorkspaceRole,
  parts: InvitationParts,
) {
  const changed = await change(records, async (step) => {
    const member = found(await findWorkspaceMember(step.db, workspaceId, userId), 'member', userId);
    const { organizationId } = found(
      await findWorkspace(step.db, workspaceId),
      'workspace',
      workspaceId,
    );
    refuseHigherWorkspaceRole(principal, workspaceId, member.role);
    refuseHigherWorkspaceRole(principal, workspaceId, role);
    await saveWorkspaceRole(step.db, member.id, role);
    step.announce({ kind: 'member', id: member.id, action: 'updated' });
    const ofOrganization = found(
      await findOrganizationMember(step.db, organizationId, userId),
      'member',
      userId,
    );
    const link = await renewedLink(step, principal, ofOrganization, parts);
    return { organizationId, link, shown: await memberView(step, { ...member, role }) };
  });
  return told(records, changed, parts);
}

/** A new invitation for somebody who has not accepted the last; undefined for a member. Throws 403 for one beyond the caller. */
async function renewedLink(
  step: Step,
  principal: Principal,
  member: OrganizationMember,
  { publicUrl, now, sendMail }: InvitationParts,
): Promise<InvitationLinks | undefined> {
  if (member.acceptedAt !== null) return undefined;
  await refuseHigherInvitation(step, principal, member);
  return invite(step, member, { publicUrl, now, byMail: sendMail !== undefined });
}

/** Mails a link that is committed, and answers the member with the link that the caller may hand over. */
async function told<M extends { readonly email: string }>(
  records: Records,
  done: {
    readonly organizationId: string;
    readonly link: InvitationLinks | undefined;
    readonly shown: M;
  },
  { sendMail }: InvitationParts,
): Promise<M & { readonly invitationUrl: string | null }> {
  const { organizationId, link, shown } = done;
  if (link?.mailedUrl !== undefined) {
    sendMail?.(
      await invitationMail(records, organizationId, { email: shown.email, url: link.mailedUrl }),
    );
  }
  return { ...shown, invitationUrl: link?.invitationUrl ?? null };
}

/** With the roles in workspaces. Somebody who is a member of nothing any more is forgotten. */
export async function deleteOrganizationMember(
  records: Records,
  principal: Principal,
  organizationId: string,
  userId: string,
): Promise<void> {
  await change(records, async (step) => {
    const member = found(
      await findOrganizationMember(step.db, organizationId, userId),
      'member',
      userId,
    );
    refuseHigherRole(principal, member.role);
    await removeOrganizationMember(step.db, member);
    if (member.role === 'OWNER') await passOnOwnership(step, organizationId, userId);
    step.announce({ kind: 'member', id: member.id, action: 'deleted' });
    step.announce({ kind: 'user', id: userId, action: 'updated' });
    if ((await organizationMembershipsOf(step.db, userId)).length === 0)
      await removeUser(step.db, userId);
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
async function passOnOwnership(
  step: Step,
  organizationId: string,
  leavingUserId: string,
): Promise<void> {
  const [next] = await ownersOf(step.db, organizationId);
  if (next === undefined) throw problem('lastOwner');
  const organization = found(
    await findOrganization(step.db, organizationId),
    'organization',
    organizationId,
  );
  if (organization.ownerId !== leavingUserId) return;
  await saveOrganization(step.db, { ...organization, ownerId: next.userId });
  step.announce({ kind: 'organization', id: organizationId, action: 'updated' });
}

async function memberView(step: Step, member: Omit<NamedMember, 'name' | 'email'>) {
  const { name, email } = found(await findUser(step.db, member.userId), 'user', member.userId);
  return view({ ...member, name, email });
}
