// Invitations: a link whose secret lets one person become a member, once and for a week (contract 35).
import { randomBytes } from 'node:crypto';
import { newId } from '../model/ids.ts';
import { problem } from '../model/problem.ts';
import type { Invitation, User } from '../model/user.ts';
import type { Records } from '../store/records/database.ts';
import { findOrganizationMember, saveOrganizationMember } from '../store/records/members.ts';
import { findOrganization } from '../store/records/organizations.ts';
import { secretHash } from '../store/records/sealed-text.ts';
import { findInvitation, removeInvitation, replaceInvitation } from '../store/records/sessions.ts';
import { findUser, saveUser } from '../store/records/users.ts';
import { change, found, type Step } from './change.ts';

const tokenBytes = 32;
const tokenLengthMax = 100;
const lifetimeMs = 7 * 24 * 3_600_000;

/** Makes an invitation and returns its link, which cannot be read again; an older one of the user stops working. */
export async function invite(
  step: Step,
  whom: Pick<Invitation, 'organizationId' | 'userId'>,
  publicUrl: string,
  now: number,
): Promise<string> {
  const token = randomBytes(tokenBytes).toString('base64url');
  await replaceInvitation(step.db, {
    ...whom,
    id: newId('invitation'),
    tokenHash: secretHash(token),
    created: now,
    expiresAt: now + lifetimeMs,
  });
  return `${publicUrl}/invitations/${token}`;
}

export interface InvitationMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** What an invited person is sent; `url` is the link that `invite` made. */
export async function invitationMail(
  records: Records,
  organizationId: string,
  { email, url }: { readonly email: string; readonly url: string },
): Promise<InvitationMail> {
  const { name } = found(await findOrganization(records.db, organizationId), 'organization', organizationId);
  return {
    to: email,
    subject: `Invitation to ${name}`,
    text: [
      `You are invited to ${name} on Heliograph.`,
      `To accept, open this link within ${lifetimeMs / 86_400_000} days; it works once:`,
      url,
      'If you did not expect this, nothing happens unless you accept.',
    ].join('\n\n'),
  };
}

export interface OpenInvitation {
  readonly invitation: Invitation;
  readonly user: User;
  readonly organizationName: string;
}

/** Throws 404 for an invitation that is unknown, used up or too old. */
export async function findOpenInvitation(records: Records, token: string, now: number): Promise<OpenInvitation> {
  const hash = token.length > tokenLengthMax ? '' : secretHash(token);
  const invitation = await findInvitation(records.db, hash, now);
  // The token is a secret, so the refusal does not repeat it.
  if (invitation === undefined) throw problem('notFound', { what: 'open invitation', id: 'that was sent' });
  const { userId, organizationId } = invitation;
  const user = found(await findUser(records.db, userId), 'user', userId);
  const { name } = found(await findOrganization(records.db, organizationId), 'organization', organizationId);
  return { invitation, user, organizationName: name };
}

/**
 * The membership counts from now on. `chosen` is the name and password hash of somebody who had no password yet; others keep theirs.
 */
export async function acceptInvitation(
  records: Records,
  { invitation, user }: OpenInvitation,
  chosen: Pick<User, 'name' | 'passwordHash'> | undefined,
  now: number,
): Promise<User> {
  const accepted: User = chosen === undefined ? user : { ...user, ...chosen, updated: now, version: user.version + 1 };
  await change(records, async (step) => {
    // Of two that accept at once, the second finds nothing.
    const current = await findInvitation(step.db, invitation.tokenHash, now);
    if (current === undefined) throw problem('notFound', { what: 'open invitation', id: 'that was sent' });
    const member = await findOrganizationMember(step.db, invitation.organizationId, user.id);
    if (member === undefined) throw new Error(`Invitation ${invitation.id} is open and its membership is gone`);
    if (chosen !== undefined) await saveUser(step.db, accepted);
    await saveOrganizationMember(step.db, { ...member, acceptedAt: now });
    await removeInvitation(step.db, invitation.id);
    step.announce({ kind: 'member', id: member.id, action: 'updated' });
  });
  return accepted;
}
