// Quota counts: temporary resources that organizations use, such as WebSockets and subscription items.
import { problem } from './problem.ts';
import { quotaDetails, type QuotaName, type Quotas } from './quota.ts';

export interface QuotaCount {
  readonly max: number;
  /**
   * Counts `amount` for the organization; false when that would be more than it may have, and
   * nothing is counted.
   */
  readonly take: (organizationId: string, amount: number) => boolean;
  readonly give: (organizationId: string, amount: number) => void;
  readonly usedBy: (organizationId: string) => number;
  /** The refusal that names the limit (429). */
  readonly refusal: () => ReturnType<typeof problem>;
}

const retryAfterSeconds = 10;

export function quotaCount(quotas: Quotas, name: QuotaName): QuotaCount {
  const used = new Map<string, number>();
  const usedBy = (organizationId: string): number => used.get(organizationId) ?? 0;
  const set = (organizationId: string, amount: number): void => {
    if (amount === 0) used.delete(organizationId);
    else used.set(organizationId, amount);
  };
  return {
    max: quotas[name],
    usedBy,
    take(organizationId, amount) {
      const wanted = usedBy(organizationId) + amount;
      if (wanted > quotas[name]) return false;
      set(organizationId, wanted);
      return true;
    },
    give: (organizationId, amount) => set(organizationId, usedBy(organizationId) - amount),
    refusal: () => problem('quotaBusy', { ...quotaDetails(quotas, name), retryAfterSeconds }),
  };
}

/** The counts of what is open now. */
export interface OpenCounts {
  readonly webSockets: QuotaCount;
  readonly mqttConnections: QuotaCount;
  readonly subscriptionItems: QuotaCount;
}

export function openCounts(quotas: Quotas): OpenCounts {
  return {
    webSockets: quotaCount(quotas, 'webSockets'),
    mqttConnections: quotaCount(quotas, 'mqttConnections'),
    subscriptionItems: quotaCount(quotas, 'subscriptionItems'),
  };
}
