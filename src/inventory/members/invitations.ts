// Invitations: a link whose secret lets one user become a member, once and within a week (contract 35).
import { randomBytes } from 'node:crypto';
import { newId } from '../../model/ids.ts';
import { dayMs } from '../../model/instant.ts';
import { problem } from '../../model/problem.ts';
import type { Invitation, User } from '../../model/user.ts';
import type { Records } from '../../storage/records/records.ts';
import {
  findOrganizationMember,
  saveOrganizationMember,
} from '../../storage/records/rows/members.ts';
import { organizationRows } from '../../storage/records/rows/organizations.ts';
import {
  findInvitation,
  invitationRows,
  removeSecondFactorsOf,
  removeSessionsOf,
  replaceInvitation,
} from '../../storage/records/rows/sign-in.ts';
import { userRows } from '../../storage/records/rows/users.ts';
import { secretHash } from '../../storage/records/secret-encryption.ts';
import { change, found, type Step } from '../record-change.ts';

const tokenBytes = 32;
const tokenLengthMax = 100;
const lifetimeMs = 7 * dayMs;

/**
 * Two links of one invitation: the user of the mailed one reads the mail of the address, which
 * proves it.
 */
export interface InvitationLinks {
  /** Forwarded by the inviter. */
  readonly invitationUrl: string;
  /** Only in the mail; undefined when none is sent. */
  readonly mailedUrl: string | undefined;
}

/**
 * Creates an invitation and returns its links, which cannot be read again; those of an older one
 * stop working.
 */
export async function invite(
  step: Step,
  { organizationId, userId }: Pick<Invitation, 'organizationId' | 'userId'>,
  { publicUrl, byMail }: { readonly publicUrl: string; readonly byMail: boolean },
): Promise<InvitationLinks> {
  const now = step.now();
  const token = newToken();
  const mailedToken = byMail ? newToken() : null;
  await replaceInvitation(step.db, {
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
export async function invitationMail(
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
  const invitation = await findInvitation(records.db, hash, records.now());
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
  { invitation, user, proves }: Omit<OpenInvitation, 'organizationName'>,
  chosen: Pick<User, 'name' | 'passwordHash'> | undefined,
): Promise<User> {
  const now = records.now();
  const changes = { ...chosen, proven: user.proven || proves };
  const accepted: User = { ...user, ...changes, updated: now, version: user.version + 1 };
  await change(records, async (step) => {
    // The second of two concurrent requests finds nothing.
    const current = await findInvitation(step.db, invitation.tokenHash, now);
    if (current === undefined) throw unknownInvitation();
    const member = await findOrganizationMember(step.db, invitation.organizationId, user.id);
    if (member === undefined)
      throw new Error(`Invitation ${invitation.id} is open and its membership does not exist`);
    if (chosen !== undefined || accepted.proven !== user.proven)
      await userRows.save(step.db, accepted);
    await saveOrganizationMember(step.db, { ...member, acceptedAt: now });
    await invitationRows.remove(step.db, invitation.id);
    step.announce({ kind: 'member', id: member.id, userId: user.id, action: 'updated' });
    if (chosen === undefined) return;
    // They may be those of a person who took the address first.
    await removeSecondFactorsOf(step.db, user.id);
    for (const id of await removeSessionsOf(step.db, user.id))
      step.announce({ kind: 'session', id, action: 'deleted' });
  });
  return accepted;
}
