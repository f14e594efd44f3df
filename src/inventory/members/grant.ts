// Grants of API keys and OAuth clients, and the limit of every grant: a caller grants only what the caller may do.
import type { ApiKeyDraft } from '../../contract/api-keys.ts';
import type { OAuthClientDraft } from '../../contract/oauth-clients.ts';
import type { Grant } from '../../model/credential.ts';
import { type Permissions, type Scope, type Verb, verbsOfScope } from '../../model/permission.ts';
import { covers, organizationRolePermissions, workspaceRolePermissions } from '../../model/role.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { OrganizationRole, WorkspaceRole } from '../../model/user.ts';
import {
  type OrganizationMember,
  workspaceMembershipsOf,
} from '../../storage/records/rows/members.ts';
import { findPlace } from '../../storage/records/rows/resource-refs.ts';
import type { Step } from '../record-change.ts';

type GrantDraft = ApiKeyDraft | OAuthClientDraft;

/**
 * Throws 400 for a workspace of another organization, none at all, and a verb that does not apply
 * to its scope; 403 for more than the caller holds.
 */
export async function grantFrom(
  step: Step,
  principal: Principal,
  draft: GrantDraft,
): Promise<Grant> {
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
export function assertGrantWithinOwn(
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
  const inWorkspaces = await workspaceMembershipsOf(step.db, organizationId, userId);
  const may =
    holdsAll(principal, organizationRolePermissions[role], 'all') &&
    inWorkspaces.every((member) =>
      holdsAll(principal, workspaceRolePermissions[member.role], [member.workspaceId]),
    );
  if (!may) throw problem('invitationTooHigh');
}
