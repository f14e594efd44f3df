// Column entries: samples in columns, as a caller gives them and as the log takes them.
import { type ShapeInterner, leafKinds } from '../log/data-shape.ts';
import { LeafValues } from '../log/leaf-values.ts';
import type { RowColumns } from '../log/logged-entry.ts';
import type { EpochMs } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';

/** The rows of one device among those of others: each is later than the one before. */
export type DevicePart = Pick<RowColumns, 'deviceId' | 'head' | 'from' | 'to' | 'trace'>;

/** Samples of one form. Each part has another device, and becomes an entry. */
export interface ColumnEntries extends Pick<RowColumns, 'timestamps' | 'columns' | 'texts'> {
  readonly receivedAt: EpochMs;
  readonly parts: readonly DevicePart[];
  /** Data of one of them: all have its keys in its order, with values of the same types. */
  readonly example: JsonObject;
}

/** Undefined when the columns are not the values of the data. */
export function rowColumnsOf(
  { parts, example, timestamps, columns, texts }: ColumnEntries,
  interner: ShapeInterner,
): RowColumns[] | undefined {
  const shape = interner.shapeOf(example, new LeafValues(), undefined);
  const isFlat = shape.leaves.every(
    ({ kind }) =>
      kind === leafKinds.number || kind === leafKinds.boolean || kind === leafKinds.string,
  );
  if (!isFlat || shape.leaves.length !== columns.length) return undefined;
  return parts.map(({ deviceId, head, from, to, trace }) => ({
    deviceId,
    head,
    shape,
    from,
    to,
    timestamps,
    columns,
    texts,
    trace,
  }));
}
