// Addresses of the rules: filter of the list, and the days of a simulation.

export interface RuleListSearch {
  readonly q?: string;
  readonly page?: number;
}

export function readRuleSearch(search: Record<string, unknown>): RuleListSearch {
  const { q } = search;
  return { ...(typeof q === 'string' && q !== '' ? { q } : {}), ...readPage(search) };
}

export function readPage({ page }: Record<string, unknown>): { readonly page?: number } {
  return typeof page === 'number' && Number.isInteger(page) && page > 0 ? { page } : {};
}

export const simulatedDays = [1, 7, 30] as const;

export interface SimulationSearch {
  readonly days?: (typeof simulatedDays)[number];
}

export function readSimulationSearch(search: Record<string, unknown>): SimulationSearch {
  const days = simulatedDays.find((one) => one === search['days']);
  return days === undefined ? {} : { days };
}
