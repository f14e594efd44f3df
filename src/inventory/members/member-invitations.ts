// Member invitations: pending members, and the links and mails that they get (contract 2, 35, 36).
import { emailAddressOf } from '../../model/email-address.ts';
import { newId } from '../../model/ids.ts';
import { formatInstant } from '../../model/instant.ts';
import { type Page, pageOf, type PageRequest } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { OrganizationRole, User } from '../../model/user.ts';
import type { Records } from '../../storage/records/records.ts';
import {
  findOrganizationMember,
  insertOrganizationMember,
  listMembers as listRows,
  type MembersOf,
  type NamedMember,
  type OrganizationMember,
} from '../../storage/records/rows/members.ts';
import { findUserByEmail, userRows } from '../../storage/records/rows/users.ts';
import { firstVersion, found, type Step } from '../record-change.ts';
import { assertInvitationWithinOwn } from './grant.ts';
import {
  type InvitationLinks,
  type InvitationMail,
  invitationMail,
  invite,
} from './invitations.ts';

/** Who invites, and how. */
export interface Inviter {
  readonly principal: Principal;
  readonly publicUrl: string;
  /** Whether passwords count, which an invitation is accepted with. */
  readonly localSignIn: boolean;
  /** Sends the mail in the background; undefined when the answer is the only place of the link. */
  readonly sendMail?: ((mail: InvitationMail) => void) | undefined;
}

export interface InvitedMember extends MemberView {
  readonly invitationUrl: string | null;
}

/** The user with this address, created without a password when it is new. */
export async function userOfAddress(step: Step, email: string): Promise<User> {
  const address = emailAddressOf(email);
  const known = await findUserByEmail(step.db, address);
  if (known !== undefined) return known;
  const user: User = {
    id: newId('user'),
    name: address,
    email: address,
    passwordHash: null,
    proven: false,
    ...firstVersion(step.now()),
  };
  await userRows.insert(step.db, user);
  return user;
}

/**
 * Throws 409 for a user who has accepted, and 403 for an open invitation to more than the caller
 * may do.
 */
export async function pendingMember(
  step: Step,
  principal: Principal,
  {
    organizationId,
    user,
    role,
  }: { readonly organizationId: string; readonly user: User; readonly role: OrganizationRole },
): Promise<OrganizationMember> {
  const known = await findOrganizationMember(step.db, organizationId, user.id);
  if (known === undefined) return insertPendingMember(step, { organizationId, user, role });
  if (known.acceptedAt !== null) throw problem('alreadyMember', { email: user.email });
  await assertInvitationWithinOwn(step, principal, known);
  step.announce({ kind: 'member', id: known.id, userId: user.id, action: 'updated' });
  return { ...known, role };
}

async function insertPendingMember(
  step: Step,
  {
    organizationId,
    user,
    role,
  }: { readonly organizationId: string; readonly user: User; readonly role: OrganizationRole },
): Promise<OrganizationMember> {
  const member = {
    id: newId('member'),
    organizationId,
    userId: user.id,
    role,
    created: step.now(),
    acceptedAt: null,
  };
  await insertOrganizationMember(step.db, member);
  step.announce({ kind: 'member', id: member.id, userId: user.id, action: 'created' });
  return member;
}

/**
 * A new invitation for a user who has not accepted the last; undefined for a member. Throws 403 for
 * one beyond the caller.
 */
export async function renewedLink(
  step: Step,
  { principal, publicUrl, sendMail, localSignIn }: Inviter,
  member: OrganizationMember,
): Promise<InvitationLinks | undefined> {
  if (member.acceptedAt !== null) return undefined;
  if (!localSignIn) throw problem('invitationsOff');
  await assertInvitationWithinOwn(step, principal, member);
  return invite(step, member, { publicUrl, byMail: sendMail !== undefined });
}

/**
 * Mails a link that is committed, and returns the member with the link that the caller may forward.
 */
export async function mailInvitation(
  records: Records,
  {
    organizationId,
    link,
    member,
  }: {
    readonly organizationId: string;
    readonly link: InvitationLinks | undefined;
    readonly member: MemberView;
  },
  { sendMail }: Inviter,
): Promise<InvitedMember> {
  const { email } = member;
  if (link?.mailedUrl !== undefined && sendMail !== undefined)
    sendMail(await invitationMail(records, organizationId, { email, url: link.mailedUrl }));
  return { ...member, invitationUrl: link?.invitationUrl ?? null };
}

// Member view: members of an organization or a workspace as answers show them (contract 2).

type MemberView = ReturnType<typeof memberView>;

/**
 * Shows the name only after the invitation is accepted: before, it could be that of a user of
 * another organization.
 */
export function memberView(member: NamedMember) {
  const { id, userId, email, role, created, acceptedAt } = member;
  const pending = acceptedAt === null;
  const name = pending ? email : member.name;
  return { id, userId, name, email, role, created: formatInstant(created), pending };
}

/** Throws 404 for a member without a user. */
export async function readMemberView(
  step: Step,
  member: Omit<NamedMember, 'name' | 'email'>,
): Promise<MemberView> {
  const { name, email } = found(await userRows.find(step.db, member.userId), 'user', member.userId);
  return memberView({ ...member, name, email });
}

export async function listMembers(
  records: Records,
  within: MembersOf,
  page: PageRequest,
): Promise<Page<MemberView>> {
  const { rows, total } = await listRows(records.db, within, page);
  return pageOf(rows.map(memberView), total, page);
}
