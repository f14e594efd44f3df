// Passkeys of the own account: created in two steps, listed, renamed and removed.
import { newId } from '../model/ids.ts';
import { type EpochMs, formatInstant } from '../model/instant.ts';
import type { Passkey } from '../model/credential.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { User } from '../model/user.ts';
import { type Records, transaction } from '../storage/records/records.ts';
import { passkeyRows } from '../storage/records/rows/sign-in.ts';
import {
  type Assertion,
  type Attestation,
  neededRelyingParty,
  newChallenge,
  provenCredential,
  signatureOptions,
  verifyPasskey,
  webAuthn,
} from './passkey-proof.ts';
import { SecondFactors, Tickets } from './second-factor.ts';

/** A user has few devices; more would make the list of allowed ones long. */
const passkeysPerUserMax = 20;

/** EdDSA, ES256 and RS256: what devices have. Keys of later algorithms are thirty times longer. */
const algorithms = [-8, -7, -257];

/** Passkeys of users, for the address at which browsers reach this installation. */
export class Passkeys {
  readonly #records: Records;
  readonly #now: () => EpochMs;
  readonly #publicUrl: () => string;
  readonly #tickets: Tickets;
  readonly #secondFactors: SecondFactors;

  constructor(records: Records, now: () => EpochMs, publicUrl: () => string) {
    this.#records = records;
    this.#now = now;
    this.#publicUrl = publicUrl;
    this.#tickets = new Tickets(records, now);
    this.#secondFactors = new SecondFactors(records, now);
  }

  async list({ id }: Principal) {
    return (await passkeyRows.ofUser(this.#records.db, id)).map(passkeyView);
  }

  /** What the browser needs to create a passkey. Throws 409 at the limit. */
  async begin({ id: userId, email, name }: User) {
    const { db } = this.#records;
    const party = neededRelyingParty(this.#publicUrl());
    const own = await passkeyRows.ofUser(db, userId);
    if (own.length >= passkeysPerUserMax)
      throw problem('tooManyPasskeys', { max: passkeysPerUserMax });
    const challenge = newChallenge();
    const { generateRegistrationOptions } = await webAuthn();
    const options = await generateRegistrationOptions({
      rpName: 'Heliograph',
      rpID: party.id,
      userName: email,
      userDisplayName: name,
      userID: new Uint8Array(Buffer.from(userId)),
      challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
      attestationType: 'none',
      // A device that has one already does not create a second.
      excludeCredentials: own.map(({ credentialId }) => ({ id: credentialId })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      supportedAlgorithmIDs: algorithms,
    });
    const { ticket } = this.#tickets.seal('passkeyRegistration', { userId, challenge });
    return { ticket, options };
  }

  /**
   * Keeps a passkey that the browser has created. Other sessions end when it is the first second
   * factor of the user, because they began without one; the first one also brings recovery codes. Throws 401 for an old ticket or a wrong
   * credential, 409 for one that is known.
   */
  async create(
    principal: Principal,
    {
      ticket,
      name,
      credential,
    }: {
      readonly ticket: string;
      readonly name: string;
      readonly credential: Attestation;
    },
  ) {
    const party = neededRelyingParty(this.#publicUrl());
    const opened = this.#tickets.open('passkeyRegistration', ticket);
    if (opened?.userId !== principal.id) throw problem('ticketExpired');
    const { userId, challenge } = opened;
    const proven = await provenCredential(credential, { challenge, party });
    const passkey: Passkey = {
      ...proven,
      userId,
      name,
      id: newId('passkey'),
      transports: credential.response.transports ?? [],
      lastChallenge: 0,
      created: this.#now(),
      lastUsed: null,
    };
    return transaction(this.#records.db, async (step) => {
      if ((await passkeyRows.find(step.db, passkey.credentialId)) !== undefined)
        throw problem('passkeyExists');
      const recoveryCodes = await this.#secondFactors.protect(step, principal);
      await passkeyRows.insert(step.db, passkey);
      return { passkey: passkeyView(passkey), recoveryCodes };
    });
  }

  /** Throws 404 for one that is gone or belongs to another user. */
  async rename(passkey: {
    readonly id: string;
    readonly userId: string;
    readonly name: string;
  }): Promise<void> {
    if (!(await passkeyRows.rename(this.#records.db, passkey))) throw unknown(passkey.id);
  }

  /** Throws 404 for one that is gone or belongs to another user. */
  async remove({ id, userId }: { readonly id: string; readonly userId: string }): Promise<void> {
    await transaction(this.#records.db, async (step) => {
      if (!(await passkeyRows.remove(step.db, { id, userId }))) throw unknown(id);
      await this.#secondFactors.afterRemoval(step, userId);
    });
  }

  /** What the browser needs to sign in with any passkey that it has. */
  async beginSignIn() {
    const challenge = newChallenge();
    const party = neededRelyingParty(this.#publicUrl());
    const { ticket } = this.#tickets.seal('passkeySignIn', { challenge });
    return { ticket, options: await signatureOptions(this.#records.db, { challenge, party }) };
  }

  /**
   * What checks a signature of the challenge of the ticket. Throws 401 for an old ticket; the check
   * throws 401 for a wrong or used signature.
   */
  verifierOf(ticket: string): (signed: Assertion) => Promise<Passkey> {
    const opened = this.#tickets.open('passkeySignIn', ticket);
    if (opened === undefined) throw problem('ticketExpired');
    const party = neededRelyingParty(this.#publicUrl());
    const asked = { ...opened, party, now: this.#now() };
    return (signed) => verifyPasskey(this.#records.db, signed, asked);
  }
}

function passkeyView({ id, name, created, lastUsed }: Passkey) {
  return {
    id,
    name,
    created: formatInstant(created),
    lastUsed: lastUsed === null ? null : formatInstant(lastUsed),
  };
}

function unknown(id: string) {
  return problem('notFound', { what: 'passkey', id });
}
