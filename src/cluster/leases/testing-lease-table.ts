// Lease table of tests: the rules of the table in a few lines, to which every implementation is compared.
import type { NodeAddress } from '../../model/node-messages.ts';
import type { LeaseRow, LeaseTable } from './lease-table.ts';
import type { LeaseName } from './leases.ts';

interface ModelRow {
  readonly name: LeaseName;
  node: string | undefined;
  epoch: number;
  until: number;
}

interface ModelNode {
  readonly address: NodeAddress;
  readonly session: symbol;
  readonly seenUntil: number;
  readonly isDraining: boolean;
}

/** Runs one step of the table; tests can delay it, or never answer. */
export type RunStep = <T>(step: () => T) => Promise<T>;

export interface TableModel {
  openTable(run?: RunStep): LeaseTable;
  /** Leases that a node holds now. */
  live(): readonly { readonly name: LeaseName; readonly node: string }[];
}

export function createTableModel(leaseMs: number, now: () => number): TableModel {
  const rows = new Map<LeaseName, ModelRow>();
  const nodes = new Map<string, ModelNode>();
  const isFree = ({ until }: ModelRow): boolean => until <= now();
  const give = (row: ModelRow, node: string): LeaseRow => {
    Object.assign(row, { node, epoch: row.epoch + 1, until: now() + leaseMs });
    return { name: row.name, epoch: row.epoch };
  };

  const isServing = (node: string): boolean => {
    const known = nodes.get(node);
    return known !== undefined && known.seenUntil > now() && !known.isDraining;
  };

  function openTable(run: RunStep = async (step) => step()): LeaseTable {
    const session = Symbol('session');
    let id = '';
    const update = (isDraining?: boolean): boolean => {
      const node = nodes.get(id);
      if (node?.session !== session) return false;
      const changed = { seenUntil: now() + leaseMs, isDraining: isDraining ?? node.isDraining };
      nodes.set(id, { ...node, ...changed });
      return true;
    };
    const own = (): readonly ModelRow[] => [...rows.values()].filter(({ node }) => node === id);
    const asNode = <T>(step: () => readonly T[]) => run(() => (update() ? step() : []));
    return {
      register: (address, isDraining) =>
        run(() => {
          id = address.id;
          nodes.set(id, { address, session, seenUntil: now() + leaseMs, isDraining });
        }),
      add: (names) =>
        run(() => {
          for (const name of names)
            if (!rows.has(name)) rows.set(name, { name, node: undefined, epoch: 0, until: -1 });
        }),
      renew: (isDraining) =>
        run(() => {
          if (!update(isDraining)) return undefined;
          for (const row of own()) row.until = now() + leaseMs;
          return own().map(({ name, epoch }) => ({ name, epoch }));
        }),
      take: (names, countMax) =>
        asNode(() => {
          const found = [...rows.values()].filter((row) => names.includes(row.name) && isFree(row));
          return found.slice(0, countMax).map((row) => give(row, id));
        }),
      move: async (given, to) =>
        void (await asNode(() => {
          const epochs = new Map(given.map(({ name, epoch }) => [name, epoch]));
          return own()
            .filter(({ name, epoch }) => epochs.get(name) === epoch)
            .map((row) => {
              const given = give(row, to);
              if (!isServing(to)) row.until = now();
              return given;
            });
        })),
      release: async () =>
        void (await asNode(() => {
          update(true);
          for (const row of own()) row.until = now();
          nodes.delete(id);
          return [];
        })),
      view: () =>
        run(() => ({
          rows: [...rows.values()].map((row) => ({
            name: row.name,
            epoch: row.epoch,
            isLive: !isFree(row),
            node: row.node === undefined ? undefined : nodes.get(row.node)?.address,
          })),
          nodes: [...nodes]
            .map(([node]) => node)
            .filter(isServing)
            .toSorted(),
        })),
      close: async () => undefined,
    };
  }

  return {
    openTable,
    live: () =>
      [...rows.values()]
        .filter((row) => !isFree(row))
        .map(({ name, node = '' }) => ({ name, node })),
  };
}
