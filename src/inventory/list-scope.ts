// List scope: the requested workspaces, limited to those that the principal may read (contract 0.3, 35).
import { holds, type Principal, type Scope, type Verb } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { Records } from '../storage/records/records.ts';
import { findPlace } from '../storage/records/rows/search.ts';

export interface ListScope {
  readonly organizationId?: string | undefined;
  readonly workspaceIds?: readonly string[] | undefined;
}

/** Throws 404 when the request names another organization; returns the principal's own. */
export function ownOrganization(principal: Principal, organizationId: string | undefined): string {
  if (organizationId !== undefined && organizationId !== principal.organizationId) {
    throw problem('notFound', { what: 'organization', id: organizationId });
  }
  return principal.organizationId;
}

/**
 * Named workspaces must exist in the principal's organization (404) and be within its reach (403).
 * Without any the list covers the organization, which only a credential for all workspaces may ask
 * for (403). `right` must be held in every one of them: needed for whatever is not read, because a
 * user's roles differ from workspace to workspace.
 */
export async function listReach(
  records: Records,
  principal: Principal,
  scope: ListScope,
  right?: readonly [Scope, Verb],
): Promise<{
  readonly organizationId: string;
  readonly workspaceIds: readonly string[] | undefined;
}> {
  const organizationId = ownOrganization(principal, scope.organizationId);
  const { workspaceIds = [] } = scope;
  if (workspaceIds.length === 0) {
    if (principal.workspaces !== 'all') throw problem('permissionDenied');
    if (right !== undefined && !holds(principal, ...right, null)) throw problem('permissionDenied');
    return { organizationId, workspaceIds: undefined };
  }
  for (const id of new Set(workspaceIds)) {
    const place = await findPlace(records.db, 'workspace', id);
    if (place?.organizationId !== organizationId)
      throw problem('notFound', { what: 'workspace', id });
    if (principal.workspaces !== 'all' && !principal.workspaces.has(id))
      throw problem('permissionDenied');
    if (right !== undefined && !holds(principal, ...right, id)) throw problem('permissionDenied');
  }
  return { organizationId, workspaceIds };
}
