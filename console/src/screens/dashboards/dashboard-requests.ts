// Requests of dashboards, as a session or with the token of a link, and the edits that they save.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import createClient from 'openapi-fetch';
import { createContext, use } from 'react';
import type { components, paths } from '../../../generated/interface-types.ts';
import { answers } from '../../api/answers.ts';
import { ask, platform } from '../../api/platform.ts';
import type { ListSearch } from '../../ui/list-search.ts';
import { type Editor, useEditor } from '../../ui/use-editor.ts';
import type { Configuration } from '../../../../src/dashboards/configuration.ts';

export type Dashboard = components['schemas']['Dashboard'];

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

/** The interface describes objects of any members as empty ones. */

export interface NewDashboard {
  readonly workspaceId: string;
  readonly name: string;
  readonly description?: string | null;
  /** Makes it the dashboard of the devices of a type. */
  readonly deviceTypeId?: string | null;
  /** Makes it the dashboard of places of a kind. */
  readonly placeKind?: string;
  readonly groupId?: string | null;
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
  const params = { path: { id } };
  return ask(platform.PUT('/v3/dashboards/{id}', { params, body }));
}

export function refreshLists(): Promise<void> {
  return answers.invalidateQueries({ queryKey: ['dashboards'] });
}

// Reader: who asks for a dashboard: the session of the console, or the token of a shared link.

export interface Reader {
  readonly requests: Pick<typeof platform, 'GET' | 'POST'>;
  /** Part of the keys of the cache, so that no answer is shown to another reader. */
  readonly name: string;
  /** Only a session has the live stream and the records of devices. */
  readonly isShared: boolean;
}

const own: Reader = { requests: platform, name: 'session', isShared: false };

const ReaderContext = createContext<Reader>(own);
export const ReaderProvider = ReaderContext;

export function useReader(): Reader {
  return use(ReaderContext);
}

/** The token is sent as a bearer token; a session that the browser also has is not. */
export function sharedReader(token: string): Reader {
  const requests = createClient<paths>({
    baseUrl: '',
    credentials: 'omit',
    headers: { authorization: `Bearer ${token}` },
  });
  return { requests, name: token, isShared: true };
}

// Hook on the edits of a dashboard: kept until they are saved, and never saved over those of another.

export interface DashboardEdit {
  readonly name: string;
  readonly description: string | null;
  readonly configuration: Configuration;
}

export function useDashboardEdit(
  dashboard: Dashboard,
  configuration: Configuration,
): Editor<DashboardEdit> {
  const { id, name, description, version } = dashboard;
  return useEditor<DashboardEdit, Dashboard>({
    key: `dashboard ${id}`,
    saved: { name, description, configuration },
    version,
    record: dashboardOf(id, useReader()).queryKey,
    list: ['dashboards'],
    // Version 2 reads what version 1 has.
    send: ({ configuration: edited, ...edit }, from) =>
      changeDashboard(id, { ...edit, configuration: { ...edited, version: 2 }, ...from }),
  });
}
