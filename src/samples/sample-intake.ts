// Sample intake: drops the duplicates of an entry, appends the rest to the log, and after the fsync writes it to the store.
import type { DataShape, ShapeInterner } from '../log/data-shape.ts';
import type { EntryLog } from '../log/entry-log.ts';
import type { EntryRows } from '../log/entry-encoding.ts';
import { type RowColumns, samplesOfColumns } from '../log/row-columns.ts';
import { LeafValues } from '../log/leaf-values.ts';
import type { LoggedEntry } from '../log/logged-entry.ts';
import { cursorsAt } from '../model/cursor.ts';
import { type DurableEntry, isWritten, type JournalEntry } from '../model/journal-entry.ts';
import type { EpochMs } from '../model/instant.ts';
import type { StoredSample } from '../model/sample.ts';
import { createPendingEntries, type PendingEntries, type PendingEntry } from './pending-entries.ts';
import type { Comparison, SampleStore } from './sample-store.ts';

export interface SampleIntake extends Pick<PendingEntries, 'forget' | 'idle'> {
  /** See `Samples.append`. */
  readonly append: (entry: JournalEntry) => Promise<DurableEntry>;
  /** See `Samples.appendColumns`. */
  readonly appendColumns: (entry: ColumnEntry) => Promise<PlacedEntry | undefined>;
}

/** An entry that has its place in the log. */
export interface PlacedEntry {
  /** Resolves as `append` does. */
  readonly durable: Promise<DurableEntry>;
}

/** Rows of one device, and nothing else. */
interface ColumnEntry {
  readonly deviceId: string;
  readonly receivedAt: EpochMs;
  readonly rows: RowColumns;
}

export interface SampleIntakeParts {
  readonly log: Pick<EntryLog, 'append' | 'appendColumns' | 'position'>;
  readonly shapes: ShapeInterner;
  readonly store: Pick<SampleStore, 'compare' | 'write'>;
}

/** An entry in the log that is not visible yet. */
interface LoggedAppend {
  readonly entry: JournalEntry;
  readonly pending: PendingEntry;
  readonly samples: EntryRows['samples'];
  /** Of an entry without `samples`. */
  readonly rows?: RowColumns;
  readonly duplicates: number;
  readonly position: number;
  readonly storedAt: EpochMs;
  readonly resolve: (durable: DurableEntry) => void;
  readonly reject: (error: unknown) => void;
}

/** Entries that one sync makes durable: the store gets them in one call. */
interface Group {
  readonly durable: Promise<void>;
  readonly logged: LoggedEntry[];
  readonly appends: LoggedAppend[];
}

/** One promise for each entry: everything else is for a group. */
export function createSampleIntake({ log, shapes, store }: SampleIntakeParts): SampleIntake {
  const entries = createPendingEntries();
  let newest: Group | undefined;

  function refuse(pending: PendingEntry, error: unknown): Promise<never> {
    entries.release(pending, { error });
    return Promise.reject(error);
  }

  function compare(deviceId: string, { fresh }: PendingEntry): ReturnType<SampleStore['compare']> {
    return fresh.length === 0 ? none : store.compare(deviceId, fresh);
  }

  function appendFresh(
    entry: JournalEntry,
    pending: PendingEntry,
    { identical, nextOrder }: Comparison,
  ): Promise<DurableEntry> {
    const samples = withoutIdentical(pending.fresh, identical);
    const duplicates = entry.samples.length - samples.length;
    if (samples.length === 0 && !isWritten({ ...entry, samples })) {
      const nothing = { ...entry, position: log.position, samples: [], duplicates };
      return new Promise((resolve, reject) => {
        settle({ pending, resolve, reject }, nothing);
      });
    }
    const { deviceId } = entry;
    const rows = rowsOf(samples, shapes);
    // Numbered in the same turn in which the log gives the position, so that both count in one
    // order.
    const firstOrder = pending.takeOrders(nextOrder, samples.length);
    const added = log.append({ entry, rows, duplicates, firstOrder });
    const { position, storedAt, bytes } = added;
    const group = groupOf(added.durable);
    group.logged.push({ position, deviceId, firstOrder, rows, bytes });
    return new Promise((resolve, reject) => {
      const settling = { resolve, reject };
      group.appends.push({ entry, pending, samples, duplicates, position, storedAt, ...settling });
    });
  }

  /** Entries of one group have the same promise. */
  function groupOf(durable: Promise<void>): Group {
    if (newest?.durable !== durable) {
      newest = { durable, logged: [], appends: [] };
      void finish(newest);
    }
    return newest;
  }

  async function finish({ durable, logged, appends }: Group): Promise<void> {
    try {
      await durable;
      await store.write(logged, 'new');
    } catch (error) {
      for (const append of appends) fail(append, error);
      return;
    }
    for (const append of appends) settle(append, durableEntryOf(append));
  }

  /** What the entry repeats must be visible too. */
  function settle(
    append: Pick<LoggedAppend, 'pending' | 'resolve' | 'reject'>,
    durable: DurableEntry,
  ): void {
    const { pending, resolve } = append;
    const done = (): void => {
      entries.release(pending);
      resolve(durable);
    };
    if (pending.repeated === undefined) done();
    else pending.repeatedDone().then(done, (error: unknown) => fail(append, error));
  }

  function fail({ pending, reject }: Pick<LoggedAppend, 'pending' | 'reject'>, error: unknown) {
    entries.release(pending, { error });
    reject(error);
  }

  function appendOrRefuse(
    entry: JournalEntry,
    pending: PendingEntry,
    comparison: Comparison,
  ): Promise<DurableEntry> {
    try {
      return appendFresh(entry, pending, comparison);
    } catch (error) {
      return refuse(pending, error);
    }
  }

  /** Undefined when some of the rows may be stored already. */
  function placeColumns(
    { deviceId, receivedAt, rows }: ColumnEntry,
    pending: PendingEntry,
    { nextOrder, newest: newestStored }: Comparison,
  ): PlacedEntry | undefined {
    const { length } = rows.timestamps;
    if ((rows.timestamps[0] ?? newestStored) <= newestStored) return undefined;
    const firstOrder = pending.takeOrders(nextOrder, length);
    const { position, storedAt, bytes, durable } = log.appendColumns({
      receivedAt,
      rows,
      firstOrder,
    });
    const group = groupOf(durable);
    group.logged.push({ position, deviceId, firstOrder, rows, bytes });
    const { promise, ...settling } = Promise.withResolvers<DurableEntry>();
    const entry = { deviceId, receivedAt, notes: [], samples: [] };
    const placed = { entry, pending, samples: [], rows, duplicates: 0, position, storedAt };
    group.appends.push({ ...placed, ...settling });
    return { durable: promise };
  }

  return {
    forget: entries.forget,
    idle: entries.idle,
    async appendColumns(entry) {
      const pending = entries.reserveColumns(entry.rows);
      if (pending === undefined) return undefined;
      try {
        const placed = placeColumns(entry, pending, await store.compare(entry.deviceId, []));
        if (placed === undefined) entries.release(pending);
        return placed;
      } catch (error) {
        return refuse(pending, error);
      }
    },
    append(entry) {
      const pending = entries.reserve(entry);
      try {
        const compared = compare(entry.deviceId, pending);
        // Most comparisons wait for nothing.
        if (!(compared instanceof Promise)) return appendFresh(entry, pending, compared);
        return compared.then(
          (comparison) => appendOrRefuse(entry, pending, comparison),
          (error: unknown) => refuse(pending, error),
        );
      } catch (error) {
        return refuse(pending, error);
      }
    },
  };
}

function durableEntryOf(append: LoggedAppend): DurableEntry {
  const { entry, samples, rows, duplicates, position, storedAt } = append;
  if (rows !== undefined) return durableColumns(rows, append);
  return { ...entry, position, samples: storedSamples(samples, position, storedAt), duplicates };
}

/** The samples are made when they are first read: most bulk entries have no reader. */
function durableColumns(
  rows: RowColumns,
  { entry: { deviceId, receivedAt }, position, storedAt }: LoggedAppend,
): DurableEntry {
  const { head, timestamps } = rows;
  let samples: StoredSample[] | undefined;
  return {
    deviceId,
    receivedAt,
    notes: [],
    position,
    duplicates: 0,
    summary: {
      count: timestamps.length,
      workspaceId: head.workspaceId,
      oldest: timestamps[0] ?? receivedAt,
    },
    get samples() {
      samples ??= storedSamples(samplesOfColumns(rows), position, storedAt);
      return samples;
    },
  };
}

function storedSamples(
  samples: EntryRows['samples'],
  position: number,
  storedAt: EpochMs,
): StoredSample[] {
  const cursorOf = cursorsAt(position);
  return samples.map(
    (sample, i): StoredSample => ({ ...sample, storedAt, cursor: cursorOf(i + 1) }),
  );
}

const none: Comparison = {
  identical: new Set(),
  nextOrder: 0,
  newest: Number.NEGATIVE_INFINITY,
};

function withoutIdentical(
  samples: PendingEntry['fresh'],
  identical: ReadonlySet<number>,
): PendingEntry['fresh'] {
  if (identical.size === 0) return samples;
  return samples.filter(({ stored }, i) => !stored || !identical.has(i));
}

function rowsOf(samples: EntryRows['samples'], interner: ShapeInterner): EntryRows {
  const values = new LeafValues();
  const shapes: DataShape[] = [];
  let shape: DataShape | undefined;
  for (const { data } of samples) {
    shape = interner.shapeOf(data, values, shape);
    shapes.push(shape);
  }
  return { samples, shapes, values };
}
