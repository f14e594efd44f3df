// Credentials of machines: API keys, OAuth clients, and their grants, which never exceed what the caller may do (interface 2.5, 2.6).
import { randomBytes, randomUUID } from 'node:crypto';
import type { ApiKeyDraft, OAuthClientDraft } from '../../contract/machine-credentials.ts';
import {
  type ApiKey,
  expirationFrom,
  type Grant,
  type OAuthClient,
} from '../../model/credential.ts';
import {
  holds,
  type Permissions,
  type Principal,
  type Scope,
  type Verb,
  verbsOfScope,
  scopes,
} from '../../model/principal.ts';
import {
  type OrganizationRole,
  organizationRolePermissions,
  type WorkspaceRole,
  workspaceRolePermissions,
} from '../../model/user.ts';
import { problem } from '../../model/problem.ts';
import { type OrganizationMember, workspaceMemberRows } from '../../storage/records/rows/users.ts';
import { findPlace } from '../../storage/records/rows/search.ts';
import { change, found, type Step } from '../record-crud.ts';
import { newId } from '../../model/ids.ts';
import { type EpochMs, formatInstant, formatInstantOrNull } from '../../model/instant.ts';
import { type Page, pageOf, type PageRequest } from '../../model/page.ts';
import type { Records } from '../../storage/records/records.ts';
import { apiKeyRows, oauthClientRows } from '../../storage/records/rows/credentials.ts';
import { secretHash, secretPrefix } from '../../storage/records/secret-encryption.ts';
import { ownOrganization } from '../list-scope.ts';

type GrantDraft = ApiKeyDraft | OAuthClientDraft;

/**
 * Throws 400 for a workspace of another organization, none at all, and a verb that does not apply
 * to its scope; 403 for more than the caller holds.
 */
async function grantFrom(step: Step, principal: Principal, draft: GrantDraft): Promise<Grant> {
  const permissions = permissionsFrom(draft.permissions);
  const workspaceIds = await workspacesFrom(step, draft);
  assertGrantWithinOwn(principal, { permissions, workspaceIds });
  return {
    organizationId: draft.organizationId,
    allWorkspaces: workspaceIds.length === 0,
    workspaceIds,
    permissions,
  };
}

/** Reading the organization is always granted and cannot be removed (interface 2.6). */
function permissionsFrom(sent: GrantDraft['permissions']): Permissions {
  const entries = Object.entries(sent ?? {}).map(
    ([scope, verbs]) => [scope, [...new Set(verbs)]] as const,
  );
  for (const [scope, verbs] of entries) {
    const wrong = verbs.find((verb) => !verbsOfScope[scope as Scope].includes(verb));
    if (wrong !== undefined)
      throw problem('invalidPermissions', { scope, verb: wrong, valid: validPairs });
  }
  const permissions: Permissions = Object.fromEntries(entries);
  return {
    ...permissions,
    organization: [...new Set<Verb>(['read', ...(permissions.organization ?? [])])],
  };
}

const validPairs = Object.entries(verbsOfScope)
  .map(([scope, verbs]) => `${scope}: ${verbs.join(', ')}`)
  .join('; ');

async function workspacesFrom(step: Step, draft: GrantDraft): Promise<string[]> {
  const named = draft.workspaces ?? undefined;
  if (draft.allWorkspaces ?? named === undefined) return [];
  const ids = [...new Set((named ?? []).map((workspace) => workspace.id))];
  for (const id of ids) {
    const place = await findPlace(step.db, 'workspace', id);
    if (place?.organizationId !== draft.organizationId) {
      throw problem('unknownReference', {
        field: 'body workspaces',
        what: 'workspace',
        id,
        place: 'organization',
      });
    }
  }
  if (ids.length === 0) {
    throw problem('invalidRequest', {
      reason: 'body workspaces: is required unless allWorkspaces is true',
    });
  }
  return ids;
}

// Grant limit: a caller grants only what the caller may do, by credential, role or invitation (contract 36).

/** Whether the caller holds the permissions in every workspace, or in each of those named. */
function holdsAll(
  principal: Principal,
  permissions: Permissions,
  workspaceIds: 'all' | readonly string[],
): boolean {
  const everywhere = (scope: Scope, verb: Verb) =>
    isReadingOrganization(scope, verb) ||
    (principal.workspaces === 'all' && (principal.permissions[scope]?.includes(verb) ?? false));
  if (workspaceIds === 'all') return covers(everywhere, permissions);
  return workspaceIds.every((id) => {
    const reached = principal.workspaces === 'all' || principal.workspaces.has(id);
    return reached && covers((scope, verb) => holds(principal, scope, verb, id), permissions);
  });
}

/** Every credential and every role has it (interface 2.6). */
function isReadingOrganization(scope: Scope, verb: Verb): boolean {
  return scope === 'organization' && verb === 'read';
}

/**
 * Throws 403 for a credential that may do what the caller may not. An empty list of workspaces
 * means all of them.
 */
function assertGrantWithinOwn(
  principal: Principal,
  {
    permissions,
    workspaceIds,
  }: { readonly permissions: Permissions; readonly workspaceIds: readonly string[] },
): void {
  const where = workspaceIds.length === 0 ? 'all' : workspaceIds;
  if (!holdsAll(principal, permissions, where)) throw problem('grantTooHigh');
}

/** Throws 403 for a role in the organization that may do what the caller may not. */
export function assertRoleWithinOwn(principal: Principal, role: OrganizationRole): void {
  if (!holdsAll(principal, organizationRolePermissions[role], 'all'))
    throw problem('roleTooHigh', { role });
}

/** Throws 403 for a role in the workspace that may do what the caller may not. */
export function refuseHigherWorkspaceRole(
  principal: Principal,
  workspaceId: string,
  role: WorkspaceRole,
): void {
  if (!holdsAll(principal, workspaceRolePermissions[role], [workspaceId]))
    throw problem('roleTooHigh', { role });
}

/**
 * Throws 403 when the open invitation of this person would grant more than the caller holds. The
 * caller is about to get its link or to change what it grants, and whoever has the link gets all of
 * it.
 */
export async function assertInvitationWithinOwn(
  step: Step,
  principal: Principal,
  { organizationId, userId, role }: OrganizationMember,
): Promise<void> {
  const inWorkspaces = await workspaceMemberRows.ofUser(step.db, organizationId, userId);
  const may =
    holdsAll(principal, organizationRolePermissions[role], 'all') &&
    inWorkspaces.every((member) =>
      holdsAll(principal, workspaceRolePermissions[member.role], [member.workspaceId]),
    );
  if (!may) throw problem('invitationTooHigh');
}

// API keys: create, read, list, delete; never changed, the secret shown only once (interface 2.6, 5; contract 23).

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

/** API keys, whose secret is shown once (interface 2.6). */
export class ApiKeys {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /** The record with its `secret`, which is not stored and cannot be read again. */
  async create(principal: Principal, draft: ApiKeyDraft) {
    const secret = newSecret();
    const record = await change(this.#records, async (step) => {
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

  async read(id: string) {
    return view(found(await apiKeyRows.find(this.#records.db, id), 'API key', id));
  }

  async list(
    principal: Principal,
    filter: { readonly organizationId?: string | undefined; readonly search?: string | undefined },
    page: PageRequest,
  ): Promise<Page<ReturnType<typeof view>>> {
    const organizationId = ownOrganization(principal, filter.organizationId);
    const { rows, total } = await apiKeyRows.list(
      this.#records.db,
      { organizationId, search: filter.search },
      page,
    );
    return pageOf(rows.map(view), total, page);
  }

  /** Revokes the key immediately (interface 5 rule 6). */
  async remove(id: string): Promise<void> {
    await change(this.#records, async (step) => {
      found(await apiKeyRows.find(step.db, id), 'API key', id);
      await apiKeyRows.remove(step.db, id);
      step.announce({ kind: 'apiKey', id, action: 'deleted' });
    });
  }
}

// OAuth clients: create, read, list, rotate the secret, delete; each secret is shown only once (interface 2.5, 4.9, 5).

const secretBytes = 32;

function newClientSecret(): string {
  return randomBytes(secretBytes).toString('base64url');
}

function clientView(record: OAuthClient, tokenUrl: string) {
  const { workspaceIds, secretHash: _, created, ...client } = record;
  return {
    ...client,
    workspaces: workspaceIds.map((id) => ({ id })),
    tokenUrl,
    created: formatInstant(created),
  };
}

/** OAuth clients, whose secrets are shown once (interface 2.5). */
export class OAuthClients {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /** The record with its `clientSecret`, which is not stored and cannot be read again. */
  async create(principal: Principal, draft: OAuthClientDraft, tokenUrl: string) {
    const clientSecret = newClientSecret();
    const record = await change(this.#records, async (step) => {
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
    return { ...clientView(record, tokenUrl), clientSecret };
  }

  async read(id: string, tokenUrl: string) {
    return clientView(
      found(await oauthClientRows.find(this.#records.db, id), 'OAuth client', id),
      tokenUrl,
    );
  }

  async list(principal: Principal, organizationId: string | undefined, tokenUrl: string) {
    const rows = await oauthClientRows.ofOrganization(
      this.#records.db,
      ownOrganization(principal, organizationId),
    );
    return rows.map((row) => clientView(row, tokenUrl));
  }

  /**
   * The old secret is rejected immediately; issued tokens stay valid (interface 5 rule 8). Throws 403
   * for a client that may do more than the caller, because the new secret lets the caller act as the
   * client.
   */
  async rotateSecret(principal: Principal, id: string) {
    const clientSecret = newClientSecret();
    return change(this.#records, async (step) => {
      const client = found(await oauthClientRows.find(step.db, id), 'OAuth client', id);
      assertGrantWithinOwn(principal, client);
      const { clientId } = client;
      await oauthClientRows.saveSecret(step.db, id, secretHash(clientSecret));
      step.announce({ kind: 'oauthClient', id, action: 'updated' });
      return { id, clientId, clientSecret };
    });
  }

  /** The client gets no new tokens, and issued ones are rejected (interface 5 rule 9). */
  async remove(id: string): Promise<void> {
    await change(this.#records, async (step) => {
      found(await oauthClientRows.find(step.db, id), 'OAuth client', id);
      await oauthClientRows.remove(step.db, id);
      step.announce({ kind: 'oauthClient', id, action: 'deleted' });
    });
  }
}

/** Whether everything in `less` is in what `granted` says yes to. */
function covers(granted: (scope: Scope, verb: Verb) => boolean, less: Permissions): boolean {
  return scopes.every((scope) => (less[scope] ?? []).every((verb) => granted(scope, verb)));
}
