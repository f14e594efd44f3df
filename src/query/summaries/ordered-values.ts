// Ordered values: the values of some data keys in the order of time, as columns. Folds and expressions read nothing else.
import type { Json } from '../../model/json.ts';

/** Rows in the order of time, those of one instant in the order of storing. Not to be changed. */
export interface ValueBatch {
  /** Of each row. */
  readonly timestamps: Float64Array;
  /** One for each key of the request, in its order. */
  readonly columns: readonly ValueColumn[];
}

export const valueTypes = { none: 0, number: 1, boolean: 2, text: 3, other: 4 } as const;
type ValueType = (typeof valueTypes)[keyof typeof valueTypes];

/** The values of one key, one for each row; `columnValueAt` returns them one by one. */
export interface ValueColumn {
  /**
   * Numbers, and booleans as 0 and 1. NaN for all else: a null, a key that the row lacks, a text, an
   * array, an object.
   */
  readonly numbers: Float64Array;
  /** The `valueTypes` of each row; undefined when every row has a number. Null and absent are `none`. */
  readonly types: Uint8Array | undefined;
  /** Index in `texts` for rows of the types `text` and `other`; undefined when there is none. */
  readonly ids: Uint32Array | undefined;
  /** Texts, and the JSON of arrays and objects. */
  readonly texts: readonly string[];
}

/** The value of a row as it was stored; null where it has none. */
export function columnValueAt({ numbers, types, ids, texts }: ValueColumn, row: number): Json {
  const type = (types === undefined ? valueTypes.number : types[row]) as ValueType | undefined;
  const text = (): string => texts[ids?.[row] ?? -1] ?? '';
  if (type === valueTypes.number) return numbers[row] ?? null;
  if (type === valueTypes.boolean) return numbers[row] === 1;
  if (type === valueTypes.text) return text();
  return type === valueTypes.other ? (JSON.parse(text()) as Json) : null;
}
