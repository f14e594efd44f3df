// Requests of the activity: a page of it, and what one request changed in full.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import type { ActivityRange, ActivitySearch } from './activity-search.ts';

export type Activity = components['schemas']['Activity'];

const pageRows = 50;
const refreshMs = 15_000;
const dayMs = 86_400_000;
const minuteMs = 60_000;
const spansMs: Readonly<Record<ActivityRange, number>> = {
  '24h': dayMs,
  '7d': 7 * dayMs,
  '30d': 30 * dayMs,
};

/** The query of `GET /v3/activity`; a range begins on a full minute. */
export function activityQuery(workspaceId: string, search: ActivitySearch, nowMs: number) {
  const { by, range, page = 0 } = search;
  const minute = Math.floor(nowMs / minuteMs) * minuteMs;
  return {
    workspaceId,
    page,
    size: pageRows,
    ...(by === undefined ? {} : { actorId: by }),
    ...(range === undefined ? {} : { from: new Date(minute - spansMs[range]).toISOString() }),
  };
}

export const activityOf = (workspaceId: string, search: ActivitySearch) => {
  const { open: _, ...shown } = search;
  return queryOptions({
    queryKey: ['activity', workspaceId, shown],
    refetchInterval: refreshMs,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = activityQuery(workspaceId, search, Date.now());
      return ask(platform.GET('/v3/activity', { signal, params: { query } }));
    },
  });
};

const entriesMax = 200;

/** Entries of the audit log of the same request, with values before and after. */
export const entriesOf = (organizationId: string, activity: Activity) =>
  queryOptions({
    queryKey: ['audit', 'of', activity.id, activity.timestamp],
    queryFn: async ({ signal }) => {
      const { started, timestamp, actor, workspaceId, requestId } = activity;
      const to = new Date(Date.parse(timestamp) + 1).toISOString();
      const query = { organizationId, from: started, to, actorId: actor.id, size: entriesMax };
      const { content } = await ask(platform.GET('/v3/audit-logs', { signal, params: { query } }));
      return content.filter(
        (entry) => entry.workspaceId === workspaceId && entry.requestId === requestId,
      );
    },
  });
