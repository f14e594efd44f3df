// Usage: stored samples of workspaces, and used quotas of the organization (contract 36).
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import {
  quotaDetails,
  type QuotaName,
  quotaNames,
  type Quotas,
  quotaTable,
} from '../../model/quota.ts';
import type { Records } from '../../storage/records/records.ts';
import {
  type CountedRecord,
  workspaceRows,
  organizationRows,
} from '../../storage/records/rows/workspaces.ts';
import type { WorkspaceUsage } from '../../storage/samples/sample-store.ts';
import { listReach, type ListScope, ownOrganization } from '../list-scope.ts';
import type { Step } from '../record-change.ts';

export interface UsageSources {
  /** By workspace. */
  readonly usage: () => Promise<ReadonlyMap<string, WorkspaceUsage>>;
  readonly quotas: QuotaUse['of'];
}

const nothing: WorkspaceUsage = { samples: 0, bytes: 0 };

/**
 * Every workspace that the scope names, without any every one that the principal reaches, in order
 * of name; those without samples too. Throws 404 for what is of another organization and 403 for a
 * named workspace out of reach.
 */
export async function readUsage(
  records: Records,
  principal: Principal,
  scope: ListScope,
  { usage, quotas }: UsageSources,
) {
  const workspaces = await workspaceRows.names(
    records.db,
    await reachOf(records, principal, scope),
  );
  const stored = await usage();
  const content = workspaces.map(({ id, name }) => ({
    workspaceId: id,
    name,
    ...(stored.get(id) ?? nothing),
  }));
  const sum = (figure: keyof WorkspaceUsage) =>
    content.reduce((total, workspace) => total + workspace[figure], 0);
  const total = { samples: sum('samples'), bytes: sum('bytes') };
  // Counts of the organization are only for those who may see all of it.
  if (principal.workspaces !== 'all') return { content, total };
  return {
    content,
    total,
    quotas: [...(await quotas(ownOrganization(principal, scope.organizationId)))],
  };
}

async function reachOf(records: Records, principal: Principal, scope: ListScope) {
  const { workspaceIds = [] } = scope;
  if (workspaceIds.length > 0 || principal.workspaces === 'all')
    return listReach(records, principal, scope);
  return {
    organizationId: ownOrganization(principal, scope.organizationId),
    workspaceIds: [...principal.workspaces],
  };
}

// Quota use: how much of each quota an organization uses; the owner of each count adds its reader (contract 36).

/** Reads a stored count; it must not scan. */
type QuotaReader = (organizationId: string) => number | Promise<number>;

interface QuotaView {
  readonly limit: QuotaName;
  /** Whose limit it is. */
  readonly per: string;
  readonly max: number;
  /** Null for limits of single devices and uplinks. */
  readonly used: number | null;
}

export class QuotaUse {
  readonly #quotas: Quotas;
  readonly #readers;

  constructor(records: Records, quotas: Quotas) {
    this.#quotas = quotas;
    const stored = ['devices', 'rules', 'views', 'openAlarms'] as const;
    this.#readers = new Map<QuotaName, QuotaReader>(
      stored.map((name) => [
        name,
        (organizationId) => organizationRows.countOf(records.committed, organizationId, name),
      ]),
    );
  }

  readonly of = async (organizationId: string): Promise<readonly QuotaView[]> => {
    const views: QuotaView[] = [];
    for (const limit of quotaNames) {
      const used = (await this.#readers.get(limit)?.(organizationId)) ?? null;
      views.push({ limit, per: quotaTable[limit].per, max: this.#quotas[limit], used });
    }
    return views;
  };

  /** Adds a reader, one for each quota. */
  readBy(name: QuotaName, read: QuotaReader): void {
    this.#readers.set(name, read);
  }
}

// Record quotas: limits of how many records an organization has (contract 36).

/** Call in the transaction that inserts the record. Throws 409 `quotaReached` at the limit. */
export async function checkRecordQuota(
  step: Step,
  organizationId: string,
  what: CountedRecord,
): Promise<void> {
  refuseAtQuota(step.quotas, what, await organizationRows.countOf(step.db, organizationId, what));
}

/** The same for a count that is known. */
export function refuseAtQuota(quotas: Quotas, what: CountedRecord, used: number): void {
  if (used >= quotas[what]) throw problem('quotaReached', quotaDetails(quotas, what));
}
