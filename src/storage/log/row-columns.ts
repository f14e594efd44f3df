// Row columns: reads of rows that are kept as columns, without an object for each.
import type { EpochMs } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import { missing } from '../../structures/missing.ts';
import { dataOf, leafKinds } from './data-shape.ts';
import type { LeafValues } from './leaf-values.ts';
import type { EntrySample, RowColumns } from './logged-entry.ts';

export function dataOfColumns(rows: RowColumns, row: number): JsonObject {
  const { shape, columns, texts } = rows;
  const numberAt = (leaf: number): number => columns[leaf]?.[row] ?? missing('value');
  return dataOf(shape, { numberAt, textAt: (leaf) => texts[numberAt(leaf)] ?? missing('string') });
}

/** The row with that time; -1 without one. */
export function rowAtTime({ timestamps, from, to }: RowColumns, at: EpochMs): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timestamps[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return low < to && timestamps[low] === at ? low : -1;
}

/** The samples of the rows, as they were sent. */
export function samplesOfColumns(rows: RowColumns): EntrySample[] {
  const { deviceId } = rows;
  const { topic, ...rest } = rows.head;
  const samples: EntrySample[] = [];
  for (let row = rows.from; row < rows.to; row++) {
    const timestamp = rows.timestamps[row] ?? missing('time');
    samples.push({ deviceId, topic, timestamp, data: dataOfColumns(rows, row), ...rest });
  }
  return samples;
}

/** Adds the values of the row. */
export function addValues(
  { shape, columns, texts }: RowColumns,
  row: number,
  to: LeafValues,
): void {
  const { leaves } = shape;
  for (let leaf = 0; leaf < leaves.length; leaf++) {
    const kind = leaves[leaf]?.kind;
    const value = columns[leaf]?.[row] ?? missing('value');
    if (kind === leafKinds.number || kind === leafKinds.boolean) to.addNumber(value);
    else to.addText(texts[value] ?? missing('string'));
  }
}
