// Quota use: how much of each quota an organization uses; the owner of each count adds its reader (contract 36).
import { type QuotaName, type Quotas, quotaNames, quotaTable } from '../../model/quota.ts';
import type { Records } from '../../storage/records/records.ts';
import { recordCount } from '../../storage/records/rows/organizations.ts';

/** Reads a stored count; it must not scan. */
export type QuotaReader = (organizationId: string) => number | Promise<number>;

export interface QuotaView {
  readonly limit: QuotaName;
  /** Whose limit it is. */
  readonly per: string;
  readonly max: number;
  /** Null for limits of single devices and uplinks. */
  readonly used: number | null;
}

export interface QuotaUse {
  /** Adds a reader, one for each quota. */
  readonly readBy: (name: QuotaName, read: QuotaReader) => void;
  readonly of: (organizationId: string) => Promise<readonly QuotaView[]>;
}

export function createQuotaUse(records: Pick<Records, 'committed'>, quotas: Quotas): QuotaUse {
  const stored = ['devices', 'rules', 'views', 'openAlarms'] as const;
  const readers = new Map<QuotaName, QuotaReader>(
    stored.map((name) => [
      name,
      (organizationId) => recordCount(records.committed, organizationId, name),
    ]),
  );
  return {
    readBy: (name, read) => void readers.set(name, read),
    async of(organizationId) {
      const views: QuotaView[] = [];
      for (const limit of quotaNames) {
        const used = (await readers.get(limit)?.(organizationId)) ?? null;
        views.push({ limit, per: quotaTable[limit].per, max: quotas[limit], used });
      }
      return views;
    },
  };
}
