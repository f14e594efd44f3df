// Effective permissions: what a principal may do in workspaces, by the checks of requests (contract 37).
import {
  everyPermission,
  type Permissions,
  type Scope,
  scopes,
  type Verb,
} from '../model/permission.ts';
import type { Principal } from '../model/principal.ts';
import { isPermittedAt } from './authorize.ts';

/** Scopes of records that belong to the organization and not to one of its workspaces. */
const organizationScopes: ReadonlySet<Scope> = new Set([
  'organization',
  'organization.member',
  'deviceType',
  'customLogic',
  'billing',
]);

/** Verbs by scope that the principal may do with records of the organization itself. */
export function permissionsInOrganization(principal: Principal): Permissions {
  return permittedAt(principal, () => null);
}

/**
 * Verbs by scope that the principal may do in each of the workspaces. A scope of records of the
 * organization, such as device types, counts as it does there.
 */
export function permissionsByWorkspace(
  principal: Principal,
  workspaceIds: readonly string[],
): Readonly<Record<string, Permissions>> {
  // Most workspaces have no role, and those with the same role the same permissions.
  const known = new Map<Permissions | undefined, Permissions>();
  const inWorkspace = (workspaceId: string): Permissions => {
    const role = principal.workspacePermissions?.get(workspaceId);
    const permitted =
      known.get(role) ??
      permittedAt(principal, (scope, verb) => (isOfOrganization(scope, verb) ? null : workspaceId));
    known.set(role, permitted);
    return permitted;
  };
  return Object.fromEntries(workspaceIds.map((id) => [id, inWorkspace(id)]));
}

/** A new workspace belongs to the organization. */
function isOfOrganization(scope: Scope, verb: Verb): boolean {
  return organizationScopes.has(scope) || (scope === 'workspace' && verb === 'create');
}

function permittedAt(
  principal: Principal,
  workspaceOf: (scope: Scope, verb: Verb) => string | null,
): Permissions {
  const { organizationId } = principal;
  const permitted = scopes.map((scope) => {
    const verbs = (everyPermission[scope] ?? []).filter((verb) =>
      isPermittedAt(principal, [scope, verb], {
        organizationId,
        workspaceId: workspaceOf(scope, verb),
      }),
    );
    return [scope, verbs] as const;
  });
  return Object.fromEntries(permitted.filter(([, verbs]) => verbs.length > 0));
}
