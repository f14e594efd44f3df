// Requests of dashboards: the list, one of them, and its changes.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { answers } from '../../api/answers.ts';
import { ask, platform } from '../../api/platform.ts';
import type { ListSearch } from '../../ui/list-search.ts';
import type { Configuration, Dashboard } from './dashboard-model.ts';
import type { Reader } from './data/reader.tsx';

/** Members of a row: a configuration may be a megabyte. */
const rowFields = ['id', 'name', 'description', 'created', 'updated', 'version'] as const;
const rows = 50;

export type DashboardRow = Pick<Dashboard, (typeof rowFields)[number]>;

export const dashboardsOf = (workspaceId: string, { q, page = 0 }: ListSearch) =>
  queryOptions({
    queryKey: ['dashboards', workspaceId, q, page],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = {
        workspaceId,
        page,
        size: rows,
        sort: 'name,asc',
        fields: rowFields.join(),
        ...(q === undefined ? {} : { search: q }),
      };
      return ask(platform.GET('/v3/dashboards', { signal, params: { query } }));
    },
  });

export const dashboardOf = (id: string, reader: Reader) =>
  queryOptions({
    queryKey: ['dashboard', reader.name, id],
    // While the page is left, its address no longer has an id.
    enabled: Boolean(id),
    queryFn: ({ signal }) =>
      ask(reader.requests.GET('/v3/dashboards/{id}', { signal, params: { path: { id } } })),
  });

export interface NewDashboard {
  readonly workspaceId: string;
  readonly name: string;
  readonly description?: string | null;
  readonly configuration: Configuration;
}

export function createDashboard(body: NewDashboard): Promise<Dashboard> {
  return ask(platform.POST('/v3/dashboards', { body }));
}

export interface DashboardChange {
  readonly name?: string;
  readonly description?: string | null;
  readonly configuration?: Configuration;
  /** Of what was edited: a stale one is refused with 409. Any is overwritten without one. */
  readonly version?: number;
}

export function changeDashboard(id: string, body: DashboardChange): Promise<Dashboard> {
  return ask(platform.PUT('/v3/dashboards/{id}', { params: { path: { id } }, body }));
}

export function refreshLists(): Promise<void> {
  return answers.invalidateQueries({ queryKey: ['dashboards'] });
}
