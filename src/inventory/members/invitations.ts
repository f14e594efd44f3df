// Invitations: a link whose secret lets one person become a member, once and for a week (contract 35).
import { randomBytes } from 'node:crypto';
import { newId } from '../../model/ids.ts';
import { problem } from '../../model/problem.ts';
import type { Invitation, User } from '../../model/user.ts';
import type { Records } from '../../records/records.ts';
import { findOrganizationMember, saveOrganizationMember } from '../../records/rows/members.ts';
import { findOrganization } from '../../records/rows/organizations.ts';
import { secretHash } from '../../records/secret-encryption.ts';
import {
  findInvitation,
  removeInvitation,
  removeSessionsOf,
  replaceInvitation,
} from '../../records/rows/sessions.ts';
import { findUser, saveUser } from '../../records/rows/users.ts';
import { change, found, type Step } from '../record-change.ts';
import { dayMs } from '../../model/instant.ts';

const tokenBytes = 32;
const tokenLengthMax = 100;
const lifetimeMs = 7 * dayMs;

/** Two links of one invitation: who opens the mailed one reads the mail of the invited address, which proves it. */
export interface InvitationLinks {
  /** Handed over by the inviter. */
  readonly invitationUrl: string;
  /** Only ever in the mail; undefined when none is sent. */
  readonly mailedUrl: string | undefined;
}

/** Makes an invitation and returns its links, which cannot be read again; those of an older one stop working. */
export async function invite(
  step: Step,
  { organizationId, userId }: Pick<Invitation, 'organizationId' | 'userId'>,
  {
    publicUrl,
    now,
    byMail,
  }: { readonly publicUrl: string; readonly now: number; readonly byMail: boolean },
): Promise<InvitationLinks> {
  const token = newToken();
  const mailedToken = byMail ? newToken() : undefined;
  await replaceInvitation(step.db, {
    organizationId,
    userId,
    id: newId('invitation'),
    tokenHash: secretHash(token),
    mailedTokenHash: mailedToken === undefined ? null : secretHash(mailedToken),
    created: now,
    expiresAt: now + lifetimeMs,
  });
  const urlOf = (secret: string) => `${publicUrl}/invitations/${secret}`;
  return { invitationUrl: urlOf(token), mailedUrl: mailedToken && urlOf(mailedToken) };
}

function newToken(): string {
  return randomBytes(tokenBytes).toString('base64url');
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
  const { name } = found(
    await findOrganization(records.db, organizationId),
    'organization',
    organizationId,
  );
  return {
    to: email,
    subject: `Invitation to ${name}`,
    text: [
      `You are invited to ${name} on Heliograph.`,
      `To accept, open this link within ${lifetimeMs / dayMs} days; it works once:`,
      url,
      'If you did not expect this, nothing happens unless you accept.',
    ].join('\n\n'),
  };
}

export interface OpenInvitation {
  readonly invitation: Invitation;
  readonly user: User;
  readonly organizationName: string;
  /** Whether the link came by mail, so that its holder owns the address. */
  readonly proves: boolean;
}

/** Throws 404 for an invitation that is unknown, used up or too old. */
export async function findOpenInvitation(
  records: Records,
  token: string,
  now: number,
): Promise<OpenInvitation> {
  const hash = token.length > tokenLengthMax ? '' : secretHash(token);
  const invitation = await findInvitation(records.db, hash, now);
  // The token is a secret, so the refusal does not repeat it.
  if (invitation === undefined)
    throw problem('notFound', { what: 'open invitation', id: 'that was sent' });
  const { userId, organizationId } = invitation;
  const user = found(await findUser(records.db, userId), 'user', userId);
  const { name } = found(
    await findOrganization(records.db, organizationId),
    'organization',
    organizationId,
  );
  return { invitation, user, organizationName: name, proves: invitation.mailedTokenHash === hash };
}

/**
 * Whether the person chooses a name and a password. An account whose address nobody proved may have been made by somebody else, so
 * the one who owns the address takes it over.
 */
export function choosesPassword({
  user,
  proves,
}: Pick<OpenInvitation, 'user' | 'proves'>): boolean {
  return user.passwordHash === null || (proves && !user.proven);
}

/**
 * The membership counts from now on. `chosen` is the name and password hash of somebody who chooses them; others keep theirs. Ends
 * every session that began with an older password.
 */
export async function acceptInvitation(
  records: Records,
  { invitation, user, proves }: Omit<OpenInvitation, 'organizationName'>,
  chosen: Pick<User, 'name' | 'passwordHash'> | undefined,
  now: number,
): Promise<User> {
  const changes = { ...chosen, proven: user.proven || proves };
  const accepted: User = { ...user, ...changes, updated: now, version: user.version + 1 };
  await change(records, async (step) => {
    // Of two that accept at once, the second finds nothing.
    const current = await findInvitation(step.db, invitation.tokenHash, now);
    if (current === undefined)
      throw problem('notFound', { what: 'open invitation', id: 'that was sent' });
    const member = await findOrganizationMember(step.db, invitation.organizationId, user.id);
    if (member === undefined)
      throw new Error(`Invitation ${invitation.id} is open and its membership is gone`);
    if (chosen !== undefined || accepted.proven !== user.proven) await saveUser(step.db, accepted);
    await saveOrganizationMember(step.db, { ...member, acceptedAt: now });
    await removeInvitation(step.db, invitation.id);
    step.announce({ kind: 'member', id: member.id, action: 'updated' });
    if (chosen === undefined) return;
    for (const id of await removeSessionsOf(step.db, user.id))
      step.announce({ kind: 'session', id, action: 'deleted' });
  });
  return accepted;
}
