// Stored principals: those for whom work is done later, with the permissions that they have then.
import type { EpochMs } from '../model/instant.ts';
import type { Author, Principal } from '../model/principal.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { apiKeyRows, oauthClientRows } from '../storage/records/rows/credentials.ts';
import { grantedPrincipal } from './authenticator.ts';
import { principalOfMember } from './session-authenticator.ts';

/** Undefined for one that is removed or expired, or belongs to the organization no longer. */
export async function storedPrincipal(
  db: RecordsDb,
  { type, id }: Pick<Author, 'type' | 'id'>,
  organizationId: string,
  now: EpochMs,
): Promise<Principal | undefined> {
  if (type === 'USER') return principalOfMember(db, id, organizationId);
  if (type === 'API_KEY') {
    const key = await apiKeyRows.find(db, id);
    if (key?.organizationId !== organizationId) return undefined;
    if (key.expiration !== null && key.expiration <= now) return undefined;
    return grantedPrincipal('API_KEY', key);
  }
  const client = await oauthClientRows.find(db, id);
  return client?.organizationId === organizationId
    ? grantedPrincipal('OAUTH_CLIENT', client)
    : undefined;
}
