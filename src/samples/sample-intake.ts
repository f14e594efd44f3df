// Sample intake: drops the duplicates of an entry, appends the rest to the log, and after the fsync writes it to the store.
import type { DataShape, ShapeInterner } from '../log/data-shape.ts';
import type { EntryLog } from '../log/entry-log.ts';
import type { EntryRows } from '../log/entry-encoding.ts';
import { LeafValues } from '../log/leaf-values.ts';
import { cursorsAt } from '../model/cursor.ts';
import { type DurableEntry, isWritten, type JournalEntry } from '../model/journal-entry.ts';
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
  const entries = createPendingEntries();
  return {
    forget: entries.forget,
    idle: entries.idle,
    async append(entry) {
      const pending = entries.reserve(entry);
      try {
        const durable = await appendPending(entry, pending, parts);
        if (pending.repeated.size > 0) await pending.repeatedDone();
        entries.release(pending);
        return durable;
      } catch (error) {
        entries.release(pending, { error });
        throw error;
      }
    },
  };
}

async function appendPending(
  entry: JournalEntry,
  pending: PendingEntry,
  { log, shapes, store }: SampleIntakeParts,
): Promise<DurableEntry> {
  const { deviceId } = entry;
  const { fresh } = pending;
  const { identical, nextOrder } = fresh.length === 0 ? none : await store.compare(deviceId, fresh);
  const samples = withoutIdentical(fresh, identical);
  const duplicates = entry.samples.length - samples.length;
  if (samples.length === 0 && !isWritten({ ...entry, samples }))
    return { ...entry, position: log.position, samples: [], duplicates };
  const rows = rowsOf(samples, shapes);
  // Numbered in the same turn in which the log gives the position, so that both count in one order.
  const firstOrder = pending.takeOrders(nextOrder, samples.length);
  const appended = log.append({ entry, rows, duplicates, firstOrder });
  const { position, storedAt, bytes } = appended;
  await appended.durable;
  await store.write([{ position, deviceId, firstOrder, rows, bytes }], 'new');
  const cursorOf = cursorsAt(position);
  const stored = samples.map(
    (sample, i): StoredSample => ({ ...sample, storedAt, cursor: cursorOf(i + 1) }),
  );
  return { ...entry, position, samples: stored, duplicates };
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
