// Sign-in in the records store: sessions, mailed links, second factors and passkeys of users.
import type { Selectable } from 'kysely';
import type { EpochMs } from '../../../model/instant.ts';
import type { Passkey } from '../../../model/credential.ts';
import type { Invitation, PasswordReset, Session } from '../../../model/user.ts';
import { fromJsonText, isOneOf, toJsonText } from '../columns.ts';
import { type RecordsDb, transaction } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import { RecordRows } from './record-rows.ts';

class SessionRows extends RecordRows<'sessions', Session> {
  async byTokenHash(db: RecordsDb, tokenHash: string): Promise<Session | undefined> {
    return db
      .selectFrom('sessions')
      .selectAll()
      .where('tokenHash', '=', tokenHash)
      .executeTakeFirst();
  }

  async ofUser(db: RecordsDb, userId: string): Promise<Session[]> {
    return db
      .selectFrom('sessions')
      .selectAll()
      .where('userId', '=', userId)
      .orderBy('created')
      .execute();
  }

  async saveOrganization(db: RecordsDb, id: string, organizationId: string): Promise<void> {
    await db.updateTable('sessions').set({ organizationId }).where('id', '=', id).execute();
  }

  /** Writes when sessions were last seen; those that ended meanwhile stay ended. */
  async saveLastSeen(db: RecordsDb, seen: ReadonlyMap<string, EpochMs>): Promise<void> {
    await transaction(db, async (step) => {
      for (const [id, lastSeen] of seen)
        await step.db.updateTable('sessions').set({ lastSeen }).where('id', '=', id).execute();
    });
  }

  /** Ids of sessions that the provider began: one by its name there, or all of a user. */
  async fromProvider(
    db: RecordsDb,
    of: { readonly userId: string | undefined; readonly providerSession: string | undefined },
  ): Promise<string[]> {
    let query = db.selectFrom('sessions').select('id').where('signInKind', '=', 'PROVIDER');
    if (of.userId !== undefined) query = query.where('userId', '=', of.userId);
    if (of.providerSession !== undefined)
      query = query.where('providerSession', '=', of.providerSession);
    return (await query.execute()).map(({ id }) => id);
  }

  /** Ends every session of the user; returns their ids. */
  async removeOf(db: RecordsDb, userId: string): Promise<string[]> {
    return (
      await db.deleteFrom('sessions').where('userId', '=', userId).returning('id').execute()
    ).map(({ id }) => id);
  }

  /** Ids of sessions that are over: past their end, or last seen at `seenBefore` or earlier. */
  async ended(db: RecordsDb, now: EpochMs, seenBefore: EpochMs): Promise<string[]> {
    const query = db
      .selectFrom('sessions')
      .select('id')
      .where((is) => is.or([is('expiresAt', '<=', now), is('lastSeen', '<=', seenBefore)]));
    return (await query.execute()).map(({ id }) => id);
  }
}

export const sessionRows = new SessionRows(
  'sessions',
  (session) => session,
  (row) => row,
);

class InvitationRows extends RecordRows<'invitations', Invitation> {
  /** Replaces an open invitation of the same user to the same organization. */
  async replace(db: RecordsDb, invitation: Invitation): Promise<void> {
    const { userId, organizationId } = invitation;
    await db
      .deleteFrom('invitations')
      .where('userId', '=', userId)
      .where('organizationId', '=', organizationId)
      .execute();
    await this.insert(db, invitation);
  }

  /** By either link. */
  async findOpen(db: RecordsDb, tokenHash: string, now: EpochMs): Promise<Invitation | undefined> {
    const query = db
      .selectFrom('invitations')
      .selectAll()
      .where((is) =>
        is.or([is('tokenHash', '=', tokenHash), is('mailedTokenHash', '=', tokenHash)]),
      );
    return query.where('expiresAt', '>', now).executeTakeFirst();
  }
}

export const invitationRows = new InvitationRows(
  'invitations',
  (invitation) => invitation,
  (row) => row,
);

/** Links of one user that are valid at once: one that a stranger asks for ends no other. */
const passwordResetsMax = 5;

class PasswordResetRows {
  async add(db: RecordsDb, reset: PasswordReset): Promise<void> {
    const { userId, created } = reset;
    const of = db.selectFrom('passwordResets').where('userId', '=', userId);
    const known = await of.select(['tokenHash', 'expiresAt']).orderBy('created', 'desc').execute();
    const ended = known.filter(
      (one, at) => one.expiresAt <= created || at >= passwordResetsMax - 1,
    );
    for (const { tokenHash } of ended)
      await db.deleteFrom('passwordResets').where('tokenHash', '=', tokenHash).execute();
    await db.insertInto('passwordResets').values(reset).execute();
  }

  async find(db: RecordsDb, tokenHash: string, now: EpochMs): Promise<PasswordReset | undefined> {
    const query = db.selectFrom('passwordResets').selectAll().where('tokenHash', '=', tokenHash);
    return query.where('expiresAt', '>', now).executeTakeFirst();
  }

  async removeOf(db: RecordsDb, userId: string): Promise<void> {
    await db.deleteFrom('passwordResets').where('userId', '=', userId).execute();
  }
}

export const passwordResetRows = new PasswordResetRows();

// Second factors in the records store: authenticator apps and recovery codes of users.

/** An app that shows codes which change every 30 s. */
interface AuthenticatorApp {
  readonly userId: string;
  readonly sealedSecret: string;
  /** Null until the first code was right; it counts for nothing until then. */
  readonly confirmed: EpochMs | null;
  readonly lastStep: number;
  readonly created: EpochMs;
}

class AuthenticatorAppRows {
  async find(db: RecordsDb, userId: string): Promise<AuthenticatorApp | undefined> {
    const query = db.selectFrom('authenticatorApps').selectAll().where('userId', '=', userId);
    return query.executeTakeFirst();
  }

  /** Replaces one that was not confirmed. */
  async replace(db: RecordsDb, app: AuthenticatorApp): Promise<void> {
    const { userId } = app;
    await db
      .deleteFrom('authenticatorApps')
      .where('userId', '=', userId)
      .where('confirmed', 'is', null)
      .execute();
    await db.insertInto('authenticatorApps').values(app).execute();
  }

  async confirm(db: RecordsDb, userId: string, confirmed: EpochMs): Promise<void> {
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
  async useStep(db: RecordsDb, userId: string, step: number): Promise<boolean> {
    const query = db.updateTable('authenticatorApps').set({ lastStep: step });
    const { numUpdatedRows } = await query
      .where('userId', '=', userId)
      .where('lastStep', '<', step)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  async remove(db: RecordsDb, userId: string): Promise<void> {
    await db.deleteFrom('authenticatorApps').where('userId', '=', userId).execute();
  }
}

export const authenticatorAppRows = new AuthenticatorAppRows();

/** Whether the user has an app that counts, or a passkey. */
export async function hasSecondFactor(db: RecordsDb, userId: string): Promise<boolean> {
  const app = await authenticatorAppRows.find(db, userId);
  if (app !== undefined && app.confirmed !== null) return true;
  return (await passkeyRows.ofUser(db, userId)).length > 0;
}

class RecoveryCodeRows {
  async count(db: RecordsDb, userId: string): Promise<number> {
    const query = db.selectFrom('recoveryCodes').where('userId', '=', userId);
    const { count } = await query
      .select(({ fn }) => fn.countAll().as('count'))
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** The older ones stop working. */
  async replace(db: RecordsDb, userId: string, hashes: readonly string[]): Promise<void> {
    await this.removeOf(db, userId);
    const rows = hashes.map((codeHash) => ({ userId, codeHash }));
    await db.insertInto('recoveryCodes').values(rows).execute();
  }

  /** False for a code that is unknown or was used. */
  async use(db: RecordsDb, userId: string, codeHash: string): Promise<boolean> {
    const { numDeletedRows } = await db
      .deleteFrom('recoveryCodes')
      .where('userId', '=', userId)
      .where('codeHash', '=', codeHash)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  async removeOf(db: RecordsDb, userId: string): Promise<void> {
    await db.deleteFrom('recoveryCodes').where('userId', '=', userId).execute();
  }
}

export const recoveryCodeRows = new RecoveryCodeRows();

/** Removes everything that the user proves more than a password with. */
export async function removeSecondFactorsOf(db: RecordsDb, userId: string): Promise<void> {
  await authenticatorAppRows.remove(db, userId);
  await recoveryCodeRows.removeOf(db, userId);
  await passkeyRows.removeOf(db, userId);
}

// Passkeys in the records store: public keys whose private parts never leave the devices of users.

type Row = Selectable<RecordTables['passkeys']>;

function fromRow(row: Row): Passkey {
  return { ...row, transports: fromJsonText<readonly string[]>(row.transports) };
}

class PasskeyRows {
  async insert(db: RecordsDb, passkey: Passkey): Promise<void> {
    const row = { ...passkey, transports: toJsonText(passkey.transports) };
    await db.insertInto('passkeys').values(row).execute();
  }

  /** The oldest first. */
  async ofUser(db: RecordsDb, userId: string): Promise<Passkey[]> {
    const query = db.selectFrom('passkeys').selectAll().where('userId', '=', userId);
    return (await query.orderBy('created').orderBy('id').execute()).map(fromRow);
  }

  /** `credentialId` as the browser names it. */
  async find(db: RecordsDb, credentialId: string): Promise<Passkey | undefined> {
    const query = db.selectFrom('passkeys').selectAll().where('credentialId', '=', credentialId);
    const row = await query.executeTakeFirst();
    return row && fromRow(row);
  }

  /** False for one that is gone or belongs to another user. */
  async rename(
    db: RecordsDb,
    { id, userId, name }: { readonly id: string; readonly userId: string; readonly name: string },
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
  async useChallenge(
    db: RecordsDb,
    {
      id,
      counter,
      lastChallenge,
    }: { readonly id: string; readonly counter: number; readonly lastChallenge: EpochMs },
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
  async remove(
    db: RecordsDb,
    { id, userId }: { readonly id: string; readonly userId: string },
  ): Promise<boolean> {
    const { numDeletedRows } = await db
      .deleteFrom('passkeys')
      .where('id', '=', id)
      .where('userId', '=', userId)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  async removeOf(db: RecordsDb, userId: string): Promise<void> {
    await db.deleteFrom('passkeys').where('userId', '=', userId).execute();
  }
}

export const passkeyRows = new PasskeyRows();

// Second factor demands in the records store: organizations whose members must have a second factor.

class SecondFactorDemandRows {
  /** Those of the organizations that demand a second factor. */
  async among(db: RecordsDb, organizationIds: readonly string[]): Promise<Set<string>> {
    if (organizationIds.length === 0) return new Set();
    const query = db.selectFrom('secondFactorDemands').select('organizationId');
    const rows = await query.where(isOneOf('organizationId', organizationIds)).execute();
    return new Set(rows.map(({ organizationId }) => organizationId));
  }

  async has(db: RecordsDb, organizationId: string): Promise<boolean> {
    return (await this.among(db, [organizationId])).size > 0;
  }

  /** Calling it twice changes nothing more. */
  async save(db: RecordsDb, organizationId: string, required: boolean): Promise<void> {
    if (!required) {
      await db
        .deleteFrom('secondFactorDemands')
        .where('organizationId', '=', organizationId)
        .execute();
      return;
    }
    await db
      .insertInto('secondFactorDemands')
      .values({ organizationId })
      .onConflict((conflict) => conflict.column('organizationId').doNothing())
      .execute();
  }
}

export const secondFactorDemandRows = new SecondFactorDemandRows();
