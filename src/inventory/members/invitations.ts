// Invitations: pending members, and the links and mails that let one user become a member, once and within a week (contract 2, 35).
import { randomBytes } from 'node:crypto';
import { newId } from '../../model/ids.ts';
import { dayMs, formatInstant } from '../../model/instant.ts';
import { problem } from '../../model/problem.ts';
import {
  emailAddressOf,
  type Invitation,
  type Member,
  type OrganizationRole,
  type User,
  type WorkspaceRole,
} from '../../model/user.ts';
import type { Records } from '../../storage/records/records.ts';
import {
  listMembers as listRows,
  type MembersOf,
  type NamedMember,
  type OrganizationMember,
  userRows,
  organizationMemberRows,
} from '../../storage/records/rows/users.ts';
import { organizationRows } from '../../storage/records/rows/workspaces.ts';
import {
  invitationRows,
  removeSecondFactorsOf,
  sessionRows,
} from '../../storage/records/rows/sign-in.ts';
import { secretHash } from '../../storage/records/secret-encryption.ts';
import { change, firstVersion, found, type Step } from '../record-crud.ts';
import { type Page, pageOf, type PageRequest } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { assertInvitationWithinOwn } from './machine-credentials.ts';

const tokenBytes = 32;
const tokenLengthMax = 100;
const lifetimeMs = 7 * dayMs;

/**
 * Two links of one invitation: the user of the mailed one reads the mail of the address, which
 * proves it.
 */
interface InvitationLinks {
  /** Forwarded by the inviter. */
  readonly invitationUrl: string;
  /** Only in the mail; undefined when none is sent. */
  readonly mailedUrl: string | undefined;
}

/**
 * Creates an invitation and returns its links, which cannot be read again; those of an older one
 * stop working.
 */
async function invite(
  step: Step,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
  { publicUrl, byMail }: { readonly publicUrl: string; readonly byMail: boolean },
): Promise<InvitationLinks> {
  const now = step.now();
  const token = newToken();
  const mailedToken = byMail ? newToken() : null;
  await invitationRows.replace(step.db, {
    organizationId,
    userId,
    id: newId('invitation'),
    tokenHash: secretHash(token),
    mailedTokenHash: mailedToken && secretHash(mailedToken),
    created: now,
    expiresAt: now + lifetimeMs,
  });
  const urlOf = (secret: string) => `${publicUrl}/invitations/${secret}`;
  const mailedUrl = (mailedToken && urlOf(mailedToken)) ?? undefined;
  return { invitationUrl: urlOf(token), mailedUrl };
}

function newToken(): string {
  return randomBytes(tokenBytes).toString('base64url');
}

export interface InvitationMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** The mail to an invited user; `url` is a link of `invite`. */
async function invitationMail(
  records: Records,
  organizationId: string,
  { email, url }: { readonly email: string; readonly url: string },
): Promise<InvitationMail> {
  const { name } = found(
    await organizationRows.find(records.db, organizationId),
    'organization',
    organizationId,
  );
  return {
    to: email,
    subject: `You're invited to ${name}`,
    text: [
      `You have been invited to join ${name} on Heliograph.`,
      `To accept, open this link within ${lifetimeMs / dayMs} days. It can be used once:`,
      url,
      'If you did not expect this invitation, ignore this email.',
    ].join('\n\n'),
  };
}

export interface OpenInvitation {
  readonly invitation: Invitation;
  readonly user: User;
  readonly organizationName: string;
  /** Whether the link is the mailed one, so that its holder owns the address. */
  readonly proves: boolean;
}

/** Throws 404 for an invitation that is unknown, accepted or expired. */
export async function findOpenInvitation(records: Records, token: string): Promise<OpenInvitation> {
  if (token.length > tokenLengthMax) throw unknownInvitation();
  const hash = secretHash(token);
  const invitation = await invitationRows.findOpen(records.db, hash, records.now());
  if (invitation === undefined) throw unknownInvitation();
  const { userId, organizationId } = invitation;
  const user = found(await userRows.find(records.db, userId), 'user', userId);
  const { name } = found(
    await organizationRows.find(records.db, organizationId),
    'organization',
    organizationId,
  );
  return { invitation, user, organizationName: name, proves: invitation.mailedTokenHash === hash };
}

/** The token is a secret, so the message does not repeat it. */
function unknownInvitation() {
  return problem('notFound', { what: 'pending invitation', id: 'that was sent' });
}

/**
 * Whether the user chooses a name and a password. An account with an unproven address may be that
 * of another person, so the owner of the address takes it over. One with a proven address that has
 * no password signs in with the provider: a forwarded link must not give it a password.
 */
export function choosesPassword({ user, proves }: OpenInvitation): boolean {
  return !user.proven && (user.passwordHash === null || proves);
}

/**
 * The membership counts from now on. `chosen` is the name and password hash of a user who chooses
 * them; others keep theirs. Ends every session that began with an older password.
 */
export async function acceptInvitation(
  records: Records,
  { invitation, user, proves }: OpenInvitation,
  chosen: { readonly name: string; readonly passwordHash: string | null } | undefined,
): Promise<User> {
  const now = records.now();
  const changes = { ...chosen, proven: user.proven || proves };
  const accepted: User = { ...user, ...changes, updated: now, version: user.version + 1 };
  await change(records, async (step) => {
    // The second of two concurrent requests finds nothing.
    const current = await invitationRows.findOpen(step.db, invitation.tokenHash, now);
    if (current === undefined) throw unknownInvitation();
    const member = await organizationMemberRows.find(step.db, invitation.organizationId, user.id);
    if (member === undefined)
      throw new Error(`Invitation ${invitation.id} is open and its membership does not exist`);
    if (chosen !== undefined || accepted.proven !== user.proven)
      await userRows.save(step.db, accepted);
    await organizationMemberRows.save(step.db, { ...member, acceptedAt: now });
    await invitationRows.remove(step.db, invitation.id);
    step.announce({ kind: 'member', id: member.id, userId: user.id, action: 'updated' });
    if (chosen === undefined) return;
    // They may be those of a person who took the address first.
    await removeSecondFactorsOf(step.db, user.id);
    for (const id of await sessionRows.removeOf(step.db, user.id))
      step.announce({ kind: 'session', id, action: 'deleted' });
  });
  return accepted;
}

// Member invitations: pending members, and the links and mails that they get (contract 2, 35, 36).

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
  const known = await userRows.byEmail(step.db, address);
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
  const known = await organizationMemberRows.find(step.db, organizationId, user.id);
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
  await organizationMemberRows.insert(step.db, member);
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
  member: Member<OrganizationRole | WorkspaceRole>,
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
