// Console sessions, open invitations and password resets in the records store; all are found by the hash of a secret.
import type { EpochMs } from '../../../model/instant.ts';
import type { Invitation, PasswordReset, Session } from '../../../model/user.ts';
import type { RecordsDb } from '../records.ts';
import { transaction } from '../transaction.ts';

export async function insertSession(db: RecordsDb, session: Session): Promise<void> {
  await db.insertInto('sessions').values(session).execute();
}

export async function findSessionByTokenHash(
  db: RecordsDb,
  tokenHash: string,
): Promise<Session | undefined> {
  return db
    .selectFrom('sessions')
    .selectAll()
    .where('tokenHash', '=', tokenHash)
    .executeTakeFirst();
}

export async function findSession(db: RecordsDb, id: string): Promise<Session | undefined> {
  return db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function sessionsOf(db: RecordsDb, userId: string): Promise<Session[]> {
  return db
    .selectFrom('sessions')
    .selectAll()
    .where('userId', '=', userId)
    .orderBy('created')
    .execute();
}

export async function saveSessionOrganization(
  db: RecordsDb,
  id: string,
  organizationId: string,
): Promise<void> {
  await db.updateTable('sessions').set({ organizationId }).where('id', '=', id).execute();
}

/** Writes when sessions were last seen; those that ended meanwhile stay ended. */
export async function saveLastSeen(
  db: RecordsDb,
  seen: ReadonlyMap<string, EpochMs>,
): Promise<void> {
  await transaction(db, async (step) => {
    for (const [id, lastSeen] of seen)
      await step.db.updateTable('sessions').set({ lastSeen }).where('id', '=', id).execute();
  });
}

/** Ids of sessions that the provider began: one by its name there, or all of a user. */
export async function sessionsFromProvider(
  db: RecordsDb,
  of: { readonly userId: string | undefined; readonly providerSession: string | undefined },
): Promise<string[]> {
  let query = db.selectFrom('sessions').select('id').where('signInKind', '=', 'PROVIDER');
  if (of.userId !== undefined) query = query.where('userId', '=', of.userId);
  if (of.providerSession !== undefined)
    query = query.where('providerSession', '=', of.providerSession);
  return (await query.execute()).map(({ id }) => id);
}

export async function removeSession(db: RecordsDb, id: string): Promise<void> {
  await db.deleteFrom('sessions').where('id', '=', id).execute();
}

/** Ends every session of the user; returns their ids. */
export async function removeSessionsOf(db: RecordsDb, userId: string): Promise<string[]> {
  return (
    await db.deleteFrom('sessions').where('userId', '=', userId).returning('id').execute()
  ).map(({ id }) => id);
}

/** Ids of sessions that are over: past their end, or last seen at `seenBefore` or earlier. */
export async function endedSessions(
  db: RecordsDb,
  now: EpochMs,
  seenBefore: EpochMs,
): Promise<string[]> {
  const query = db
    .selectFrom('sessions')
    .select('id')
    .where((is) => is.or([is('expiresAt', '<=', now), is('lastSeen', '<=', seenBefore)]));
  return (await query.execute()).map(({ id }) => id);
}

/** Replaces an open invitation of the same user to the same organization. */
export async function replaceInvitation(db: RecordsDb, invitation: Invitation): Promise<void> {
  const { userId, organizationId } = invitation;
  await db
    .deleteFrom('invitations')
    .where('userId', '=', userId)
    .where('organizationId', '=', organizationId)
    .execute();
  await db.insertInto('invitations').values(invitation).execute();
}

/** By either link. */
export async function findInvitation(
  db: RecordsDb,
  tokenHash: string,
  now: EpochMs,
): Promise<Invitation | undefined> {
  const query = db
    .selectFrom('invitations')
    .selectAll()
    .where((is) => is.or([is('tokenHash', '=', tokenHash), is('mailedTokenHash', '=', tokenHash)]));
  return query.where('expiresAt', '>', now).executeTakeFirst();
}

export async function removeInvitation(db: RecordsDb, id: string): Promise<void> {
  await db.deleteFrom('invitations').where('id', '=', id).execute();
}

/** Replaces an open one of the same user. */
/** Links of one user that are valid at once: one that a stranger asks for ends no other. */
const passwordResetsMax = 5;

export async function addPasswordReset(db: RecordsDb, reset: PasswordReset): Promise<void> {
  const { userId, created } = reset;
  const of = db.selectFrom('passwordResets').where('userId', '=', userId);
  const known = await of.select(['tokenHash', 'expiresAt']).orderBy('created', 'desc').execute();
  const ended = known.filter((one, at) => one.expiresAt <= created || at >= passwordResetsMax - 1);
  for (const { tokenHash } of ended)
    await db.deleteFrom('passwordResets').where('tokenHash', '=', tokenHash).execute();
  await db.insertInto('passwordResets').values(reset).execute();
}

export async function findPasswordReset(
  db: RecordsDb,
  tokenHash: string,
  now: EpochMs,
): Promise<PasswordReset | undefined> {
  const query = db.selectFrom('passwordResets').selectAll().where('tokenHash', '=', tokenHash);
  return query.where('expiresAt', '>', now).executeTakeFirst();
}

export async function removePasswordResetsOf(db: RecordsDb, userId: string): Promise<void> {
  await db.deleteFrom('passwordResets').where('userId', '=', userId).execute();
}
