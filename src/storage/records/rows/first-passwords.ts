// First passwords in the records store: users whose password was generated, and shown in the log of the first start.
import type { RecordsDb } from '../records.ts';

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
