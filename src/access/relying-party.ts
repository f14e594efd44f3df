// Relying party: the name under which browsers keep passkeys of this installation (WebAuthn).
import { isIP } from 'node:net';
import { problem } from '../model/problem.ts';

export interface RelyingParty {
  /** A host name; by the standard never an address. */
  readonly id: string;
  /** What pages that use the passkeys begin with, such as `https://platform.example`. */
  readonly origin: string;
}

/** Undefined where browsers offer no passkeys: an address, or http of another host than localhost. */
export function relyingPartyOf(publicUrl: string): RelyingParty | undefined {
  const { hostname, origin, protocol } = new URL(publicUrl);
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return undefined;
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (protocol !== 'https:' && !isLocal) return undefined;
  return { id: hostname, origin };
}

/** Throws 403 where browsers offer no passkeys. */
export function neededRelyingParty(publicUrl: string): RelyingParty {
  const party = relyingPartyOf(publicUrl);
  if (party === undefined) throw problem('passkeysOff', { publicUrl });
  return party;
}
