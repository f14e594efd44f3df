// Sample intake: drops the duplicates of an entry, logs the rest and gives it to the store.
import type { EpochMs } from '../../model/instant.ts';
import { type DurableEntry, isWritten, type JournalEntry } from '../../model/journal-entry.ts';
import { missing } from '../../structures/missing.ts';
import type { DataShape, ShapeInterner } from '../log/data-shape.ts';
import type { EntryRows } from '../log/entry-encoding.ts';
import type { EntryLog } from '../log/entry-log.ts';
import { LeafValues } from '../log/leaf-values.ts';
import type { RowColumns } from '../log/logged-entry.ts';
import { placeColumns, type PlacedColumns, type ReservedRows } from './column-intake.ts';
import { createPendingEntries, type PendingEntries, type PendingEntry } from './pending-entries.ts';
import {
  columnEntryOf,
  createEntryGroups,
  durableEntryOf,
  type EntryGroup,
  type PlacedRows,
} from './placed-rows.ts';
import type { Comparison, SampleStore } from './sample-store.ts';
import { createSingleRows } from './single-rows.ts';

// Row splitter: takes the data of samples apart, into shapes and lists of values that entries share.

/** A list of more values is not continued, because it lives until its last entry is durable. */
const sharedValuesMax = 4_096;

type RowSplitter = (samples: EntryRows['samples']) => EntryRows;

function createRowSplitter(interner: ShapeInterner): RowSplitter {
  let values = new LeafValues();
  let alone: readonly DataShape[] = [];

  function shapesOf(samples: EntryRows['samples']): readonly DataShape[] {
    const guess = alone[0];
    const [first] = samples;
    if (first === undefined) return [];
    let shape = interner.shapeOf(first.data, values, guess);
    if (samples.length === 1) {
      // Consecutive entries usually have the same shape.
      if (shape !== guess) alone = [shape];
      return alone;
    }
    const shapes = [shape];
    for (let i = 1; i < samples.length; i++) {
      shape = interner.shapeOf((samples[i] ?? missing('sample')).data, values, shape);
      shapes.push(shape);
    }
    return shapes;
  }

  return (samples) => {
    if (values.length >= sharedValuesMax) values = new LeafValues();
    const valuesAt = values.length;
    return { samples, shapes: shapesOf(samples), values, valuesAt };
  };
}

export interface SampleIntake extends Pick<PendingEntries, 'forget' | 'idle'> {
  /** See `Samples.append`. */
  readonly append: (entry: JournalEntry) => Promise<DurableEntry>;
  /** See `Samples.appendColumns`. */
  readonly appendColumns: (
    rows: readonly RowColumns[],
    receivedAt: EpochMs,
  ) => Promise<PlacedColumns>;
}

export interface SampleIntakeParts {
  readonly log: Pick<EntryLog, 'append' | 'appendColumns' | 'position'>;
  readonly shapes: ShapeInterner;
  readonly store: Pick<SampleStore, 'compare' | 'ends' | 'write' | 'numbered'>;
}

/** An append that has no answer yet. */
interface Settling {
  readonly pending: PendingEntry;
  readonly resolve: (durable: DurableEntry) => void;
  readonly reject: (error: unknown) => void;
}

/** An entry in the log that is not visible yet. */
interface LoggedAppend extends PlacedRows, Settling {}

/**
 * What lives until an entry is durable costs most, because collections of garbage copy it: one
 * promise, what is pending, and one object with its place. Values are in arrays of many entries.
 */
export function createSampleIntake({ log, shapes, store }: SampleIntakeParts): SampleIntake {
  const entries = createPendingEntries();
  const { settle, fail } = createSettling(entries);
  const groups = createEntryGroups(store, (group, refusal) => singles.left(group, refusal));
  const singles = createSingleRows({ log, shapes, store, groups, entries });
  const rowsOf = createRowSplitter(shapes);

  function compare(deviceId: string, { fresh }: PendingEntry): ReturnType<SampleStore['compare']> {
    return fresh.length === 0 ? none : store.compare(deviceId, fresh);
  }

  /** Throws what the log throws. */
  function appendFresh(
    entry: JournalEntry,
    { identical, nextOrder }: Comparison,
    settling: Settling,
  ): void {
    const { pending } = settling;
    const samples = withoutIdentical(pending.fresh, identical);
    const duplicates = entry.samples.length - samples.length;
    if (samples.length === 0 && !isWritten({ ...entry, samples })) {
      settle(settling, { ...entry, position: log.position, samples: [], duplicates });
      return;
    }
    const { deviceId } = entry;
    const rows = rowsOf(samples);
    // Numbered in the same turn in which the log gives the position, so that both count in one
    // order.
    const firstOrder = pending.takeOrders(nextOrder, samples.length);
    const added = log.append({ entry, rows, duplicates, firstOrder });
    const { position, storedAt, bytes } = added;
    const placed = { position, deviceId, firstOrder, rows, bytes, entry, duplicates, storedAt };
    place(groups.of(added.durable), { ...placed, ...settling });
  }

  function place(group: EntryGroup, append: LoggedAppend): void {
    group.items.push(append);
    group.visible.then(
      () => settle(append, durableEntryOf(append)),
      (error: unknown) => fail(append, error),
    );
  }

  function addColumns({ rows, firstOrder, ...settling }: ReservedRows, receivedAt: EpochMs): void {
    const { deviceId } = rows;
    const added = log.appendColumns({ receivedAt, rows, firstOrder });
    const { position, storedAt, bytes } = added;
    const entry = columnEntryOf(deviceId, receivedAt);
    const placed = { position, deviceId, firstOrder, rows, bytes, entry, duplicates: 0, storedAt };
    place(groups.of(added.durable), { ...placed, ...settling });
  }

  function start(entry: JournalEntry, settling: Settling): void {
    try {
      const compared = compare(entry.deviceId, settling.pending);
      // Most comparisons wait for nothing.
      if (!(compared instanceof Promise)) appendFresh(entry, compared, settling);
      else
        compared
          .then((found) => appendFresh(entry, found, settling))
          .catch((error: unknown) => fail(settling, error));
    } catch (error) {
      fail(settling, error);
    }
  }

  return {
    forget: entries.forget,
    async idle() {
      for (const group of groups.inFlight) await group.visible.catch(() => undefined);
      await entries.idle();
    },
    appendColumns: (rows, receivedAt) =>
      placeColumns(rows, {
        store,
        entries,
        makePending: singles.makePending,
        placeSingle: (row, to) => singles.appendColumns(row, receivedAt, to),
        place: (reserved) => addColumns(reserved, receivedAt),
      }),
    append(entry) {
      const single = singles.append(entry);
      if (single !== undefined) return single;
      singles.makePending(entry.deviceId);
      const pending = entries.reserve(entry);
      return new Promise((resolve, reject) => start(entry, { pending, resolve, reject }));
    },
  };
}

interface Settlements {
  /** Waits for what the entry repeats, which must be visible too. */
  settle(settling: Settling, durable: DurableEntry): void;
  fail(settling: Settling, error: unknown): void;
}

function createSettling(entries: PendingEntries): Settlements {
  function succeed({ pending, resolve }: Settling, durable: DurableEntry): void {
    entries.release(pending);
    resolve(durable);
  }

  function fail({ pending, reject }: Settling, error: unknown): void {
    entries.release(pending, { error });
    reject(error);
  }

  async function settleRepeated(settling: Settling, durable: DurableEntry): Promise<void> {
    try {
      await settling.pending.repeatedDone();
    } catch (error) {
      fail(settling, error);
      return;
    }
    succeed(settling, durable);
  }

  return {
    settle(settling, durable) {
      if (settling.pending.repeated === undefined) succeed(settling, durable);
      else void settleRepeated(settling, durable);
    },
    fail,
  };
}

const none: Comparison = {
  identical: new Set(),
  nextOrder: 0,
};

function withoutIdentical(
  samples: PendingEntry['fresh'],
  identical: ReadonlySet<number>,
): PendingEntry['fresh'] {
  if (identical.size === 0) return samples;
  return samples.filter(({ stored }, i) => !stored || !identical.has(i));
}
