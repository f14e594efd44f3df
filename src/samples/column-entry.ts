// Column entries: samples of one device in columns, as a caller gives them and as the log takes them.
import { type ShapeInterner, leafKinds } from '../log/data-shape.ts';
import { LeafValues } from '../log/leaf-values.ts';
import type { RowColumns } from '../log/logged-entry.ts';
import type { EpochMs } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';

/** Samples of one device, topic and form, each later than the one before. */
export interface SampleColumnsEntry
  extends Pick<RowColumns, 'head' | 'timestamps' | 'columns' | 'texts'> {
  readonly receivedAt: EpochMs;
  /** Data of one of them: all have its keys in its order, with values of the same types. */
  readonly example: JsonObject;
}

/** Undefined when the columns are not the values of the data. */
export function rowColumnsOf(
  { head, example, timestamps, columns, texts }: SampleColumnsEntry,
  interner: ShapeInterner,
): RowColumns | undefined {
  const shape = interner.shapeOf(example, new LeafValues(), undefined);
  const isFlat = shape.leaves.every(
    ({ kind }) =>
      kind === leafKinds.number || kind === leafKinds.boolean || kind === leafKinds.string,
  );
  if (!isFlat || shape.leaves.length !== columns.length) return undefined;
  return { head, shape, timestamps, columns, texts };
}
