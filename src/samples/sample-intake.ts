// Sample intake: drops the duplicates of entries, appends the rest to the log, and after the fsync writes it to the store.
// The entries of one turn of the event loop go together, so that each costs one promise.
import type { DataShape, ShapeInterner } from '../log/data-shape.ts';
import type { EntryLog } from '../log/entry-log.ts';
import type { EntryRows } from '../log/entry-encoding.ts';
import { LeafValues } from '../log/leaf-values.ts';
import type { LoggedEntry } from '../log/logged-entry.ts';
import { cursorsAt } from '../model/cursor.ts';
import { type DurableEntry, isWritten, type JournalEntry } from '../model/journal-entry.ts';
import type { EpochMs } from '../model/instant.ts';
import type { StoredSample } from '../model/sample.ts';
import { type RowColumns, samplesOfColumns } from '../log/row-columns.ts';
import { missing } from '../structures/missing.ts';
import { createPendingEntries, type PendingEntries, type PendingEntry } from './pending-entries.ts';
import type { Comparison, SampleStore } from './sample-store.ts';

export interface SampleIntake extends Pick<PendingEntries, 'forget' | 'idle'> {
  /** See `Samples.append`. */
  readonly append: (entry: JournalEntry) => Promise<DurableEntry>;
  /** See `Samples.appendColumns`. */
  readonly appendColumns: (entry: ColumnEntry) => Promise<PlacedEntry | undefined>;
}

export interface SampleIntakeParts {
  readonly log: Pick<EntryLog, 'append' | 'appendColumns' | 'position'>;
  readonly shapes: ShapeInterner;
  readonly store: Pick<SampleStore, 'compare' | 'write'>;
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

/** An entry on its way, and the promise of its caller. */
interface Arrival {
  readonly entry: JournalEntry;
  readonly resolve: (durable: DurableEntry) => void;
  readonly reject: (error: unknown) => void;
}

/** An arrival whose samples are reserved. */
interface Reserved extends Arrival {
  readonly pending: PendingEntry;
}

/** An arrival that is in a group of the log. */
interface Placed {
  readonly arrival: Reserved;
  readonly durable: DurableEntry;
}

/** What one sync makes durable. */
interface SyncGroup {
  readonly entries: LoggedEntry[];
  readonly placed: Placed[];
}

export function createSampleIntake(parts: SampleIntakeParts): SampleIntake {
  const { store } = parts;
  const entries = createPendingEntries();
  const groups = createSyncGroups(store, finish, fail);
  let arrivals: Arrival[] = [];

  async function takeArrivals(): Promise<void> {
    const reserved = arrivals.map(
      (arrival): Reserved => ({ ...arrival, pending: entries.reserve(arrival.entry) }),
    );
    arrivals = [];
    try {
      const compared = await store.compare(
        reserved.map(({ entry, pending }) => ({
          deviceId: entry.deviceId,
          samples: pending.fresh,
        })),
      );
      for (const [i, arrival] of reserved.entries())
        place(arrival, compared[i] ?? missing('comparison of an entry'));
    } catch (error) {
      for (const arrival of reserved) fail(arrival, error);
    }
  }

  function place(arrival: Reserved, { identical, nextOrder }: Comparison): void {
    const { entry, pending } = arrival;
    const samples = withoutIdentical(pending.fresh, identical);
    const duplicates = entry.samples.length - samples.length;
    if (samples.length === 0 && !isWritten({ ...entry, samples })) {
      const { position } = parts.log;
      finish({ arrival, durable: { ...entry, position, samples: [], duplicates } });
      return;
    }
    try {
      // Numbered in the same turn in which the log gives the position, so that both count in one
      // order.
      const firstOrder = pending.takeOrders(nextOrder, samples.length);
      const rows = rowsOf(samples, parts.shapes);
      const { position, storedAt, bytes, durable } = parts.log.append({
        entry,
        rows,
        duplicates,
        firstOrder,
      });
      const stored = storedSamples(samples, position, storedAt);
      const group = groups.of(durable);
      const { deviceId } = entry;
      group.entries.push({ position, deviceId, firstOrder, rows, bytes });
      group.placed.push({ arrival, durable: { ...entry, position, samples: stored, duplicates } });
    } catch (error) {
      fail(arrival, error);
    }
  }

  function finish({ arrival, durable }: Placed): void {
    const { pending, resolve, reject } = arrival;
    const { repeated } = pending;
    if (repeated === undefined) {
      entries.release(pending);
      resolve(durable);
      return;
    }
    pending.repeatedDone().then(
      () => {
        entries.release(pending);
        resolve(durable);
      },
      (error: unknown) => {
        entries.release(pending, { error });
        reject(error);
      },
    );
  }

  function fail({ pending, reject }: Reserved, error: unknown): void {
    entries.release(pending, { error });
    reject(error);
  }

  /** Places the rows unless some may be stored already; returns whether they were placed. */
  async function placeColumns(entry: ColumnEntry, arrival: Reserved): Promise<boolean> {
    const { rows, receivedAt } = entry;
    const { deviceId } = rows.head;
    const [compared] = await store.compare([{ deviceId, samples: [] }]);
    const { nextOrder, newest } = compared ?? missing('comparison of an entry');
    if ((rows.timestamps[0] ?? newest) <= newest) return false;
    const firstOrder = arrival.pending.takeOrders(nextOrder, rows.timestamps.length);
    const appended = parts.log.appendColumns({ receivedAt, rows, firstOrder });
    const { position, storedAt, bytes } = appended;
    const group = groups.of(appended.durable);
    group.entries.push({ position, deviceId, firstOrder, rows, bytes });
    group.placed.push({ arrival, durable: durableColumns(entry, position, storedAt) });
    return true;
  }

  return {
    forget: entries.forget,
    idle: entries.idle,
    append: (entry) =>
      new Promise((resolve, reject) => {
        if (arrivals.length === 0) queueMicrotask(() => void takeArrivals());
        arrivals.push({ entry, resolve, reject });
      }),
    appendColumns: async (entry) => {
      const pending = entries.reserveColumns(entry.rows);
      if (pending === undefined) return undefined;
      const settled = Promise.withResolvers<DurableEntry>();
      const { deviceId, receivedAt } = entry;
      const whole = { deviceId, receivedAt, notes: [], samples: [] };
      let isPlaced = false;
      try {
        isPlaced = await placeColumns(entry, { entry: whole, pending, ...settled });
      } catch (error) {
        entries.release(pending, { error });
        throw error;
      }
      if (isPlaced) return { durable: settled.promise };
      entries.release(pending);
      return undefined;
    },
  };
}

/** The samples are made when they are first read: most bulk entries are followed by nobody. */
function durableColumns(
  { deviceId, receivedAt, rows }: ColumnEntry,
  position: number,
  storedAt: EpochMs,
): DurableEntry {
  let samples: StoredSample[] | undefined;
  return {
    deviceId,
    receivedAt,
    notes: [],
    position,
    duplicates: 0,
    summary: {
      count: rows.timestamps.length,
      workspaceId: rows.head.workspaceId,
      oldest: rows.timestamps[0] ?? receivedAt,
    },
    get samples() {
      samples ??= storedSamples(samplesOfColumns(rows), position, storedAt);
      return samples;
    },
  };
}

interface SyncGroups {
  /** The group of the entries that the log makes durable with this promise. */
  of(durable: Promise<void>): SyncGroup;
}

/** Writes the entries of one sync to the store together, then ends each. */
function createSyncGroups(
  store: SampleIntakeParts['store'],
  finish: (placed: Placed) => void,
  fail: (arrival: Reserved, error: unknown) => void,
): SyncGroups {
  let group: SyncGroup = { entries: [], placed: [] };
  let groupDurable: Promise<void> | undefined;

  async function write({ entries, placed }: SyncGroup, durable: Promise<void>): Promise<void> {
    try {
      await durable;
      await store.write(entries, 'new');
    } catch (error) {
      for (const { arrival } of placed) fail(arrival, error);
      return;
    }
    for (const each of placed) finish(each);
  }

  return {
    of(durable) {
      // Entries of one group have the same promise.
      if (durable !== groupDurable) {
        groupDurable = durable;
        group = { entries: [], placed: [] };
        void write(group, durable);
      }
      return group;
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
