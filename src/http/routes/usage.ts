// The route that tells what stored samples take.
import { storedUsage } from '../../contract/endpoints/usage.ts';
import type { QuotaUse } from '../../inventory/workspaces/quota-use.ts';
import { readUsage } from '../../inventory/workspaces/usage.ts';
import type { WorkspaceUsage } from '../../samples/sample-store.ts';
import { listScopeOf } from '../edge/list-query.ts';
import { type Route, route } from '../edge/route.ts';
import type { RecordParts } from './record-parts.ts';

export interface UsageParts extends Pick<RecordParts, 'records'> {
  /** By workspace. */
  readonly usage: () => Promise<ReadonlyMap<string, WorkspaceUsage>>;
  readonly quotas: QuotaUse['of'];
}

export function usageRoute({ records, usage, quotas }: UsageParts): Route {
  return route(storedUsage.read, ({ query }, principal) =>
    readUsage(records, principal, listScopeOf(query), usage, quotas),
  );
}
