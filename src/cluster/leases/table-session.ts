// Table session: steps on the lease table in order, through a session that is replaced when it fails.
import type { NodeAddress } from '../../model/node-messages.ts';
import { createSerialQueue } from '../../structures/serial-queue.ts';
import type { LeaseTable } from './lease-table.ts';
import type { LeaseName } from './leases.ts';

export interface TableSession {
  /**
   * Runs a step. Steps never interleave. A failure ends the session, because its outcome is
   * unknown; the next step opens another one.
   */
  run<T>(step: (table: LeaseTable) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface TableSessionParts {
  readonly node: NodeAddress;
  readonly openTable: () => Promise<LeaseTable>;
  /** Leases that must be in the table; others can be added later. */
  readonly wanted: ReadonlySet<LeaseName>;
  /** Whether the node has given all away: then it only reads, and does not say that it is alive. */
  readonly hasLeft: () => boolean;
  /** Whether the node takes no leases. */
  readonly isDraining: () => boolean;
}

export function createTableSession(parts: TableSessionParts): TableSession {
  const { node, openTable, wanted, hasLeft, isDraining } = parts;
  const steps = createSerialQueue();
  let table: LeaseTable | undefined;
  let added = 0;
  let isClosed = false;

  async function opened(): Promise<LeaseTable> {
    if (isClosed) throw new Error('The node has left');
    if (table === undefined) {
      table = await openTable();
      added = 0;
      if (!hasLeft()) await table.register(node, isDraining());
    }
    if (added < wanted.size) {
      const names = [...wanted];
      await table.add(names);
      added = names.length;
    }
    return table;
  }

  async function end(): Promise<void> {
    const ended = table;
    table = undefined;
    // A session that is lost already cannot be closed.
    await ended?.close().catch(() => undefined);
  }

  return {
    run: (step) =>
      steps.run(async () => {
        try {
          return await step(await opened());
        } catch (error) {
          await end();
          throw error;
        }
      }),
    close: () =>
      steps.run(() => {
        isClosed = true;
        return end();
      }),
  };
}
