// Send budget: the work of workspace subscriptions per organization and second, so that no tenant delays others.
import type { EpochMs } from '../../model/instant.ts';

/** Costs in parts of the budget; one part is about 50 ns. */
export const sendCosts = {
  /** A session that is checked. */
  checked: 1,
  /** A frame that is queued and written. */
  sent: 20,
} as const;

/** About 50 ms of a second: 50,000 sent frames. */
const partsPerSecond = 1_000_000;

export interface SendBudget {
  /** False if the organization has not enough left in this second; then nothing is taken. */
  readonly take: (organizationId: string, now: EpochMs, parts: number) => boolean;
}

export function createSendBudget(): SendBudget {
  /** Only of the current second, so that nothing is kept for organizations that send nothing. */
  const used = new Map<string, number>();
  let second = 0;
  return {
    take(organizationId, now, parts) {
      const current = Math.floor(now / 1_000);
      if (current !== second) {
        used.clear();
        second = current;
      }
      const after = (used.get(organizationId) ?? 0) + parts;
      if (after > partsPerSecond) return false;
      used.set(organizationId, after);
      return true;
    },
  };
}
