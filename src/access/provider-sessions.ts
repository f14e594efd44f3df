// Provider sessions: sessions that the sign-in provider began, and ends.
import type { Records } from '../storage/records/records.ts';
import { findSession, sessionsFromProvider } from '../storage/records/rows/sign-in.ts';
import { findIdentity } from '../storage/records/rows/users.ts';
import { endSessionsById } from './ended-sessions.ts';
import type { EndedAtProvider, ProviderClient } from './provider-client.ts';

/** Ends one session, or all that the provider began for the person; returns how many. */
export async function endSessionsOfProvider(
  records: Pick<Records, 'db' | 'announce'>,
  { issuer, subject, providerSession }: EndedAtProvider,
): Promise<number> {
  const identity =
    subject === undefined ? undefined : await findIdentity(records.db, { issuer, subject });
  const userId = identity?.userId;
  if (userId === undefined && providerSession === undefined) return 0;
  const ids = await sessionsFromProvider(records.db, { userId, providerSession });
  await endSessionsById(records, ids);
  return ids.length;
}

/** Sealed; null for a session that no provider began. */
export async function idTokenOf(
  { db }: Pick<Records, 'db'>,
  sessionId: string,
): Promise<string | null> {
  return (await findSession(db, sessionId))?.idToken ?? null;
}

/**
 * Where the browser ends the session at the provider too; undefined for sessions that it did not
 * begin, and when it does not answer, because the user is signed out here anyway.
 */
export async function endSessionUrlOf(
  records: Pick<Records, 'sealer'>,
  client: ProviderClient | undefined,
  idToken: string | null,
): Promise<string | undefined> {
  if (client === undefined || idToken === null) return undefined;
  try {
    return await client.endSessionUrl(records.sealer.open(idToken));
  } catch {
    return undefined;
  }
}
