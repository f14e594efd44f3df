// Address of a simulation: its days.

export const simulatedDays = [1, 7, 30] as const;

export interface SimulationSearch {
  readonly days?: (typeof simulatedDays)[number];
}

export function readSimulationSearch(search: Record<string, unknown>): SimulationSearch {
  const days = simulatedDays.find((one) => one === search['days']);
  return days === undefined ? {} : { days };
}
