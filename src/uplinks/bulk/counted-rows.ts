// Counted rows: rows for a follower that needs their positions and number, without their samples and devices.
import type { DurableRows } from '../../model/journal-entry.ts';

const nothing: readonly never[] = Object.freeze([]);

/** Each entry says that it has this number of samples. What the rows were read from is released. */
export function countedRows(
  { position, length, receivedAt, summary }: DurableRows,
  count: 0 | 1,
): DurableRows {
  const each = { ...summary, count };
  const empty = { deviceId: '', receivedAt, notes: nothing, samples: nothing, duplicates: 0 };
  return {
    position,
    length,
    receivedAt,
    summary,
    entryAt: (place) => ({ ...empty, summary: each, position: position + place }),
  };
}
