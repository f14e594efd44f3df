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
import { PendingEntries, type PendingEntry } from './pending-entries.ts';
import {
  columnEntryOf,
  EntryGroups,
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
export class SampleIntake implements Pick<PendingEntries, 'forget' | 'idle'> {
  readonly #log: Pick<EntryLog, 'append' | 'appendColumns' | 'position'>;
  readonly #store: Pick<SampleStore, 'compare' | 'ends' | 'write' | 'numbered'>;
  readonly #entries = new PendingEntries();
  readonly #settle;
  readonly #fail;
  readonly #groups;
  readonly #singles;
  readonly #rowsOf: RowSplitter;

  constructor(
    log: Pick<EntryLog, 'append' | 'appendColumns' | 'position'>,
    shapes: ShapeInterner,
    store: Pick<SampleStore, 'compare' | 'ends' | 'write' | 'numbered'>,
  ) {
    this.#log = log;
    this.#store = store;
    const { settle, fail } = new Settlements(this.#entries);
    this.#settle = settle;
    this.#fail = fail;
    this.#groups = new EntryGroups(store, (group, refusal) => this.#singles.left(group, refusal));
    this.#singles = createSingleRows({
      log,
      shapes,
      store,
      groups: this.#groups,
      entries: this.#entries,
    });
    this.#rowsOf = createRowSplitter(shapes);
  }

  /** Discards the samples of the device: what comes now repeats none of them. */
  readonly forget = (deviceId: string): void => this.#entries.forget(deviceId);

  /** Resolves when no entry is pending. */
  async idle(): Promise<void> {
    for (const group of this.#groups.inFlight) await group.visible.catch(() => undefined);
    await this.#entries.idle();
  }

  /** See `Samples.appendColumns`. */
  appendColumns(rows: readonly RowColumns[], receivedAt: EpochMs): Promise<PlacedColumns> {
    return placeColumns(rows, {
      store: this.#store,
      entries: this.#entries,
      makePending: this.#singles.makePending,
      placeSingle: (row, to) => this.#singles.appendColumns(row, receivedAt, to),
      place: (reserved) => this.#addColumns(reserved, receivedAt),
    });
  }

  /** See `Samples.append`. */
  append(entry: JournalEntry): Promise<DurableEntry> {
    const single = this.#singles.append(entry);
    if (single !== undefined) return single;
    this.#singles.makePending(entry.deviceId);
    const pending = this.#entries.reserve(entry);
    return new Promise((resolve, reject) => this.#start(entry, { pending, resolve, reject }));
  }

  #compare(deviceId: string, { fresh }: PendingEntry): ReturnType<SampleStore['compare']> {
    return fresh.length === 0 ? none : this.#store.compare(deviceId, fresh);
  }

  /** Throws what the log throws. */
  #appendFresh(
    entry: JournalEntry,
    { identical, nextOrder }: Comparison,
    settling: Settling,
  ): void {
    const { pending } = settling;
    const samples = withoutIdentical(pending.fresh, identical);
    const duplicates = entry.samples.length - samples.length;
    if (samples.length === 0 && !isWritten({ ...entry, samples })) {
      this.#settle(settling, { ...entry, position: this.#log.position, samples: [], duplicates });
      return;
    }
    const { deviceId } = entry;
    const rows = this.#rowsOf(samples);
    // Numbered in the same turn in which the log gives the position, so that both count in one
    // order.
    const firstOrder = pending.takeOrders(nextOrder, samples.length);
    const added = this.#log.append({ entry, rows, duplicates, firstOrder });
    const { position, storedAt, bytes } = added;
    const placed = { position, deviceId, firstOrder, rows, bytes, entry, duplicates, storedAt };
    this.#place(this.#groups.of(added.durable), { ...placed, ...settling });
  }

  #place(group: EntryGroup, append: LoggedAppend): void {
    group.items.push(append);
    group.visible.then(
      () => this.#settle(append, durableEntryOf(append)),
      (error: unknown) => this.#fail(append, error),
    );
  }

  #addColumns({ rows, firstOrder, ...settling }: ReservedRows, receivedAt: EpochMs): void {
    const { deviceId } = rows;
    const added = this.#log.appendColumns({ receivedAt, rows, firstOrder });
    const { position, storedAt, bytes } = added;
    const entry = columnEntryOf(deviceId, receivedAt);
    const placed = { position, deviceId, firstOrder, rows, bytes, entry, duplicates: 0, storedAt };
    this.#place(this.#groups.of(added.durable), { ...placed, ...settling });
  }

  #start(entry: JournalEntry, settling: Settling): void {
    try {
      const compared = this.#compare(entry.deviceId, settling.pending);
      // Most comparisons wait for nothing.
      if (!(compared instanceof Promise)) this.#appendFresh(entry, compared, settling);
      else
        compared
          .then((found) => this.#appendFresh(entry, found, settling))
          .catch((error: unknown) => this.#fail(settling, error));
    } catch (error) {
      this.#fail(settling, error);
    }
  }
}

class Settlements {
  readonly #entries: PendingEntries;

  constructor(entries: PendingEntries) {
    this.#entries = entries;
  }

  /** Waits for what the entry repeats, which must be visible too. */
  readonly settle = (settling: Settling, durable: DurableEntry): void => {
    if (settling.pending.repeated === undefined) this.#succeed(settling, durable);
    else void this.#settleRepeated(settling, durable);
  };

  readonly fail = ({ pending, reject }: Settling, error: unknown): void => {
    this.#entries.release(pending, { error });
    reject(error);
  };

  #succeed({ pending, resolve }: Settling, durable: DurableEntry): void {
    this.#entries.release(pending);
    resolve(durable);
  }

  async #settleRepeated(settling: Settling, durable: DurableEntry): Promise<void> {
    try {
      await settling.pending.repeatedDone();
    } catch (error) {
      this.fail(settling, error);
      return;
    }
    this.#succeed(settling, durable);
  }
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
