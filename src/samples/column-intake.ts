// Column intake: reserves and places rows in columns, which are later than all that their devices have.
import type { RowColumns } from '../log/logged-entry.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import type { PendingEntries, PendingEntry } from './pending-entries.ts';
import type { DeviceEnds, SampleStore } from './sample-store.ts';

/** The result for the entries of one call. */
export interface ColumnOutcome {
  /** In the order of their positions. */
  readonly entries: readonly DurableEntry[];
  /** Why the others were refused; undefined when all are durable. */
  readonly failure: { readonly error: unknown } | undefined;
}

/** Entries that have their places in the log. */
export interface PlacedColumns {
  /** Places in the call of those that were not taken: some of their rows may be stored already. */
  readonly left: readonly number[];
  /** Resolves when each entry is visible or refused. */
  readonly outcome: Promise<ColumnOutcome>;
}

export interface ReservedRows {
  readonly rows: RowColumns;
  readonly pending: PendingEntry;
  readonly firstOrder: number;
  /** Shared by the entries of a call. */
  readonly resolve: (durable: DurableEntry) => void;
  readonly reject: (error: unknown) => void;
}

export interface ColumnIntakeParts {
  readonly store: Pick<SampleStore, 'ends'>;
  readonly entries: Pick<PendingEntries, 'reserveColumns' | 'release'>;
  /** Gives the rows to the log. Throws what the log throws. */
  readonly place: (placed: ReservedRows) => void;
}

interface Reserved {
  /** Its place in the call. */
  readonly at: number;
  readonly rows: RowColumns;
  readonly pending: PendingEntry;
}

/** Each item has the rows of another device. Rejects, and nothing is placed, when the store does. */
export async function placeColumns(
  all: readonly RowColumns[],
  { store, entries, place }: ColumnIntakeParts,
): Promise<PlacedColumns> {
  const left: number[] = [];
  const reserved: Reserved[] = [];
  for (const [at, rows] of all.entries()) {
    const pending = entries.reserveColumns(rows);
    if (pending === undefined) left.push(at);
    else reserved.push({ at, rows, pending });
  }
  let ends: DeviceEnds;
  try {
    // The reservations hold back what could be stored at these times meanwhile.
    const found = store.ends(reserved.map(({ rows }) => rows.head.deviceId));
    ends = found instanceof Promise ? await found : found;
  } catch (error) {
    for (const { pending } of reserved) entries.release(pending, { error });
    throw error;
  }
  const collected = collectOutcome();
  const { resolve, reject } = collected;
  let stopped: { readonly error: unknown } | undefined;
  for (const [i, { at, rows, pending }] of reserved.entries()) {
    const isLater = (rows.timestamps[rows.from] ?? 0) > ends.newest[i]!;
    if (!isLater || stopped !== undefined) {
      entries.release(pending, stopped);
      if (!isLater) left.push(at);
      continue;
    }
    const firstOrder = pending.takeOrders(ends.nextOrders[i]!, rows.to - rows.from);
    try {
      place({ rows, pending, firstOrder, resolve, reject });
      collected.add();
    } catch (error) {
      stopped = { error };
      entries.release(pending, stopped);
    }
  }
  collected.placed(stopped);
  return { left: left.sort((a, b) => a - b), outcome: collected.outcome };
}

/**
 * Resolves in the turn in which the last entry settles, as the promise of a single entry does: so
 * entries are announced in the order of the journal.
 */
function collectOutcome() {
  const entries: DurableEntry[] = [];
  const { promise, resolve } = Promise.withResolvers<ColumnOutcome>();
  let failure: ColumnOutcome['failure'];
  let open = 0;
  const settled = (): void => {
    open -= 1;
    if (open === 0) resolve({ entries, failure });
  };
  return {
    outcome: promise,
    add: () => void (open += 1),
    resolve(durable: DurableEntry): void {
      entries.push(durable);
      settled();
    },
    reject(error: unknown): void {
      failure ??= { error };
      settled();
    },
    /** To be called in the turn of the placing, before anything settles. */
    placed(stopped: ColumnOutcome['failure']): void {
      failure = stopped;
      if (open === 0) resolve({ entries, failure });
    },
  };
}
