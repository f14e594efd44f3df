// Usage: stored samples of workspaces, and used quotas of the organization, as far as a principal may see them.
import type { Principal } from '../../model/principal.ts';
import type { Records } from '../../storage/records/records.ts';
import { listWorkspaceNames } from '../../storage/records/rows/workspaces.ts';
import type { WorkspaceUsage } from '../../storage/samples/sample-store.ts';
import type { QuotaUse } from './quota-use.ts';
import { type ListScope, listReach, ownOrganization } from '../list-scope.ts';

export interface UsageSources {
  /** By workspace. */
  readonly usage: () => Promise<ReadonlyMap<string, WorkspaceUsage>>;
  readonly quotas: QuotaUse['of'];
}

const nothing: WorkspaceUsage = { samples: 0, bytes: 0 };

/**
 * Every workspace that the scope names, without any every one that the principal reaches, in order
 * of name; those without samples too. Throws 404 for what is of another organization and 403 for a
 * named workspace out of reach.
 */
export async function readUsage(
  records: Records,
  principal: Principal,
  scope: ListScope,
  { usage, quotas }: UsageSources,
) {
  const workspaces = await listWorkspaceNames(records.db, await reachOf(records, principal, scope));
  const stored = await usage();
  const content = workspaces.map(({ id, name }) => ({
    workspaceId: id,
    name,
    ...(stored.get(id) ?? nothing),
  }));
  const sum = (figure: keyof WorkspaceUsage) =>
    content.reduce((total, workspace) => total + workspace[figure], 0);
  const total = { samples: sum('samples'), bytes: sum('bytes') };
  // Counts of the organization are only for those who may see all of it.
  if (principal.workspaces !== 'all') return { content, total };
  return {
    content,
    total,
    quotas: [...(await quotas(ownOrganization(principal, scope.organizationId)))],
  };
}

async function reachOf(records: Records, principal: Principal, scope: ListScope) {
  const { workspaceIds = [] } = scope;
  if (workspaceIds.length > 0 || principal.workspaces === 'all')
    return listReach(records, principal, scope);
  return {
    organizationId: ownOrganization(principal, scope.organizationId),
    workspaceIds: [...principal.workspaces],
  };
}
