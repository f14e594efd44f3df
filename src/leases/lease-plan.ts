// Lease plan: what a node takes and gives in one turn, from what the lease table shows.
import { giftsOf, sharesOf } from './lease-shares.ts';
import type { LeaseView, OwnerRow } from './lease-table.ts';
import type { Lease, LeaseName } from './leases.ts';

export interface LeaseTurn {
  /** Whether the table says that the node holds a lease of which it does not know. */
  readonly hasUnknown: boolean;
  readonly takes: readonly { readonly names: readonly LeaseName[]; readonly countMax: number }[];
  readonly gifts: readonly { readonly names: readonly LeaseName[]; readonly to: string }[];
}

export interface PlanParts {
  readonly view: LeaseView;
  readonly wanted: ReadonlySet<LeaseName>;
  readonly nodeId: string;
  /** What the node holds. */
  readonly leases: readonly Lease[];
}

export function planTurn({ view, wanted, nodeId, leases }: PlanParts): LeaseTurn {
  const epochs = new Map(leases.map(({ name, epoch }) => [name, epoch]));
  const isOwn = ({ node, isLive }: OwnerRow): boolean => isLive && node?.id === nodeId;
  const hasUnknown = view.rows.some((row) => isOwn(row) && epochs.get(row.name) !== row.epoch);
  const kinds = Map.groupBy(
    view.rows.filter(({ name }) => wanted.has(name)),
    ({ name }) => name.slice(0, name.indexOf('/') + 1),
  );
  const plans = [...kinds.values()].map((rows) => planKind(rows, view.nodes, nodeId, isOwn));
  return {
    hasUnknown,
    takes: plans.flatMap(({ takes }) => takes),
    gifts: plans.flatMap(({ gifts }) => gifts),
  };
}

function planKind(
  rows: readonly OwnerRow[],
  nodes: readonly string[],
  nodeId: string,
  isOwn: (row: OwnerRow) => boolean,
): Pick<LeaseTurn, 'takes' | 'gifts'> {
  const counts = new Map<string, number>();
  for (const { node, isLive } of rows)
    if (isLive && node !== undefined) counts.set(node.id, (counts.get(node.id) ?? 0) + 1);
  const free = rows.filter(({ isLive }) => !isLive).map(({ name }) => name);
  if (free.length > 0) {
    const share = sharesOf(rows.length, nodes, counts).get(nodeId) ?? 0;
    const countMax = share - (counts.get(nodeId) ?? 0);
    return { takes: countMax > 0 ? [{ names: free, countMax }] : [], gifts: [] };
  }
  const own = rows.filter(isOwn).map(({ name }) => name);
  const gifts = giftsOf(rows.length, nodes, counts)
    .filter(({ from }) => from === nodeId)
    .map(({ to, count }) => ({ to, names: own.splice(-count) }));
  return { takes: [], gifts };
}
