// Row columns: reads of rows that are kept as columns, without an object for each.
import type { EpochMs } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import { missing } from '../structures/missing.ts';
import { dataOf, leafKinds } from './data-shape.ts';
import { LeafValues } from './leaf-values.ts';
import type { EntrySample, LoggedRows, RowColumns } from './logged-entry.ts';

export function dataOfColumns(rows: RowColumns, row: number): JsonObject {
  const { shape, columns, texts } = rows;
  const numberAt = (leaf: number): number => columns[leaf]?.[row] ?? missing('value');
  return dataOf(shape, { numberAt, textAt: (leaf) => texts[numberAt(leaf)] ?? missing('string') });
}

/** The place of the row with that time; -1 without one. */
export function rowAtTime({ timestamps }: RowColumns, at: EpochMs): number {
  let low = 0;
  let high = timestamps.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timestamps[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return timestamps[low] === at ? low : -1;
}

/** The samples of the rows, as they were sent. */
export function samplesOfColumns(rows: RowColumns): EntrySample[] {
  return Array.from(rows.timestamps, (timestamp, row) => {
    const { deviceId, topic, ...rest } = rows.head;
    return { deviceId, topic, timestamp, data: dataOfColumns(rows, row), ...rest };
  });
}

/** The same rows, one after the other. */
export function rowsOfColumns({ head, shape, timestamps, columns, texts }: RowColumns): LoggedRows {
  const values = new LeafValues();
  for (let row = 0; row < timestamps.length; row++)
    for (const [leaf, { kind }] of shape.leaves.entries()) {
      const value = columns[leaf]?.[row] ?? missing('value');
      const isNumber = kind === leafKinds.number || kind === leafKinds.boolean;
      if (isNumber) values.addNumber(value);
      else values.addText(texts[value] ?? missing('string'));
    }
  return {
    samples: Array.from(timestamps, (timestamp) => ({ ...head, timestamp })),
    shapes: Array.from(timestamps, () => shape),
    values,
  };
}
