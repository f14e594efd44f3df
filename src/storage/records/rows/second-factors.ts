// Second factors in the records store: authenticator apps and recovery codes of users.
import type { EpochMs } from '../../../model/instant.ts';
import type { RecordsDb } from '../records.ts';
import { passkeysOf, removePasskeysOf } from './passkeys.ts';

/** An app that shows codes which change every 30 s. */
export interface AuthenticatorApp {
  readonly userId: string;
  readonly sealedSecret: string;
  /** Null until the first code was right; it counts for nothing until then. */
  readonly confirmed: EpochMs | null;
  readonly lastStep: number;
  readonly created: EpochMs;
}

export async function findAuthenticatorApp(
  db: RecordsDb,
  userId: string,
): Promise<AuthenticatorApp | undefined> {
  const query = db.selectFrom('authenticatorApps').selectAll().where('userId', '=', userId);
  return query.executeTakeFirst();
}

/** Replaces one that was not confirmed. */
export async function replaceAuthenticatorApp(db: RecordsDb, app: AuthenticatorApp): Promise<void> {
  const { userId } = app;
  await db
    .deleteFrom('authenticatorApps')
    .where('userId', '=', userId)
    .where('confirmed', 'is', null)
    .execute();
  await db.insertInto('authenticatorApps').values(app).execute();
}

export async function confirmAuthenticatorApp(
  db: RecordsDb,
  userId: string,
  confirmed: EpochMs,
): Promise<void> {
  await db
    .updateTable('authenticatorApps')
    .set({ confirmed })
    .where('userId', '=', userId)
    .execute();
}

/**
 * Uses up the codes until this interval. False when another request was first, so that of two with
 * the same code one is refused.
 */
export async function useStep(db: RecordsDb, userId: string, step: number): Promise<boolean> {
  const query = db.updateTable('authenticatorApps').set({ lastStep: step });
  const { numUpdatedRows } = await query
    .where('userId', '=', userId)
    .where('lastStep', '<', step)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function removeAuthenticatorApp(db: RecordsDb, userId: string): Promise<void> {
  await db.deleteFrom('authenticatorApps').where('userId', '=', userId).execute();
}

/** Whether the user has an app that counts, or a passkey. */
export async function hasSecondFactor(db: RecordsDb, userId: string): Promise<boolean> {
  const app = await findAuthenticatorApp(db, userId);
  if (app !== undefined && app.confirmed !== null) return true;
  return (await passkeysOf(db, userId)).length > 0;
}

export async function countRecoveryCodes(db: RecordsDb, userId: string): Promise<number> {
  const query = db.selectFrom('recoveryCodes').where('userId', '=', userId);
  const { count } = await query
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The older ones stop working. */
export async function replaceRecoveryCodes(
  db: RecordsDb,
  userId: string,
  hashes: readonly string[],
): Promise<void> {
  await removeRecoveryCodes(db, userId);
  const rows = hashes.map((codeHash) => ({ userId, codeHash }));
  await db.insertInto('recoveryCodes').values(rows).execute();
}

/** False for a code that is unknown or was used. */
export async function useRecoveryCode(
  db: RecordsDb,
  userId: string,
  codeHash: string,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('recoveryCodes')
    .where('userId', '=', userId)
    .where('codeHash', '=', codeHash)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function removeRecoveryCodes(db: RecordsDb, userId: string): Promise<void> {
  await db.deleteFrom('recoveryCodes').where('userId', '=', userId).execute();
}

/** Removes everything that the user proves more than a password with. */
export async function removeSecondFactorsOf(db: RecordsDb, userId: string): Promise<void> {
  await removeAuthenticatorApp(db, userId);
  await removeRecoveryCodes(db, userId);
  await removePasskeysOf(db, userId);
}
