// Placed rows: an entry with its place in the log, and the answer to its append.
import type { EntryRows } from '../log/entry-encoding.ts';
import type { LoggedEntry, RowColumns } from '../log/logged-entry.ts';
import { samplesOfColumns } from '../log/row-columns.ts';
import { cursorsAt } from '../model/cursor.ts';
import type { EpochMs } from '../model/instant.ts';
import type { DurableEntry, JournalEntry } from '../model/journal-entry.ts';
import type { StoredSample } from '../model/sample.ts';

export interface PlacedRows extends LoggedEntry {
  readonly rows: EntryRows | RowColumns;
  readonly entry: JournalEntry;
  readonly duplicates: number;
  readonly storedAt: EpochMs;
}

export function durableEntryOf(append: PlacedRows): DurableEntry {
  const { entry, rows, duplicates, position, storedAt } = append;
  if ('columns' in rows) return durableColumns(rows, append);
  const samples = storedSamples(rows.samples, position, storedAt);
  return { ...entry, position, samples, duplicates };
}

/** The samples are built at their first read, because most bulk entries have no reader. */
function durableColumns(
  rows: RowColumns,
  { entry: { deviceId, receivedAt }, position, storedAt }: PlacedRows,
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
