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

export function createSampleIntake(parts: SampleIntakeParts): SampleIntake {
  const { log, shapes, store } = parts;
  const entries = createPendingEntries();
  const visibility = createVisibility(store);

  async function appendPending(entry: JournalEntry, pending: PendingEntry): Promise<DurableEntry> {
    const { deviceId } = entry;
    const { fresh } = pending;
    const { identical, nextOrder } =
      fresh.length === 0 ? none : await store.compare(deviceId, fresh);
    const samples = withoutIdentical(fresh, identical);
    const duplicates = entry.samples.length - samples.length;
    if (samples.length === 0 && !isWritten({ ...entry, samples }))
      return { ...entry, position: log.position, samples: [], duplicates };
    const rows = rowsOf(samples, shapes);
    // Numbered in the same turn in which the log gives the position, so that both count in one
    // order.
    const firstOrder = pending.takeOrders(nextOrder, samples.length);
    const { position, storedAt, bytes, durable } = log.append({
      entry,
      rows,
      duplicates,
      firstOrder,
    });
    await visibility.of({ position, deviceId, firstOrder, rows, bytes }, durable);
    return { ...entry, position, samples: storedSamples(samples, position, storedAt), duplicates };
  }

  return {
    forget: entries.forget,
    idle: entries.idle,
    async append(entry) {
      const pending = entries.reserve(entry);
      try {
        const durable = await appendPending(entry, pending);
        if (pending.repeated !== undefined) await pending.repeatedDone();
        entries.release(pending);
        return durable;
      } catch (error) {
        entries.release(pending, { error });
        throw error;
      }
    },
  };
}

interface Visibility {
  /** Resolves when the rows of the entry can be read; rejects when `durable` does. */
  of(entry: LoggedEntry, durable: Promise<void>): Promise<void>;
}

/** Writes the entries that one sync made durable to the store together. */
function createVisibility(store: SampleIntakeParts['store']): Visibility {
  let group: LoggedEntry[] = [];
  let groupDurable: Promise<void> | undefined;
  let visible: Promise<void> = Promise.resolve();

  async function write(entries: readonly LoggedEntry[], durable: Promise<void>): Promise<void> {
    await durable;
    await store.write(entries, 'new');
  }

  return {
    of(entry, durable) {
      // Entries of one group have the same promise.
      if (durable !== groupDurable) {
        groupDurable = durable;
        group = [];
        visible = write(group, durable);
      }
      group.push(entry);
      return visible;
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
