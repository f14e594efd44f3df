// Sample intake: drops the duplicates of an entry, logs the rest and gives it to the store.
import type { DataShape, ShapeInterner } from '../log/data-shape.ts';
import type { EntryLog } from '../log/entry-log.ts';
import type { EntryRows } from '../log/entry-encoding.ts';
import { samplesOfColumns } from '../log/row-columns.ts';
import type { LoggedEntry, RowColumns } from '../log/logged-entry.ts';
import { LeafValues } from '../log/leaf-values.ts';
import { cursorsAt } from '../model/cursor.ts';
import { type DurableEntry, isWritten, type JournalEntry } from '../model/journal-entry.ts';
import type { EpochMs } from '../model/instant.ts';
import type { StoredSample } from '../model/sample.ts';
import { type PlacedColumns, placeColumns, type PlacedRows } from './column-intake.ts';
import { createPendingEntries, type PendingEntries, type PendingEntry } from './pending-entries.ts';
import type { Comparison, SampleStore } from './sample-store.ts';

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
  readonly store: Pick<SampleStore, 'compare' | 'ends' | 'write'>;
}

/** An append that has no answer yet. */
interface Settling {
  readonly pending: PendingEntry;
  readonly resolve: (durable: DurableEntry) => void;
  readonly reject: (error: unknown) => void;
}

/** An entry in the log that is not visible yet. */
interface LoggedAppend {
  readonly entry: JournalEntry;
  readonly samples: EntryRows['samples'];
  /** Of an entry without `samples`. */
  readonly rows?: RowColumns;
  readonly duplicates: number;
  readonly position: number;
  readonly storedAt: EpochMs;
  readonly settling: Settling;
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
  const { settle, fail } = createSettling(entries);
  const groups = createGroups(store, { settle, fail });

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
    const rows = rowsOf(samples, shapes);
    // Numbered in the same turn in which the log gives the position, so that both count in one
    // order.
    const firstOrder = pending.takeOrders(nextOrder, samples.length);
    const added = log.append({ entry, rows, duplicates, firstOrder });
    const { position, storedAt, bytes } = added;
    const group = groups.of(added.durable);
    group.logged.push({ position, deviceId, firstOrder, rows, bytes });
    group.appends.push({ entry, samples, duplicates, position, storedAt, settling });
  }

  return {
    forget: entries.forget,
    idle: entries.idle,
    appendColumns: (rows, receivedAt) => {
      const place = (placed: PlacedRows): void => addColumns(placed, receivedAt, { log, groups });
      return placeColumns(rows, { store, entries, place });
    },
    append(entry) {
      const pending = entries.reserve(entry);
      return new Promise((resolve, reject) => {
        const settling = { pending, resolve, reject };
        const refuse = (error: unknown): void => fail(settling, error);
        try {
          const compared = compare(entry.deviceId, pending);
          // Most comparisons wait for nothing.
          if (!(compared instanceof Promise)) appendFresh(entry, compared, settling);
          else compared.then((found) => appendFresh(entry, found, settling)).catch(refuse);
        } catch (error) {
          refuse(error);
        }
      });
    },
  };
}

function addColumns(
  { rows, firstOrder, ...settling }: PlacedRows,
  receivedAt: EpochMs,
  { log, groups }: { readonly log: SampleIntakeParts['log']; readonly groups: Groups },
): void {
  const { deviceId } = rows.head;
  const added = log.appendColumns({ receivedAt, rows, firstOrder });
  const { position, storedAt, bytes } = added;
  const group = groups.of(added.durable);
  group.logged.push({ position, deviceId, firstOrder, rows, bytes });
  const entry = { deviceId, receivedAt, notes: [], samples: [] };
  group.appends.push({ entry, samples: [], rows, duplicates: 0, position, storedAt, settling });
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

interface Groups {
  /** The group of entries that become durable with the promise. */
  of(durable: Promise<void>): Group;
}

/** Gives the store what one sync made durable, and settles its appends. */
function createGroups(store: SampleIntakeParts['store'], { settle, fail }: Settlements): Groups {
  let newest: Group | undefined;

  async function finish({ durable, logged, appends }: Group): Promise<void> {
    try {
      await durable;
      await store.write(logged, 'new');
    } catch (error) {
      for (const { settling } of appends) fail(settling, error);
      return;
    }
    for (const append of appends) settle(append.settling, durableEntryOf(append));
  }

  return {
    of(durable) {
      // Entries of one group have the same promise.
      if (newest?.durable !== durable) {
        newest = { durable, logged: [], appends: [] };
        void finish(newest);
      }
      return newest;
    },
  };
}

function durableEntryOf(append: LoggedAppend): DurableEntry {
  const { entry, samples, rows, duplicates, position, storedAt } = append;
  if (rows !== undefined) return durableColumns(rows, append);
  return { ...entry, position, samples: storedSamples(samples, position, storedAt), duplicates };
}

/** The samples are built at their first read, because most bulk entries have no reader. */
function durableColumns(
  rows: RowColumns,
  { entry: { deviceId, receivedAt }, position, storedAt }: LoggedAppend,
): DurableEntry {
  const { head, timestamps, from, to } = rows;
  let samples: StoredSample[] | undefined;
  return {
    deviceId,
    receivedAt,
    notes: [],
    position,
    duplicates: 0,
    summary: {
      count: to - from,
      workspaceId: head.workspaceId,
      oldest: timestamps[from] ?? receivedAt,
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
