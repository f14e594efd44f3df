// Group roles: the roles that the groups of a person give, the highest one in each place.
import { type GroupRole, everyGroup } from '../../model/sign-in-provider.ts';
import {
  type OrganizationRole,
  organizationRoles,
  type WorkspaceRole,
  workspaceRoles,
} from '../../model/user.ts';

export interface WantedRoles {
  readonly organizations: ReadonlyMap<string, OrganizationRole>;
  readonly workspaces: ReadonlyMap<string, WorkspaceRole>;
}

export function wantedRoles(roles: readonly GroupRole[], groups: readonly string[]): WantedRoles {
  const own = new Set([everyGroup, ...groups]);
  const organizations = new Map<string, OrganizationRole>();
  const workspaces = new Map<string, WorkspaceRole>();
  for (const given of roles.filter(({ group }) => own.has(group))) {
    if ('organizationId' in given)
      keepHigher(organizations, given.organizationId, [given.role, organizationRoles]);
    else keepHigher(workspaces, given.workspaceId, [given.role, workspaceRoles]);
  }
  return { organizations, workspaces };
}

/** Roles are listed with the highest first. */
function keepHigher<R extends string>(
  found: Map<string, R>,
  id: string,
  [role, order]: readonly [R, readonly R[]],
): void {
  const known = found.get(id);
  if (known === undefined || order.indexOf(role) < order.indexOf(known)) found.set(id, role);
}
