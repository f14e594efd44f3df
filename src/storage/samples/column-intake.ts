// Column intake: reserves and places rows in columns, which are later than all that their devices have.
import type { RowColumns } from '../log/logged-entry.ts';
import type { DurableEntry, DurableItem, DurableRows } from '../../model/journal-entry.ts';
import type { PendingEntries, PendingEntry } from './pending-entries.ts';
import type { DeviceEnds, SampleStore } from './sample-store.ts';
import type { RowsTogether } from './single-rows.ts';

/** The result for the entries of one call. */
interface ColumnOutcome {
  /** In the order of their positions. */
  readonly items: readonly DurableItem[];
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

interface Reserved {
  /** Its place in the call. */
  readonly at: number;
  readonly rows: RowColumns;
  readonly pending: PendingEntry;
}

/** Each item has the rows of another device. Rejects, and nothing is placed, when the store does. */
export async function placeColumns(
  all: readonly RowColumns[],
  {
    store,
    entries,
    makePending,
    placeSingle,
    place,
  }: {
    readonly store: SampleStore;
    readonly entries: PendingEntries;
    /** See `SingleRows`. */
    readonly makePending: (deviceId: string) => void;
    /** See `SingleRows.appendColumns`. */
    readonly placeSingle: (rows: RowColumns, to: RowsTogether) => boolean;
    /** Gives the rows to the log. Throws what the log throws. */
    readonly place: (placed: ReservedRows) => void;
  },
): Promise<PlacedColumns> {
  const left: number[] = [];
  const reserved: Reserved[] = [];
  const collected = collectOutcome();
  const together: RowsTogether = { range: undefined, ...collected.together };
  let stopped: { readonly error: unknown } | undefined;
  for (const [at, rows] of all.entries()) {
    try {
      if (stopped !== undefined || placeSingle(rows, together)) continue;
    } catch (error) {
      stopped = { error };
      continue;
    }
    makePending(rows.deviceId);
    const pending = entries.reserveColumns(rows);
    if (pending === undefined) left.push(at);
    else reserved.push({ at, rows, pending });
  }
  let ends: DeviceEnds;
  try {
    // The reservations hold back what could be stored at these times meanwhile.
    const found = store.ends(reserved.map(({ rows }) => rows.deviceId));
    ends = found instanceof Promise ? await found : found;
  } catch (error) {
    for (const { pending } of reserved.splice(0)) entries.release(pending, { error });
    // What is placed has an outcome.
    if (together.range === undefined) throw error;
    stopped ??= { error };
    ends = noEnds;
  }
  const { resolve, reject } = collected;
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

const noEnds: DeviceEnds = { newest: new Float64Array(0), nextOrders: new Float64Array(0) };

/**
 * Resolves in the turn in which the last entry settles, as the promise of a single entry does: so
 * entries are announced in the order of the journal.
 */
function collectOutcome() {
  const items: DurableItem[] = [];
  const { promise, resolve } = Promise.withResolvers<ColumnOutcome>();
  let failure: ColumnOutcome['failure'];
  // The placing itself is one.
  let open = 1;
  const settled = (): void => {
    open -= 1;
    if (open === 0) resolve({ items, failure });
  };
  const reject = (error: unknown): void => {
    failure ??= { error };
    settled();
  };
  return {
    outcome: promise,
    add: () => void (open += 1),
    together: {
      added: () => void (open += 1),
      visible(rows: readonly DurableRows[]): void {
        items.push(...rows);
        settled();
      },
      refused: reject,
    },
    resolve(durable: DurableEntry): void {
      items.push(durable);
      settled();
    },
    reject,
    /** To be called when all have their places; `stopped` is why some have none. */
    placed(stopped: ColumnOutcome['failure']): void {
      failure ??= stopped;
      settled();
    },
  };
}
