// Alarm list: its pages, and how many alarms each state has under the same filter.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { alarmsKey } from '../../api/alarms.ts';
import { ask, platform } from '../../api/platform.ts';
import { pageRows } from '../../ui/rows/use-pages.ts';
import { type AlarmSearch, type AlarmTab, alarmFilter } from './alarm-search.ts';

export function fetchAlarms(workspaceId: string, search: AlarmSearch) {
  const filter = alarmFilter(workspaceId, search);
  return (page: number, signal: AbortSignal) => {
    const query = { ...filter, page, size: pageRows };
    return ask(platform.GET('/v3/alarms', { signal, params: { query } }));
  };
}

export const countOf = (workspaceId: string, search: AlarmSearch, tab: AlarmTab) => {
  const filter = alarmFilter(workspaceId, search, tab);
  return queryOptions({
    queryKey: [...alarmsKey(workspaceId), 'count', filter],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = { ...filter, size: 1, fields: 'id' };
      return ask(platform.GET('/v3/alarms', { signal, params: { query } }));
    },
    select: ({ totalElements }) => totalElements,
  });
};

/** Path of the same list, for a terminal. */
export function pathOf(workspaceId: string, search: AlarmSearch): string {
  return `/v3/alarms?${new URLSearchParams(alarmFilter(workspaceId, search))}`;
}
