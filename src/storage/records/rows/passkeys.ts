// Passkeys in the records store: public keys whose private parts never leave the devices of users.
import type { Selectable } from 'kysely';
import type { Passkey } from '../../../model/passkey.ts';
import { fromJsonText, toJsonText } from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';

type Row = Selectable<RecordTables['passkeys']>;

function fromRow(row: Row): Passkey {
  return { ...row, transports: fromJsonText<readonly string[]>(row.transports) };
}

export async function insertPasskey(db: RecordsDb, passkey: Passkey): Promise<void> {
  const row = { ...passkey, transports: toJsonText(passkey.transports) };
  await db.insertInto('passkeys').values(row).execute();
}

/** The oldest first. */
export async function passkeysOf(db: RecordsDb, userId: string): Promise<Passkey[]> {
  const query = db.selectFrom('passkeys').selectAll().where('userId', '=', userId);
  return (await query.orderBy('created').orderBy('id').execute()).map(fromRow);
}

/** `credentialId` as the browser names it. */
export async function findPasskey(
  db: RecordsDb,
  credentialId: string,
): Promise<Passkey | undefined> {
  const query = db.selectFrom('passkeys').selectAll().where('credentialId', '=', credentialId);
  const row = await query.executeTakeFirst();
  return row && fromRow(row);
}

/** False for one that is gone or belongs to another user. */
export async function renamePasskey(
  db: RecordsDb,
  { id, userId, name }: Pick<Passkey, 'id' | 'userId' | 'name'>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('passkeys')
    .set({ name })
    .where('id', '=', id)
    .where('userId', '=', userId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Uses up the challenges until this one. False when another request was first, or the passkey is
 * gone.
 */
export async function useChallenge(
  db: RecordsDb,
  { id, counter, lastChallenge }: Pick<Passkey, 'id' | 'counter' | 'lastChallenge'>,
  lastUsed: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('passkeys')
    .set({ counter, lastChallenge, lastUsed })
    .where('id', '=', id)
    .where('lastChallenge', '<', lastChallenge)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** False for one that is gone or belongs to another user. */
export async function removePasskey(
  db: RecordsDb,
  { id, userId }: Pick<Passkey, 'id' | 'userId'>,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('passkeys')
    .where('id', '=', id)
    .where('userId', '=', userId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function removePasskeysOf(db: RecordsDb, userId: string): Promise<void> {
  await db.deleteFrom('passkeys').where('userId', '=', userId).execute();
}
