// Lease table of tests: the rules of the table in a few lines, to which every implementation is compared.
import type { NodeAddress } from '../../model/node-messages.ts';
import type { LeaseName, LeaseRow, LeaseTable } from './leases.ts';

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

export class TableModel {
  readonly #leaseMs: number;
  readonly #now: () => number;
  readonly #rows = new Map<LeaseName, ModelRow>();
  readonly #nodes = new Map<string, ModelNode>();
  readonly #isServing = (node: string): boolean => {
    const known = this.#nodes.get(node);
    return known !== undefined && known.seenUntil > this.#now() && !known.isDraining;
  };

  constructor(leaseMs: number, now: () => number) {
    this.#leaseMs = leaseMs;
    this.#now = now;
  }

  openTable(run: RunStep = async (step) => step()): LeaseTable {
    const session = Symbol('session');
    let id = '';
    const update = (isDraining?: boolean): boolean => {
      const node = this.#nodes.get(id);
      if (node?.session !== session) return false;
      const changed = {
        seenUntil: this.#now() + this.#leaseMs,
        isDraining: isDraining ?? node.isDraining,
      };
      this.#nodes.set(id, { ...node, ...changed });
      return true;
    };
    const own = (): readonly ModelRow[] =>
      [...this.#rows.values()].filter(({ node }) => node === id);
    const asNode = <T>(step: () => readonly T[]) => run(() => (update() ? step() : []));
    return {
      register: (address, isDraining) =>
        run(() => {
          id = address.id;
          this.#nodes.set(id, {
            address,
            session,
            seenUntil: this.#now() + this.#leaseMs,
            isDraining,
          });
        }),
      add: (names) =>
        run(() => {
          for (const name of names)
            if (!this.#rows.has(name))
              this.#rows.set(name, { name, node: undefined, epoch: 0, until: -1 });
        }),
      renew: (isDraining) =>
        run(() => {
          if (!update(isDraining)) return undefined;
          for (const row of own()) row.until = this.#now() + this.#leaseMs;
          return own().map(({ name, epoch }) => ({ name, epoch }));
        }),
      take: (names, countMax) =>
        asNode(() => {
          const found = [...this.#rows.values()].filter(
            (row) => names.includes(row.name) && this.#isFree(row),
          );
          return found.slice(0, countMax).map((row) => this.#give(row, id));
        }),
      move: async (given, to) =>
        void (await asNode(() => {
          const epochs = new Map(given.map(({ name, epoch }) => [name, epoch]));
          return own()
            .filter(({ name, epoch }) => epochs.get(name) === epoch)
            .map((row) => {
              const given = this.#give(row, to);
              if (!this.#isServing(to)) row.until = this.#now();
              return given;
            });
        })),
      release: async () =>
        void (await asNode(() => {
          update(true);
          for (const row of own()) row.until = this.#now();
          this.#nodes.delete(id);
          return [];
        })),
      view: () =>
        run(() => ({
          rows: [...this.#rows.values()].map((row) => ({
            name: row.name,
            epoch: row.epoch,
            isLive: !this.#isFree(row),
            node: row.node === undefined ? undefined : this.#nodes.get(row.node)?.address,
          })),
          nodes: [...this.#nodes]
            .map(([node]) => node)
            .filter(this.#isServing)
            .toSorted(),
        })),
      close: async () => undefined,
    };
  }

  /** Leases that a node holds now. */
  live(): readonly { readonly name: LeaseName; readonly node: string }[] {
    return [...this.#rows.values()]
      .filter((row) => !this.#isFree(row))
      .map(({ name, node = '' }) => ({ name, node }));
  }

  #isFree({ until }: ModelRow): boolean {
    return until <= this.#now();
  }

  #give(row: ModelRow, node: string): LeaseRow {
    Object.assign(row, { node, epoch: row.epoch + 1, until: this.#now() + this.#leaseMs });
    return { name: row.name, epoch: row.epoch };
  }
}
