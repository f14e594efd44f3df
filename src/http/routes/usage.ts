// Route of stored samples and used quotas.
import { storedUsage } from '../../contract/usage.ts';
import { readUsage, type UsageSources } from '../../inventory/workspaces/usage.ts';
import { listScopeOf } from '../edge/list-query.ts';
import { type Route, route } from '../edge/route.ts';
import type { RecordParts } from './record-parts.ts';

export interface UsageParts extends Pick<RecordParts, 'records'>, UsageSources {}

export function usageRoute({ records, ...sources }: UsageParts): Route {
  return route(storedUsage.read, ({ query }, principal) =>
    readUsage(records, principal, listScopeOf(query), sources),
  );
}
