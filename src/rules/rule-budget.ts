// The budget of samples that rules make from one uplink: depth is limited by hops, breadth is limited here (contract 36).
import { type BoundedMap, createBoundedMap } from '../structures/bounded-map.ts';

/**
 * Uplinks whose samples are counted at the same time; the longest inactive ones are evicted first.
 */
const uplinksMax = 100_000;

/**
 * Counts restart with a start of the platform; how deep a chain goes does not, so a restart adds
 * `max` at most.
 */
export class RuleBudget {
  readonly max: number;
  readonly #made: BoundedMap<string, number>;

  constructor(max: number, keptMax = uplinksMax) {
    this.max = max;
    this.#made = createBoundedMap<string, number>(keptMax);
  }

  /** False when rules made as many samples from the uplink already; else it is counted. */
  readonly take = (organizationId: string, correlationId: string): boolean => {
    const key = `${organizationId} ${correlationId}`;
    const count = this.#made.get(key) ?? 0;
    this.#made.set(key, Math.min(this.max, count + 1));
    return count < this.max;
  };
}
