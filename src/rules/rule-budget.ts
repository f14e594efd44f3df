// The budget of samples that rules make from one uplink: depth is limited by hops, breadth is limited here (contract 36).
import { createBoundedMap } from '../structures/bounded-map.ts';

/**
 * Uplinks whose samples are counted at the same time; the longest inactive ones are evicted first.
 */
const uplinksMax = 100_000;

export interface RuleBudget {
  readonly max: number;
  /** False when rules made as many samples from the uplink already; else it is counted. */
  take(organizationId: string, correlationId: string): boolean;
}

/**
 * Counts restart with a start of the platform; how deep a chain goes does not, so a restart adds
 * `max` at most.
 */
export function createRuleBudget(max: number, keptMax = uplinksMax): RuleBudget {
  const made = createBoundedMap<string, number>(keptMax);
  return {
    max,
    take(organizationId, correlationId) {
      const key = `${organizationId} ${correlationId}`;
      const count = made.get(key) ?? 0;
      made.set(key, Math.min(max, count + 1));
      return count < max;
    },
  };
}
