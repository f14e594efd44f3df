// Users in the records store. A user without a password has not accepted an invitation yet.
import type { Selectable } from 'kysely';
import type { User } from '../../../model/user.ts';
import { fromFlag, toFlag } from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { forgetFirstPassword } from './first-passwords.ts';
import { removePreferencesOf } from './preferences.ts';
import { removeSecondFactorsOf } from './second-factors.ts';
import { removeIdentitiesOf } from './user-identities.ts';
import { removePrivateViewsOf } from './views.ts';

// Represents no password: no hash has this form, so nothing can match it.
const noPassword = '!';

function toRow(user: User): Selectable<RecordTables['users']> {
  return { ...user, passwordHash: user.passwordHash ?? noPassword, proven: toFlag(user.proven) };
}

function fromRow(row: Selectable<RecordTables['users']>): User {
  const passwordHash = row.passwordHash === noPassword ? null : row.passwordHash;
  return { ...row, passwordHash, proven: fromFlag(row.proven) };
}

export async function insertUser(db: RecordsDb, user: User): Promise<void> {
  await db.insertInto('users').values(toRow(user)).execute();
}

export async function findUser(db: RecordsDb, id: string): Promise<User | undefined> {
  const row = await db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst();
  return row && fromRow(row);
}

/** `email` in lower case. */
export async function findUserByEmail(db: RecordsDb, email: string): Promise<User | undefined> {
  const row = await db
    .selectFrom('users')
    .selectAll()
    .where('email', '=', email)
    .executeTakeFirst();
  return row && fromRow(row);
}

export async function saveUser(db: RecordsDb, user: User): Promise<void> {
  await db.updateTable('users').set(toRow(user)).where('id', '=', user.id).execute();
}

/** Removes a user who is a member of nothing any more, with sessions and invitations. */
export async function removeUser(db: RecordsDb, id: string): Promise<void> {
  await db.deleteFrom('sessions').where('userId', '=', id).execute();
  await db.deleteFrom('invitations').where('userId', '=', id).execute();
  await db.deleteFrom('passwordResets').where('userId', '=', id).execute();
  await removeSecondFactorsOf(db, id);
  await forgetFirstPassword(db, id);
  await removeIdentitiesOf(db, id);
  await removePreferencesOf(db, id);
  await removePrivateViewsOf(db, id);
  await db.deleteFrom('users').where('id', '=', id).execute();
}
