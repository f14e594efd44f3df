// API keys: create, read, list, delete; never changed, the secret shown only once (interface 2.6, 5; contract 23).
import type { ApiKeyDraft } from '../../contract/api-keys.ts';
import { randomBytes, randomUUID } from 'node:crypto';
import { type ApiKey, expirationFrom } from '../../model/credential.ts';
import { newId } from '../../model/ids.ts';
import { type EpochMs, formatInstant, formatInstantOrNull } from '../../model/instant.ts';
import { type Page, pageOf, type PageRequest } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import { apiKeyRows } from '../../storage/records/rows/credentials.ts';
import { secretHash, secretPrefix } from '../../storage/records/secret-encryption.ts';
import { ownOrganization } from '../list-scope.ts';
import { change, found } from '../record-change.ts';
import { grantFrom } from './grant.ts';

function view(record: ApiKey) {
  const { workspaceIds, secretHash: _, created, lastUsed, expiration, ...key } = record;
  return {
    ...key,
    workspaces: workspaceIds.map((id) => ({ id })),
    created: formatInstant(created),
    lastUsed: formatInstantOrNull(lastUsed),
    expiration: formatInstantOrNull(expiration),
  };
}

/** `<16 hex>.<uuid>` (contract 0). */
function newSecret(): string {
  return `${randomBytes(8).toString('hex')}.${randomUUID()}`;
}

/** Throws 400 for a time that is over: the key would be rejected from the start. */
function futureExpiration(sent: string | null | undefined, now: EpochMs): EpochMs | null {
  const expiration = expirationFrom(sent);
  if (expiration === null || expiration > now) return expiration;
  throw problem('invalidRequest', {
    reason: `body expiration: must be in the future (it is now ${formatInstant(now)})`,
  });
}

/** The record with its `secret`, which is not stored and cannot be read again. */
export async function createApiKey(records: Records, principal: Principal, draft: ApiKeyDraft) {
  const secret = newSecret();
  const record = await change(records, async (step) => {
    const key: ApiKey = {
      id: newId('apiKey'),
      name: draft.name,
      description: draft.description ?? null,
      ...(await grantFrom(step, principal, draft)),
      secretHash: secretHash(secret),
      secretPrefix: secretPrefix(secret),
      created: step.now(),
      lastUsed: null,
      expiration: futureExpiration(draft.expiration, step.now()),
    };
    await apiKeyRows.insert(step.db, key);
    step.announce({ kind: 'apiKey', id: key.id, action: 'created' });
    return key;
  });
  return { ...view(record), secret };
}

export async function readApiKey(records: Records, id: string) {
  return view(found(await apiKeyRows.find(records.db, id), 'API key', id));
}

export async function listApiKeys(
  records: Records,
  principal: Principal,
  filter: { readonly organizationId?: string | undefined; readonly search?: string | undefined },
  page: PageRequest,
): Promise<Page<ReturnType<typeof view>>> {
  const organizationId = ownOrganization(principal, filter.organizationId);
  const { rows, total } = await apiKeyRows.list(
    records.db,
    { organizationId, search: filter.search },
    page,
  );
  return pageOf(rows.map(view), total, page);
}

/** Revokes the key immediately (interface 5 rule 6). */
export async function deleteApiKey(records: Records, id: string): Promise<void> {
  await change(records, async (step) => {
    found(await apiKeyRows.find(step.db, id), 'API key', id);
    await apiKeyRows.remove(step.db, id);
    step.announce({ kind: 'apiKey', id, action: 'deleted' });
  });
}
