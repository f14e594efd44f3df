// Password reset: a mailed link sets a new password, proves the address and ends every session of the user (contract 36, 42).
import { randomBytes } from 'node:crypto';
import { emailAddressOf } from '../model/email-address.ts';
import { type EpochMs, hourMs, minuteMs } from '../model/instant.ts';
import { problem } from '../model/problem.ts';
import type { User } from '../model/user.ts';
import type { Records } from '../storage/records/records.ts';
import {
  addPasswordReset,
  findPasswordReset,
  hasSecondFactor,
  removePasswordResetsOf,
  removeSessionsOf,
} from '../storage/records/rows/sign-in.ts';
import { findUserByEmail, forgetFirstPassword, userRows } from '../storage/records/rows/users.ts';
import { secretHash } from '../storage/records/secret-encryption.ts';
import { announceAfterCommit, transaction } from '../storage/records/transaction.ts';
import { newPasswordHash } from './password.ts';
import { namesAround } from './sign-in.ts';

const tokenBytes = 32;
const tokenLengthMax = 100;
const lifetimeMs = hourMs;

export interface PasswordResetMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/**
 * Creates a link and returns the mail with it; undefined when no user with a password has the
 * address.
 */
export async function preparePasswordReset(
  { db }: Records,
  email: string,
  { publicUrl, now }: { readonly publicUrl: string; readonly now: EpochMs },
): Promise<PasswordResetMail | undefined> {
  const user = await findUserByEmail(db, emailAddressOf(email));
  if (user === undefined || user.passwordHash === null) return undefined;
  const token = randomBytes(tokenBytes).toString('base64url');
  const reset = {
    tokenHash: secretHash(token),
    userId: user.id,
    created: now,
    expiresAt: now + lifetimeMs,
  };
  await transaction(db, (step) => addPasswordReset(step.db, reset));
  return {
    to: user.email,
    subject: 'Reset your Heliograph password',
    text: [
      'Someone, probably you, requested a password reset for this address.',
      `To choose a new password, open this link within ${lifetimeMs / minuteMs} minutes. It can be used once:`,
      `${publicUrl}/password-reset/${token}`,
      'If you did not request this, ignore this email. Your password stays the same.',
    ].join('\n\n'),
  };
}

/**
 * Sets the password and ends every session. Second factors stay: the mailbox alone is one factor
 * (contract 42). Throws 404 for a link that is unknown, used or expired,
 * 400 for a weak password.
 */
export async function resetPassword(
  records: Records,
  token: string,
  password: string,
  now: EpochMs,
): Promise<User> {
  if (token.length > tokenLengthMax) throw unknownReset();
  const hash = secretHash(token);
  const known = await userOfReset(records, hash, now);
  const names = await namesAround(records, known);
  const passwordHash = await newPasswordHash(password, known.email, names);
  return transaction(records.db, async (step) => {
    const { db } = step;
    // The second of two concurrent requests finds nothing.
    const user = await userOfReset({ db }, hash, now);
    const saved: User = {
      ...user,
      passwordHash,
      // A factor of a time without proof may be that of a person who took the address first. The
      // mailbox does not outweigh it, and the address counts as proven only without it.
      proven: user.proven || !(await hasSecondFactor(db, user.id)),
      updated: now,
      version: user.version + 1,
    };
    await userRows.save(db, saved);
    await removePasswordResetsOf(db, user.id);
    await forgetFirstPassword(db, user.id);
    const ended = await removeSessionsOf(db, user.id);
    await announceAfterCommit(step, records.announce, [
      ...ended.map((id) => ({ kind: 'session', id, action: 'deleted' }) as const),
      { kind: 'user', id: saved.id, action: 'updated' },
    ]);
    return saved;
  });
}

async function userOfReset({ db }: Pick<Records, 'db'>, hash: string, now: EpochMs): Promise<User> {
  const reset = await findPasswordReset(db, hash, now);
  const user = reset && (await userRows.find(db, reset.userId));
  if (user === undefined) throw unknownReset();
  return user;
}

/** The token is a secret, so the message does not repeat it. */
function unknownReset() {
  return problem('notFound', { what: 'password reset', id: 'with this token' });
}
