// Expiration of a credential, as a request sends it.
import { type EpochMs, parseInstant } from '../model/instant.ts';
import { problem } from '../model/problem.ts';

/** Null for a credential that does not expire. Throws 400 for what is not a time. */
export function expirationFrom(sent: string | null | undefined): EpochMs | null {
  if (sent === undefined || sent === null) return null;
  const ms = parseInstant(sent);
  if (ms === undefined)
    throw problem('invalidRequest', { reason: 'body expiration: must be an ISO-8601 date-time' });
  return ms;
}
