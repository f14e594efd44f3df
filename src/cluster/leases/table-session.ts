// Table session: steps on the lease table in order, through a session that is replaced when it fails.
import type { NodeAddress } from '../../model/node-messages.ts';
import { createSerialQueue } from '../../structures/serial-queue.ts';
import type { LeaseTable } from './lease-table.ts';
import type { LeaseName } from './leases.ts';

export class TableSession {
  readonly #node: NodeAddress;
  readonly #openTable: () => Promise<LeaseTable>;
  readonly #wanted: ReadonlySet<LeaseName>;
  readonly #hasLeft: () => boolean;
  readonly #isDraining: () => boolean;
  readonly #steps = createSerialQueue();
  #table: LeaseTable | undefined;
  #added = 0;
  #isClosed = false;

  constructor(parts: {
    readonly node: NodeAddress;
    readonly openTable: () => Promise<LeaseTable>;
    /** Leases that must be in the table; others can be added later. */
    readonly wanted: ReadonlySet<LeaseName>;
    /** Whether the node has given all away: then it only reads, and does not say that it is alive. */
    readonly hasLeft: () => boolean;
    /** Whether the node takes no leases. */
    readonly isDraining: () => boolean;
  }) {
    const { node, openTable, wanted, hasLeft, isDraining } = parts;
    this.#node = node;
    this.#openTable = openTable;
    this.#wanted = wanted;
    this.#hasLeft = hasLeft;
    this.#isDraining = isDraining;
  }

  readonly close = (): Promise<void> =>
    this.#steps.run(() => {
      this.#isClosed = true;
      return this.#end();
    });

  /**
   * Runs a step. Steps never interleave. A failure ends the session, because its outcome is
   * unknown; the next step opens another one.
   */
  run<T>(step: (table: LeaseTable) => Promise<T>): Promise<T> {
    return this.#steps.run(async () => {
      try {
        return await step(await this.#opened());
      } catch (error) {
        await this.#end();
        throw error;
      }
    });
  }

  async #opened(): Promise<LeaseTable> {
    if (this.#isClosed) throw new Error('The node has left');
    if (this.#table === undefined) {
      this.#table = await this.#openTable();
      this.#added = 0;
      if (!this.#hasLeft()) await this.#table.register(this.#node, this.#isDraining());
    }
    if (this.#added < this.#wanted.size) {
      const names = [...this.#wanted];
      await this.#table.add(names);
      this.#added = names.length;
    }
    return this.#table;
  }

  async #end(): Promise<void> {
    const ended = this.#table;
    this.#table = undefined;
    // A session that is lost already cannot be closed.
    await ended?.close().catch(() => undefined);
  }
}
