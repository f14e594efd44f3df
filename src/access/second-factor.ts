// Second factor: what a user proves besides the password, how it is set up, checked and removed.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type EpochMs, formatInstant, minuteMs } from '../model/instant.ts';
import { type Principal, isClosed } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { Session, User } from '../model/user.ts';
import {
  announceAfterCommit,
  type Records,
  type RecordsDb,
  transaction,
  type TransactionStep,
} from '../storage/records/records.ts';
import {
  hasSecondFactor,
  sessionRows,
  authenticatorAppRows,
  recoveryCodeRows,
  secondFactorDemandRows,
  passkeyRows,
} from '../storage/records/rows/sign-in.ts';
import { userRows, organizationMemberRows } from '../storage/records/rows/users.ts';
import { type Sealer, secretHash } from '../storage/records/secret-encryption.ts';
import { removeInStep } from './user-sessions.ts';
import { type Assertion, type RelyingParty, verifyPasskey } from './passkey-proof.ts';

/** How a second factor was shown. */
export type SecondFactorKind = 'ONE_TIME_CODE' | 'PASSKEY' | 'RECOVERY_CODE';

/** The kinds of second factor that a user can show; empty for a user without one. */
export async function secondFactorsOf(db: RecordsDb, userId: string): Promise<SecondFactorKind[]> {
  const kinds: SecondFactorKind[] = [];
  const app = await authenticatorAppRows.find(db, userId);
  if (app !== undefined && app.confirmed !== null) kinds.push('ONE_TIME_CODE');
  if ((await passkeyRows.ofUser(db, userId)).length > 0) kinds.push('PASSKEY');
  if (kinds.length > 0 && (await recoveryCodeRows.count(db, userId)) > 0)
    kinds.push('RECOVERY_CODE');
  return kinds;
}

/** Second factors of users: set up, checked and removed. */
export class SecondFactors {
  readonly #records: Records;
  readonly #now: () => EpochMs;

  constructor(records: Records, now: () => EpochMs) {
    this.#records = records;
    this.#now = now;
  }

  /** What the own account shows. */
  async read({ id }: Principal) {
    const { db } = this.#records;
    const app = await authenticatorAppRows.find(db, id);
    const user = await userRows.find(db, id);
    const confirmed = app?.confirmed ?? null;
    return {
      available: user?.passwordHash !== undefined && user.passwordHash !== null,
      authenticatorApp: confirmed === null ? null : { created: formatInstant(confirmed) },
      recoveryCodes: await recoveryCodeRows.count(db, id),
    };
  }

  /**
   * Creates the secret of an app, which counts once a code of it was right. Throws 409 for a user
   * with an app.
   */
  async beginApp({
    id,
    email,
  }: User): Promise<{ readonly secret: string; readonly address: string }> {
    const { db, sealer } = this.#records;
    const code = CodeSecret.random();
    const secret = code.base32();
    const app = {
      userId: id,
      sealedSecret: sealer.seal(secret),
      confirmed: null,
      created: this.#now(),
    };
    await transaction(db, async (step) => {
      const known = await authenticatorAppRows.find(step.db, id);
      if (known !== undefined && known.confirmed !== null) throw problem('secondFactorExists');
      await authenticatorAppRows.replace(step.db, { ...app, lastStep: 0 });
    });
    return { secret, address: code.address(email) };
  }

  /**
   * The app counts from now on. Other sessions of the user end if it is the first second factor,
   * because they began without one. Returns recovery codes, which cannot be read again, or an empty
   * list if the user has some; undefined for a wrong code. Throws 409 without an app that waits for its first
   * code.
   */
  async confirmApp(principal: Principal, code: string): Promise<string[] | undefined> {
    const records = this.#records;
    const now = this.#now();
    const { id } = principal;
    const app = await authenticatorAppRows.find(records.db, id);
    if (app === undefined) throw problem('noSecondFactor', { what: 'authenticator app' });
    if (app.confirmed !== null) throw problem('secondFactorExists');
    const secret = CodeSecret.parse(records.sealer.open(app.sealedSecret));
    const codeStep = secret.stepOf(code, { now, lastStep: app.lastStep });
    if (codeStep === undefined) return undefined;
    return transaction(records.db, async (step) => {
      if (!(await authenticatorAppRows.useStep(step.db, id, codeStep))) throw problem('wrongCode');
      const recoveryCodes = await this.protect(step, principal);
      await authenticatorAppRows.confirm(step.db, id, now);
      return recoveryCodes;
    });
  }

  /**
   * For a user who gets a second factor: ends the other sessions if it is the first one, and returns
   * recovery codes if the user has none.
   */
  async protect(step: TransactionStep, principal: Principal): Promise<string[]> {
    const { id } = principal;
    if ((await secondFactorsOf(step.db, id)).length === 0)
      await endOtherSessions(step, this.#records, principal);
    if ((await recoveryCodeRows.count(step.db, id)) > 0) return [];
    return newCodes(step.db, id);
  }

  /** Replaces the recovery codes. Throws 409 for a user without a second factor. */
  async renewRecoveryCodes({ id }: User): Promise<string[]> {
    const { db } = this.#records;
    if ((await secondFactorsOf(db, id)).length === 0)
      throw problem('noSecondFactor', { what: 'second factor' });
    return transaction(db, (step) => newCodes(step.db, id));
  }

  /** Removes the app. Throws 409 for a user without one. */
  async removeApp({ id }: User): Promise<void> {
    await transaction(this.#records.db, async (step) => {
      const app = await authenticatorAppRows.find(step.db, id);
      if (app === undefined || app.confirmed === null)
        throw problem('noSecondFactor', { what: 'authenticator app' });
      await authenticatorAppRows.remove(step.db, id);
      await this.afterRemoval(step, id);
    });
  }

  /**
   * Without a second factor, recovery codes replace nothing. Throws 409 when it was the last one and
   * an organization of the user demands one.
   */
  async afterRemoval(step: TransactionStep, userId: string): Promise<void> {
    if (!(await hasSecondFactor(step.db, userId))) {
      await refuseWithoutSecondFactor(step.db, userId);
      await recoveryCodeRows.removeOf(step.db, userId);
    }
    await announceAfterCommit(step, this.#records.announce, [
      { kind: 'user', id: userId, action: 'updated' },
    ]);
  }

  /** Checks what was shown and uses it up; undefined when it is wrong or was used before. */
  async check(
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
    party: RelyingParty | undefined,
  ): Promise<SecondFactorKind | undefined> {
    const { db, sealer } = this.#records;
    const now = this.#now();
    const { userId, challenge, issuedAt } = first;
    if (passkey && party !== undefined) {
      await verifyPasskey(db, passkey, { challenge, issuedAt, party, now }, userId);
      return 'PASSKEY';
    }
    if (typeof recoveryCode === 'string') {
      const isRight = await recoveryCodeRows.use(db, userId, recoveryCodeHash(recoveryCode));
      return isRight ? 'RECOVERY_CODE' : undefined;
    }
    const app = await authenticatorAppRows.find(db, userId);
    if (app === undefined || app.confirmed === null || typeof code !== 'string') return undefined;
    const { sealedSecret, lastStep } = app;
    const step = CodeSecret.parse(sealer.open(sealedSecret)).stepOf(code, { now, lastStep });
    if (step === undefined || !(await authenticatorAppRows.useStep(db, userId, step)))
      return undefined;
    return 'ONE_TIME_CODE';
  }
}

async function newCodes(db: RecordsDb, userId: string): Promise<string[]> {
  const recoveryCodes = newRecoveryCodes();
  await recoveryCodeRows.replace(db, userId, recoveryCodes.map(recoveryCodeHash));
  return recoveryCodes;
}

async function endOtherSessions(
  step: TransactionStep,
  { announce }: Records,
  { id, sessionId }: { readonly id: string; readonly sessionId?: string },
): Promise<void> {
  const others = (await sessionRows.ofUser(step.db, id)).filter(
    (one: Session) => one.id !== sessionId,
  );
  await removeInStep(
    step,
    announce,
    others.map((one) => one.id),
  );
  await announceAfterCommit(step, announce, [{ kind: 'user', id, action: 'updated' }]);
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

/** Sealed, so that strangers write no rows and any node can open them. Valid for five minutes. */
export class Tickets {
  readonly #sealer: Sealer;
  readonly #now: () => EpochMs;

  constructor({ sealer }: { readonly sealer: Sealer }, now: () => EpochMs) {
    this.#sealer = sealer;
    this.#now = now;
  }

  seal<K extends Kind>(
    purpose: K,
    content: TicketContents[K],
  ): { readonly ticket: string; readonly expiresAt: EpochMs } {
    const now = this.#now();
    const sealed: Sealed<K> = { purpose, issuedAt: now, content };
    return { ticket: this.#sealer.seal(JSON.stringify(sealed)), expiresAt: now + lifetimeMs };
  }

  /** Undefined for one that is expired or was not sealed here for this purpose. */
  open<K extends Kind>(
    purpose: K,
    ticket: string,
  ): (TicketContents[K] & { readonly issuedAt: EpochMs }) | undefined {
    if (ticket.length > sealedLengthMax) return undefined;
    try {
      const {
        purpose: sealedFor,
        issuedAt,
        content,
      } = JSON.parse(this.#sealer.open(ticket)) as Sealed<K>;
      if (sealedFor !== purpose || issuedAt + lifetimeMs <= this.#now()) return undefined;
      return { ...content, issuedAt };
    } catch {
      // Any caller can send any string: one that cannot be opened was not sealed here.
      return undefined;
    }
  }
}

// One-time codes: six digits from a shared secret and the time (RFC 6238), and recovery codes that replace them once each.

const stepMs = 30_000;
const digits = 6;
/** As long as the hash, as RFC 4226 section 4 recommends. */
const secretBytes = 20;
/** A clock may be this many intervals ahead or behind. */
const driftSteps = 1;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const issuer = 'Heliograph';

/** The shared secret of an authenticator app. */
export class CodeSecret {
  readonly bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes);
  }

  static random(): CodeSecret {
    return new CodeSecret(randomBytes(secretBytes));
  }

  /** What `base32` returned. Throws Error for another character: secrets are only written here. */
  static parse(encoded: string): CodeSecret {
    const bytes: number[] = [];
    let bits = 0;
    let value = 0;
    for (const character of encoded) {
      const digit = alphabet.indexOf(character);
      if (digit === -1) throw new Error('A secret of one-time codes is not base32');
      value = ((value << 5) | digit) & 0xf_ff;
      bits += 5;
      if (bits >= 8) {
        bits -= 8;
        bytes.push((value >>> bits) & 0xff);
      }
    }
    return new CodeSecret(Buffer.from(bytes));
  }

  /** As apps take it (RFC 4648, without padding): 32 characters for a random one. */
  base32(): string {
    return toBase32(this.bytes);
  }

  /** The address that apps read from a QR code. `account` is what the app shows next to the code. */
  address(account: string): string {
    const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
    return `otpauth://totp/${label}?secret=${this.base32()}&issuer=${encodeURIComponent(issuer)}`;
  }

  /** The code of an interval of 30 s, counted from 1970. `length` of other than 6 digits is for tests. */
  codeOf(step: number, length = digits): string {
    const counter = Buffer.alloc(8);
    counter.writeBigUInt64BE(BigInt(step));
    const mac = createHmac('sha1', this.bytes).update(counter).digest();
    const offset = mac.readUInt8(mac.length - 1) & 0xf;
    const number = (mac.readUInt32BE(offset) & 0x7f_ff_ff_ff) % 10 ** length;
    return String(number).padStart(length, '0');
  }

  /**
   * The interval that the code belongs to: the present one or a neighbor, if it is later than
   * `lastStep`, so that no code counts twice. Undefined for a wrong or used code. Spaces do not
   * matter.
   */
  stepOf(
    code: string,
    { now, lastStep }: { readonly now: EpochMs; readonly lastStep: number },
  ): number | undefined {
    const given = Buffer.from(code.replaceAll(/\s/g, ''));
    const present = Math.floor(now / stepMs);
    let found: number | undefined;
    for (let step = present - driftSteps; step <= present + driftSteps; step += 1) {
      const expected = Buffer.from(this.codeOf(step));
      const isSame = given.length === expected.length && timingSafeEqual(given, expected);
      if (isSame && step > lastStep) found ??= step;
    }
    return found;
  }
}

/** Base32 of RFC 4648 without padding. */
function toBase32(bytes: Uint8Array): string {
  let bits = 0;
  let value = 0;
  let encoded = '';
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xf_ff;
    for (bits += 8; bits >= 5; bits -= 5) encoded += alphabet.charAt((value >>> (bits - 5)) & 31);
  }
  if (bits > 0) encoded += alphabet.charAt((value << (5 - bits)) & 31);
  return encoded;
}

// Recovery codes: replace the second factor once each, for a user who lost the phone.

const codeCount = 10;
/** 128 bits, so that a fast hash hides them (ASVS 5.0, 6.5.2). */
const codeBytes = 16;

/** Ten codes such as `ABCD-EFGH-IJKL-MNOP-QRST-UVWX-YZ`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: codeCount }, () => {
    const code = toBase32(randomBytes(codeBytes));
    return (code.match(/.{1,4}/g) ?? []).join('-');
  });
}

/** How a code is stored. Users copy them from paper: case, spaces and hyphens do not matter. */
export function recoveryCodeHash(code: string): string {
  return secretHash(code.toUpperCase().replaceAll(/[^A-Z2-7]/g, ''));
}

// Second factor demand: which organizations are closed to a session until its user has a second factor.

/** Throws 409 while an organization of the user demands a second factor. */
async function refuseWithoutSecondFactor(db: RecordsDb, userId: string): Promise<void> {
  const accepted = (await organizationMemberRows.ofUser(db, userId)).filter(
    ({ acceptedAt }) => acceptedAt !== null,
  );
  const demanding = await secondFactorDemandRows.among(
    db,
    accepted.map(({ organizationId }) => organizationId),
  );
  if (demanding.size > 0) throw problem('secondFactorDemanded');
}

/** Throws 403 for a session that may only get its user a second factor. */
export function requireMfaSetup(principal: Principal): Principal {
  if (isClosedEverywhere(principal)) throw problem('secondFactorRequired');
  return principal;
}

/** Whether every organization of the user is closed: the session can only enrol. */
function isClosedEverywhere(principal: Principal): boolean {
  const { inOrganizations } = principal;
  if (inOrganizations === undefined) return isClosed(principal);
  return inOrganizations.keys().every((id) => isClosed(principal, id));
}
