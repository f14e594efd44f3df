// Requests of the rules: the list, one rule, its runs and its simulation.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import type { ListSearch } from '../../ui/list-search.ts';

export type RuleRun = components['schemas']['RuleRun'];

export type RuleItem = components['schemas']['RuleItem'];

const ruleRows = 25;
const healthMs = 15_000;
/** Events say of new ones. */
const runsMs = 60_000;
const dayMs = 86_400_000;

export function rulesOf(workspaceId: string, { q, page = 0 }: ListSearch) {
  const query = {
    workspaceId,
    page,
    size: ruleRows,
    sort: 'name,asc',
    details: 'health' as const,
    ...(q === undefined ? {} : { search: q }),
  };
  return queryOptions({
    queryKey: ['rules', workspaceId, query],
    refetchInterval: healthMs,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => ask(platform.GET('/v3/rules', { signal, params: { query } })),
  });
}

export const ruleOf = (id: string) =>
  queryOptions({
    queryKey: ['rule', id],
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/rules/{id}', { signal, params: { path: { id } } })),
  });

export const runsKey = (id: string) => ['runs', id] as const;

/** The last runs, newest first. */
export const runsOf = (id: string, size: number, page = 0) =>
  queryOptions({
    queryKey: [...runsKey(id), size, page],
    refetchInterval: runsMs,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      ask(
        platform.GET('/v3/rules/{id}/runs', {
          signal,
          params: { path: { id }, query: { size, page } },
        }),
      ),
  });

/** What the saved rule would have done. */
export const simulationOf = (id: string, version: number, days: number) =>
  queryOptions({
    queryKey: ['simulation', id, version, days],
    refetchOnWindowFocus: false,
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const to = Date.now();
      const range = {
        from: new Date(to - days * dayMs).toISOString(),
        to: new Date(to).toISOString(),
      };
      const params = { path: { id } };
      const simulated = await ask(
        platform.POST('/v3/rules/{id}/simulate', { signal, params, body: range }),
      );
      return { ...simulated, ...range };
    },
  });

// Address of a simulation: its days.

export const simulatedDays = [1, 7, 30] as const;

interface SimulationSearch {
  readonly days?: (typeof simulatedDays)[number];
}

export function readSimulationSearch(search: Record<string, unknown>): SimulationSearch {
  const days = simulatedDays.find((one) => one === search['days']);
  return days === undefined ? {} : { days };
}
