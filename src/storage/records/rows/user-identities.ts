// User identities in the records store: the users of people whom a provider has proven.
import type { EpochMs } from '../../../model/instant.ts';
import type { RecordsDb } from '../records.ts';

export interface UserIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly userId: string;
  readonly created: EpochMs;
}

export async function findIdentity(
  db: RecordsDb,
  { issuer, subject }: Pick<UserIdentity, 'issuer' | 'subject'>,
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

export async function removeIdentitiesOf(db: RecordsDb, userId: string): Promise<void> {
  await db.deleteFrom('userIdentities').where('userId', '=', userId).execute();
}
