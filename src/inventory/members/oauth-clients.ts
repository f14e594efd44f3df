// OAuth clients: create, read, list, rotate the secret, delete; each secret is shown only once (interface 2.5, 4.9, 5).
import type { OAuthClientDraft } from '../../contract/oauth-clients.ts';
import { randomBytes, randomUUID } from 'node:crypto';
import type { OAuthClient } from '../../model/credential.ts';
import { newId } from '../../model/ids.ts';
import { formatInstant } from '../../model/instant.ts';
import type { Principal } from '../../model/principal.ts';
import type { Records } from '../../storage/records/records.ts';
import {
  listOAuthClients as listRows,
  oauthClientRows,
  saveOAuthClientSecret,
} from '../../storage/records/rows/credentials.ts';
import { secretHash } from '../../storage/records/secret-encryption.ts';
import { ownOrganization } from '../list-scope.ts';
import { change, found } from '../record-change.ts';
import { assertGrantWithinOwn, grantFrom } from './grant.ts';

const secretBytes = 32;

function newSecret(): string {
  return randomBytes(secretBytes).toString('base64url');
}

function view(record: OAuthClient, tokenUrl: string) {
  const { workspaceIds, secretHash: _, created, ...client } = record;
  return {
    ...client,
    workspaces: workspaceIds.map((id) => ({ id })),
    tokenUrl,
    created: formatInstant(created),
  };
}

/** The record with its `clientSecret`, which is not stored and cannot be read again. */
export async function createOAuthClient(
  records: Records,
  principal: Principal,
  draft: OAuthClientDraft,
  tokenUrl: string,
) {
  const clientSecret = newSecret();
  const record = await change(records, async (step) => {
    const client: OAuthClient = {
      id: newId('oauthClient'),
      name: draft.name,
      description: draft.description ?? null,
      ...(await grantFrom(step, principal, draft)),
      clientId: randomUUID(),
      secretHash: secretHash(clientSecret),
      created: step.now(),
    };
    await oauthClientRows.insert(step.db, client);
    step.announce({ kind: 'oauthClient', id: client.id, action: 'created' });
    return client;
  });
  return { ...view(record, tokenUrl), clientSecret };
}

export async function readOAuthClient(records: Records, id: string, tokenUrl: string) {
  return view(found(await oauthClientRows.find(records.db, id), 'OAuth client', id), tokenUrl);
}

export async function listOAuthClients(
  records: Records,
  principal: Principal,
  organizationId: string | undefined,
  tokenUrl: string,
) {
  const rows = await listRows(records.db, ownOrganization(principal, organizationId));
  return rows.map((row) => view(row, tokenUrl));
}

/**
 * The old secret is rejected immediately; issued tokens stay valid (interface 5 rule 8). Throws 403
 * for a client that may do more than the caller, because the new secret lets the caller act as the
 * client.
 */
export async function rotateClientSecret(records: Records, principal: Principal, id: string) {
  const clientSecret = newSecret();
  return change(records, async (step) => {
    const client = found(await oauthClientRows.find(step.db, id), 'OAuth client', id);
    assertGrantWithinOwn(principal, client);
    const { clientId } = client;
    await saveOAuthClientSecret(step.db, id, secretHash(clientSecret));
    step.announce({ kind: 'oauthClient', id, action: 'updated' });
    return { id, clientId, clientSecret };
  });
}

/** The client gets no new tokens, and issued ones are rejected (interface 5 rule 9). */
export async function deleteOAuthClient(records: Records, id: string): Promise<void> {
  await change(records, async (step) => {
    found(await oauthClientRows.find(step.db, id), 'OAuth client', id);
    await oauthClientRows.remove(step.db, id);
    step.announce({ kind: 'oauthClient', id, action: 'deleted' });
  });
}
