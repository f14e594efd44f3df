// Passkeys of the own account: created in two steps, listed, renamed and removed.
import { newId } from '../model/ids.ts';
import { type EpochMs, formatInstant } from '../model/instant.ts';
import type { Passkey } from '../model/credential.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { User } from '../model/user.ts';
import { type Records, type RecordsDb, transaction } from '../storage/records/records.ts';
import { passkeyRows } from '../storage/records/rows/sign-in.ts';
import {
  type Attestation,
  newChallenge,
  provenCredential,
  type RelyingParty,
  webAuthn,
} from './passkey-proof.ts';
import { afterRemoval, openTicket, protect, sealTicket } from './second-factor.ts';

/** A user has few devices; more would make the list of allowed ones long. */
const passkeysPerUserMax = 20;

/** EdDSA, ES256 and RS256: what devices have. Keys of later algorithms are thirty times longer. */
const algorithms = [-8, -7, -257];

export async function listPasskeys(db: RecordsDb, { id }: Principal) {
  return (await passkeyRows.ofUser(db, id)).map(passkeyView);
}

function passkeyView({ id, name, created, lastUsed }: Passkey) {
  return {
    id,
    name,
    created: formatInstant(created),
    lastUsed: lastUsed === null ? null : formatInstant(lastUsed),
  };
}

/** What the browser needs to create a passkey. Throws 409 at the limit. */
export async function beginPasskey(
  { db, sealer }: Records,
  { id: userId, email, name }: User,
  { party, now }: { readonly party: RelyingParty; readonly now: EpochMs },
) {
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
  const { ticket } = sealTicket(sealer, 'passkeyRegistration', { userId, challenge }, now);
  return { ticket, options };
}

/**
 * Keeps a passkey that the browser has created. Other sessions end when it is the first second
 * factor of the user, because they began without one; the first one also brings recovery codes. Throws 401 for an old ticket or a wrong
 * credential, 409 for one that is known.
 */
export async function createPasskey(
  records: Records,
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
  { party, now }: { readonly party: RelyingParty; readonly now: EpochMs },
) {
  const opened = openTicket(records.sealer, 'passkeyRegistration', ticket, now);
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
    created: now,
    lastUsed: null,
  };
  return transaction(records.db, async (step) => {
    if ((await passkeyRows.find(step.db, passkey.credentialId)) !== undefined)
      throw problem('passkeyExists');
    const recoveryCodes = await protect(step, records, principal);
    await passkeyRows.insert(step.db, passkey);
    return { passkey: passkeyView(passkey), recoveryCodes };
  });
}

/** Throws 404 for one that is gone or belongs to another user. */
export async function changePasskeyName(
  { db }: Records,
  passkey: { readonly id: string; readonly userId: string; readonly name: string },
): Promise<void> {
  if (!(await passkeyRows.rename(db, passkey))) throw unknown(passkey.id);
}

/** Throws 404 for one that is gone or belongs to another user. */
export async function deletePasskey(
  { db, announce }: Records,
  { id, userId }: { readonly id: string; readonly userId: string },
): Promise<void> {
  await transaction(db, async (step) => {
    if (!(await passkeyRows.remove(step.db, { id, userId }))) throw unknown(id);
    await afterRemoval(step, announce, userId);
  });
}

function unknown(id: string) {
  return problem('notFound', { what: 'passkey', id });
}
