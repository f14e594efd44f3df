// Sample intake: drops the duplicates of an entry, appends the rest to the log, and after the fsync writes it to the store.
import type { DataShape, ShapeInterner } from '../log/data-shape.ts';
import type { EntryLog } from '../log/entry-log.ts';
import type { EntryRows } from '../log/entry-encoding.ts';
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
}

export interface SampleIntakeParts {
  readonly log: Pick<EntryLog, 'append' | 'position'>;
  readonly shapes: ShapeInterner;
  readonly store: Pick<SampleStore, 'compare' | 'write'>;
}

/** An entry in the log that is not visible yet. */
interface LoggedAppend {
  readonly entry: JournalEntry;
  readonly pending: PendingEntry;
  readonly samples: EntryRows['samples'];
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

  return {
    forget: entries.forget,
    idle: entries.idle,
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

function durableEntryOf({
  entry,
  samples,
  duplicates,
  position,
  storedAt,
}: LoggedAppend): DurableEntry {
  return { ...entry, position, samples: storedSamples(samples, position, storedAt), duplicates };
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

const none: Comparison = { identical: new Set(), nextOrder: 0 };

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
