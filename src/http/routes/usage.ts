// The route that tells what stored samples take.
import { usageQuery, usageSchema } from '../../contract/usage.ts';
import type { QuotaUse } from '../../inventory/workspaces/quota-use.ts';
import { readUsage } from '../../inventory/workspaces/usage.ts';
import type { WorkspaceUsage } from '../../samples/sample-store.ts';
import { listScopeOf } from '../edge/list-query.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import type { RecordParts } from './record-parts.ts';

export interface UsageParts extends Pick<RecordParts, 'records'> {
  /** By workspace. */
  readonly usage: () => Promise<ReadonlyMap<string, WorkspaceUsage>>;
  readonly quotas: QuotaUse['of'];
}

export function usageRoute({ records, usage, quotas }: UsageParts): Route {
  return guardedRoute({
    method: 'GET',
    path: '/v3/usage',
    summary:
      'Stored samples and the bytes they take, by workspace, and the quotas of the organization',
    tag: 'Workspaces',
    access: { scope: 'workspace', verb: 'read', place: { narrowedByHandler: true } },
    query: usageQuery,
    response: usageSchema,
    handle: ({ query }, principal) =>
      readUsage(records, principal, listScopeOf(query), usage, quotas),
  });
}
