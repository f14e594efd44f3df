// Table shares: how many tables and memtables each workspace may take, so that one leaves room for others.
import type { StoreLimits } from '../store-limits.ts';

export type ShareLimits = Pick<StoreLimits, 'memtablesMax' | 'tablesMax' | 'tablesPerWorkspace'>;

/** A workspace gets another table while it has fewer than this part of those that are free. */
const shareOfFree = 1 / 7;

/** Counts by workspace. */
interface Counts {
  readonly of: (workspaceId: string) => number;
  readonly add: (workspaceId: string, count: 1 | -1) => void;
  readonly total: () => number;
  readonly byWorkspace: ReadonlyMap<string, number>;
}

export interface TableShares {
  readonly tables: Counts;
  /** Memtables that take rows. */
  readonly memtables: Counts;
  readonly mayOpenTable: (workspaceId: string) => boolean;
  readonly isMemtableFree: () => boolean;
  /**
   * The workspace that should give up a memtable for this one: that with the most, when it has more
   * than an equal share and this one has less.
   */
  readonly givesWay: (workspaceId: string) => string | undefined;
}

export function createTableShares(limits: ShareLimits): TableShares {
  const tables = createCounts();
  const memtables = createCounts();
  return {
    tables,
    memtables,
    mayOpenTable: (workspaceId) => {
      const own = tables.of(workspaceId);
      const free = limits.tablesMax - tables.total();
      return free > 0 && own < limits.tablesPerWorkspace && own < Math.max(1, free * shareOfFree);
    },
    isMemtableFree: () => memtables.total() < limits.memtablesMax,
    givesWay: (workspaceId) => {
      const own = memtables.of(workspaceId);
      const workspaces = memtables.byWorkspace.size + (own === 0 ? 1 : 0);
      const share = limits.memtablesMax / workspaces;
      if (own + 1 > share) return undefined;
      let [most, found]: [number, string | undefined] = [share, undefined];
      for (const [other, count] of memtables.byWorkspace)
        if (count > most) [most, found] = [count, other];
      return found;
    },
  };
}

function createCounts(): Counts {
  const byWorkspace = new Map<string, number>();
  let total = 0;
  return {
    byWorkspace,
    of: (workspaceId) => byWorkspace.get(workspaceId) ?? 0,
    add: (workspaceId, count) => {
      const next = (byWorkspace.get(workspaceId) ?? 0) + count;
      total += count;
      if (next === 0) byWorkspace.delete(workspaceId);
      else byWorkspace.set(workspaceId, next);
    },
    total: () => total,
  };
}
