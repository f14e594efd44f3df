// Users in the records store. A user without a password has not accepted an invitation, or signs in at a provider.
import type { Selectable } from 'kysely';
import type { EpochMs } from '../../../model/instant.ts';
import type { User } from '../../../model/user.ts';
import { fromFlag, toFlag } from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { RecordRows } from './record-rows.ts';
import { removeSecondFactorsOf } from './sign-in.ts';
import { removePreferencesOf, removePrivateViewsOf } from './views.ts';

// Represents no password: no hash has this form, so nothing can match it.
const noPassword = '!';

function toRow(user: User): Selectable<RecordTables['users']> {
  return { ...user, passwordHash: user.passwordHash ?? noPassword, proven: toFlag(user.proven) };
}

function fromRow(row: Selectable<RecordTables['users']>): User {
  const passwordHash = row.passwordHash === noPassword ? null : row.passwordHash;
  return { ...row, passwordHash, proven: fromFlag(row.proven) };
}

class UserRows extends RecordRows<'users', User> {
  /** Removes a user who is a member of nothing any more, with sessions and invitations. */
  override async remove(db: RecordsDb, id: string) {
    await db.deleteFrom('sessions').where('userId', '=', id).execute();
    await db.deleteFrom('invitations').where('userId', '=', id).execute();
    await db.deleteFrom('passwordResets').where('userId', '=', id).execute();
    await removeSecondFactorsOf(db, id);
    await forgetFirstPassword(db, id);
    await removeIdentitiesOf(db, id);
    await removePreferencesOf(db, id);
    await removePrivateViewsOf(db, id);
    await super.remove(db, id);
  }
}

export const userRows = new UserRows('users', toRow, fromRow);

/** `email` in lower case. */
export async function findUserByEmail(db: RecordsDb, email: string): Promise<User | undefined> {
  return userRows.first(db, userRows.select(db).where('email', '=', email));
}

// User identities in the records store: the users of people whom a provider has proven.

interface UserIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly userId: string;
  readonly created: EpochMs;
}

export async function findIdentity(
  db: RecordsDb,
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
): Promise<UserIdentity | undefined> {
  const query = db.selectFrom('userIdentities').selectAll().where('issuer', '=', issuer);
  return query.where('subject', '=', subject).executeTakeFirst();
}

export async function hasIdentityOf(
  db: RecordsDb,
  userId: string,
  issuer: string,
): Promise<boolean> {
  const query = db.selectFrom('userIdentities').select('userId').where('userId', '=', userId);
  return (await query.where('issuer', '=', issuer).executeTakeFirst()) !== undefined;
}

export async function insertIdentity(db: RecordsDb, identity: UserIdentity): Promise<void> {
  await db.insertInto('userIdentities').values(identity).execute();
}

async function removeIdentitiesOf(db: RecordsDb, userId: string): Promise<void> {
  await db.deleteFrom('userIdentities').where('userId', '=', userId).execute();
}

// First passwords in the records store: users whose password was generated, and shown in the log of the first start.

export async function insertFirstPassword(db: RecordsDb, userId: string): Promise<void> {
  await db.insertInto('firstPasswords').values({ userId }).execute();
}

/** Whether the user still has it. */
export async function hasFirstPassword(db: RecordsDb, userId: string): Promise<boolean> {
  const query = db.selectFrom('firstPasswords').select('userId').where('userId', '=', userId);
  return (await query.executeTakeFirst()) !== undefined;
}

export async function forgetFirstPassword(db: RecordsDb, userId: string): Promise<void> {
  await db.deleteFrom('firstPasswords').where('userId', '=', userId).execute();
}
