// Tickets: what one step of a sign-in has proven or asked, sealed, for the next step to show again.
import { type EpochMs, minuteMs } from '../model/instant.ts';
import type { Sealer } from '../storage/records/secret-encryption.ts';

const lifetimeMs = 5 * minuteMs;
const sealedLengthMax = 4_096;

/** What each kind of ticket contains. A ticket of one kind is worth nothing as another. */
export interface TicketContents {
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
export type FirstStep = TicketContents['secondFactor'];

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
