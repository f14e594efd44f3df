// Route of the activity of workspaces (contract 37).
import { activity } from '../../contract/activity.ts';
import { readActivity } from '../../inventory/audit/activity.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { type Route, route } from '../edge/route.ts';
import type { RecordParts } from './record-parts.ts';

export function activityRoute({ records }: Pick<RecordParts, 'records'>): Route {
  return route(activity.list, ({ query }, principal) =>
    readActivity(records, principal, { ...query, ...listScopeOf(query) }, pageRequestOf(query)),
  );
}
