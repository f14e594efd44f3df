// Second factor: what a user proves besides the password, how it is set up, checked and removed.
import { type EpochMs, formatInstant, minuteMs } from '../model/instant.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { Session, User } from '../model/user.ts';
import type { Records, RecordsDb } from '../storage/records/records.ts';
import {
  confirmAuthenticatorApp,
  countRecoveryCodes,
  findAuthenticatorApp,
  hasSecondFactor,
  passkeysOf,
  removeAuthenticatorApp,
  removeRecoveryCodes,
  replaceAuthenticatorApp,
  replaceRecoveryCodes,
  sessionsOf,
  useRecoveryCode,
  useStep,
} from '../storage/records/rows/sign-in.ts';
import { userRows } from '../storage/records/rows/users.ts';
import type { Sealer } from '../storage/records/secret-encryption.ts';
import {
  announceAfterCommit,
  transaction,
  type TransactionStep,
} from '../storage/records/transaction.ts';
import {
  codeAddress,
  newCodeSecret,
  newRecoveryCodes,
  recoveryCodeHash,
  stepOfCode,
} from './one-time-code.ts';
import { removeInStep } from './own-sessions.ts';
import { type Assertion, type RelyingParty, verifyPasskey } from './passkey-proof.ts';
import { isPassword } from './password.ts';
import { refuseWithoutSecondFactor } from './second-factor-demand.ts';

/** How a second factor was shown. */
export type SecondFactorKind = 'ONE_TIME_CODE' | 'PASSKEY' | 'RECOVERY_CODE';

/** The kinds of second factor that a user can show; empty for a user without one. */
export async function secondFactorsOf(db: RecordsDb, userId: string): Promise<SecondFactorKind[]> {
  const kinds: SecondFactorKind[] = [];
  const app = await findAuthenticatorApp(db, userId);
  if (app !== undefined && app.confirmed !== null) kinds.push('ONE_TIME_CODE');
  if ((await passkeysOf(db, userId)).length > 0) kinds.push('PASSKEY');
  if (kinds.length > 0 && (await countRecoveryCodes(db, userId)) > 0) kinds.push('RECOVERY_CODE');
  return kinds;
}

/** What the own account shows. */
export async function readSecondFactor(db: RecordsDb, { id }: Pick<Principal, 'id'>) {
  const app = await findAuthenticatorApp(db, id);
  const user = await userRows.find(db, id);
  const confirmed = app?.confirmed ?? null;
  return {
    available: user?.passwordHash !== undefined && user.passwordHash !== null,
    authenticatorApp: confirmed === null ? null : { created: formatInstant(confirmed) },
    recoveryCodes: await countRecoveryCodes(db, id),
  };
}

/**
 * The user, when the password is right; undefined for a wrong one. Throws 403 for an account
 * without a password: the provider asks for the second factor of such users.
 */
export async function userWithPassword(
  db: RecordsDb,
  userId: string,
  password: string,
): Promise<User | undefined> {
  const user = await userRows.find(db, userId);
  if (user === undefined) throw problem('unauthorized');
  if (user.passwordHash === null) throw problem('noPassword');
  return (await isPassword(password, user.passwordHash)) ? user : undefined;
}

/**
 * Creates the secret of an app, which counts once a code of it was right. Throws 409 for a user
 * with an app.
 */
export async function beginAuthenticatorApp(
  { db, sealer }: Pick<Records, 'db' | 'sealer'>,
  { id, email }: User,
  now: EpochMs,
): Promise<{ readonly secret: string; readonly address: string }> {
  const secret = newCodeSecret();
  const app = { userId: id, sealedSecret: sealer.seal(secret), confirmed: null, created: now };
  await transaction(db, async (step) => {
    const known = await findAuthenticatorApp(step.db, id);
    if (known !== undefined && known.confirmed !== null) throw problem('secondFactorExists');
    await replaceAuthenticatorApp(step.db, { ...app, lastStep: 0 });
  });
  return { secret, address: codeAddress(secret, email) };
}

/**
 * The app counts from now on. Other sessions of the user end if it is the first second factor,
 * because they began without one. Returns recovery codes, which cannot be read again, or an empty
 * list if the user has some; undefined for a wrong code. Throws 409 without an app that waits for its first
 * code.
 */
export async function confirmApp(
  records: Records,
  principal: Pick<Principal, 'id' | 'sessionId'>,
  code: string,
  now: EpochMs,
): Promise<string[] | undefined> {
  const { id } = principal;
  const app = await findAuthenticatorApp(records.db, id);
  if (app === undefined) throw problem('noSecondFactor', { what: 'authenticator app' });
  if (app.confirmed !== null) throw problem('secondFactorExists');
  const codeStep = stepOfCode(records.sealer.open(app.sealedSecret), code, {
    now,
    lastStep: app.lastStep,
  });
  if (codeStep === undefined) return undefined;
  return transaction(records.db, async (step) => {
    if (!(await useStep(step.db, id, codeStep))) throw problem('wrongCode');
    const recoveryCodes = await protect(step, records, principal);
    await confirmAuthenticatorApp(step.db, id, now);
    return recoveryCodes;
  });
}

/**
 * For a user who gets a second factor: ends the other sessions if it is the first one, and returns
 * recovery codes if the user has none.
 */
export async function protect(
  step: TransactionStep,
  records: Pick<Records, 'announce'>,
  principal: Pick<Principal, 'id' | 'sessionId'>,
): Promise<string[]> {
  const { id } = principal;
  if ((await secondFactorsOf(step.db, id)).length === 0)
    await endOtherSessions(step, records, principal);
  if ((await countRecoveryCodes(step.db, id)) > 0) return [];
  return newCodes(step.db, id);
}

async function newCodes(db: RecordsDb, userId: string): Promise<string[]> {
  const recoveryCodes = newRecoveryCodes();
  await replaceRecoveryCodes(db, userId, recoveryCodes.map(recoveryCodeHash));
  return recoveryCodes;
}

async function endOtherSessions(
  step: TransactionStep,
  { announce }: Pick<Records, 'announce'>,
  { id, sessionId }: Pick<Principal, 'id' | 'sessionId'>,
): Promise<void> {
  const others = (await sessionsOf(step.db, id)).filter((one: Session) => one.id !== sessionId);
  await removeInStep(
    step,
    announce,
    others.map((one) => one.id),
  );
  await announceAfterCommit(step, announce, [{ kind: 'user', id, action: 'updated' }]);
}

/** Replaces the recovery codes. Throws 409 for a user without a second factor. */
export async function renewRecoveryCodes(
  { db }: Pick<Records, 'db'>,
  { id }: User,
): Promise<string[]> {
  if ((await secondFactorsOf(db, id)).length === 0)
    throw problem('noSecondFactor', { what: 'second factor' });
  return transaction(db, (step) => newCodes(step.db, id));
}

/** Removes the app. Throws 409 for a user without one. */
export async function removeApp(
  { db, announce }: Pick<Records, 'db' | 'announce'>,
  { id }: User,
): Promise<void> {
  await transaction(db, async (step) => {
    const app = await findAuthenticatorApp(step.db, id);
    if (app === undefined || app.confirmed === null)
      throw problem('noSecondFactor', { what: 'authenticator app' });
    await removeAuthenticatorApp(step.db, id);
    await afterRemoval(step, announce, id);
  });
}

/**
 * Without a second factor, recovery codes replace nothing. Throws 409 when it was the last one and
 * an organization of the user demands one.
 */
export async function afterRemoval(
  step: TransactionStep,
  announce: Records['announce'],
  userId: string,
): Promise<void> {
  if (!(await hasSecondFactor(step.db, userId))) {
    await refuseWithoutSecondFactor(step.db, userId);
    await removeRecoveryCodes(step.db, userId);
  }
  await announceAfterCommit(step, announce, [{ kind: 'user', id: userId, action: 'updated' }]);
}

/** Checks what was shown and uses it up; undefined when it is wrong or was used before. */
export async function checkSecondFactor(
  { db, sealer }: Pick<Records, 'db' | 'sealer'>,
  first: FirstStep & { readonly issuedAt: EpochMs },
  {
    code,
    recoveryCode,
    passkey,
  }: {
    readonly code?: string | null | undefined;
    readonly recoveryCode?: string | null | undefined;
    readonly passkey?: Assertion | null | undefined;
  },
  { now, party }: { readonly now: EpochMs; readonly party: RelyingParty | undefined },
): Promise<SecondFactorKind | undefined> {
  const { userId, challenge, issuedAt } = first;
  if (passkey && party !== undefined) {
    await verifyPasskey(db, passkey, { challenge, issuedAt, party, now }, userId);
    return 'PASSKEY';
  }
  if (typeof recoveryCode === 'string') {
    const isRight = await useRecoveryCode(db, userId, recoveryCodeHash(recoveryCode));
    return isRight ? 'RECOVERY_CODE' : undefined;
  }
  const app = await findAuthenticatorApp(db, userId);
  if (app === undefined || app.confirmed === null || typeof code !== 'string') return undefined;
  const { sealedSecret, lastStep } = app;
  const step = stepOfCode(sealer.open(sealedSecret), code, { now, lastStep });
  if (step === undefined || !(await useStep(db, userId, step))) return undefined;
  return 'ONE_TIME_CODE';
}

/** Throws 401 when the user has changed since, because a new password is shown again. */
export async function userOfFirstStep(
  db: RecordsDb,
  { userId, version }: FirstStep,
): Promise<User> {
  const user = await userRows.find(db, userId);
  if (user?.version !== version) throw problem('ticketExpired');
  return user;
}

/** Throws 401 for a user who is gone, or has lost the password: the provider admits those. */
export async function userOfPasskey(
  db: RecordsDb,
  { userId }: { readonly userId: string },
): Promise<User> {
  const user = await userRows.find(db, userId);
  if (user === undefined || user.passwordHash === null) throw problem('unauthorized');
  return user;
}

// Tickets: what one step of a sign-in has proven or asked, sealed, for the next step to show again.

const lifetimeMs = 5 * minuteMs;
const sealedLengthMax = 4_096;

/** What each kind of ticket contains. A ticket of one kind is worth nothing as another. */
interface TicketContents {
  /** Of the first step with a password. `challenge` is for a passkey as the second factor. */
  readonly secondFactor: {
    readonly userId: string;
    /** Of the user: a new password makes older tickets worthless. */
    readonly version: number;
    readonly organizationId: string | null;
    readonly challenge: string;
  };
  readonly passkeyRegistration: { readonly userId: string; readonly challenge: string };
  readonly passkeySignIn: { readonly challenge: string };
}

type Kind = keyof TicketContents;
type FirstStep = TicketContents['secondFactor'];

interface Sealed<K extends Kind> {
  readonly purpose: K;
  readonly issuedAt: EpochMs;
  readonly content: TicketContents[K];
}

/** Sealed, so that strangers write no rows and any node can open it. Valid for five minutes. */
export function sealTicket<K extends Kind>(
  sealer: Sealer,
  purpose: K,
  content: TicketContents[K],
  now: EpochMs,
): { readonly ticket: string; readonly expiresAt: EpochMs } {
  const sealed: Sealed<K> = { purpose, issuedAt: now, content };
  return { ticket: sealer.seal(JSON.stringify(sealed)), expiresAt: now + lifetimeMs };
}

/** Undefined for one that is expired or was not sealed here for this purpose. */
export function openTicket<K extends Kind>(
  sealer: Sealer,
  purpose: K,
  ticket: string,
  now: EpochMs,
): (TicketContents[K] & { readonly issuedAt: EpochMs }) | undefined {
  if (ticket.length > sealedLengthMax) return undefined;
  try {
    const { purpose: sealedFor, issuedAt, content } = JSON.parse(sealer.open(ticket)) as Sealed<K>;
    if (sealedFor !== purpose || issuedAt + lifetimeMs <= now) return undefined;
    return { ...content, issuedAt };
  } catch {
    // Any caller can send any string: one that cannot be opened was not sealed here.
    return undefined;
  }
}
