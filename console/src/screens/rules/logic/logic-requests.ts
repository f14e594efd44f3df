// Requests of custom logic blocks: the list, one block, and what changes it.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { ask, platform } from '../../../api/platform.ts';
import type { ListSearch } from '../../../ui/list-search.ts';

export type Logic = Awaited<ReturnType<typeof readLogic>>;
export type LogicItem = Awaited<ReturnType<typeof listLogic>>['content'][number];

const logicRows = 25;

export function logicsOf(organizationId: string, { q, page = 0 }: ListSearch) {
  const search = q === undefined ? {} : { search: q };
  const query = { organizationId, page, size: logicRows, sort: 'name,asc', ...search };
  return queryOptions({
    queryKey: ['custom-logic', organizationId, query],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => listLogic(query, signal),
  });
}

interface LogicQuery {
  readonly organizationId: string;
  readonly page: number;
  readonly size: number;
  readonly sort: string;
  readonly search?: string;
}

function listLogic(query: LogicQuery, signal: AbortSignal) {
  return ask(platform.GET('/v3/rules/custom', { signal, params: { query } }));
}

export const logicOf = (id: string) =>
  queryOptions({
    queryKey: ['logic', id],
    queryFn: ({ signal }) => readLogic(id, signal),
  });

function readLogic(id: string, signal: AbortSignal) {
  return ask(platform.GET('/v3/rules/custom/{id}', { signal, params: { path: { id } } }));
}
