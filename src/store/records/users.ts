// Users and their organization roles in the records store.
import type { OrganizationRole, User } from '../../model/user.ts';
import type { RecordsDb } from './database.ts';

export async function insertUser(db: RecordsDb, user: User): Promise<void> {
  await db.insertInto('users').values(user).execute();
}

export async function findUser(db: RecordsDb, id: string): Promise<User | undefined> {
  return db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function insertOrganizationMember(
  db: RecordsDb,
  member: { id: string; organizationId: string; userId: string; role: OrganizationRole; created: number },
): Promise<void> {
  await db.insertInto('organizationMembers').values(member).execute();
}
