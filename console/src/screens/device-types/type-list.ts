// Device type list: the requests for it, and which data flows use a type.
import { queryOptions } from '@tanstack/react-query';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { pageRows } from '../../ui/rows/use-pages.ts';
import type { TypeSearch } from './type-search.ts';

export type DeviceTypeItem = components['schemas']['DeviceTypeItem'];

/** Query of `GET /v3/device-types`, without the page. */
export function typeQuery(organizationId: string, { q, source }: TypeSearch) {
  return {
    organizationId,
    ...(q === undefined ? {} : { search: q }),
    ...(source === undefined ? {} : { types: source }),
    sort: 'name,asc',
    size: pageRows,
    details: 'health' as const,
  };
}

export function fetchTypes(query: ReturnType<typeof typeQuery>) {
  return (page: number, signal: AbortSignal) =>
    ask(platform.GET('/v3/device-types', { signal, params: { query: { ...query, page } } }));
}

const flowsMax = 1_000;

/** Data flows of a workspace, at most 1000 by name; `totalElements` says how many there are. */
export const flowsOf = (workspaceId: string) =>
  queryOptions({
    queryKey: ['data-flows', workspaceId, 'names'],
    queryFn: ({ signal }) =>
      ask(
        platform.GET('/v3/data-flows', {
          signal,
          params: {
            query: { workspaceId, size: flowsMax, sort: 'name,asc', fields: 'id,name,deviceType' },
          },
        }),
      ),
  });
