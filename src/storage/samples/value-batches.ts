// Value batches: runs of samples as batches of ordered values, and the columns in which the values of a data key are.
import { dataValue, type Sample } from '../../model/sample.ts';
import type { Json } from '../../model/json.ts';
import {
  type ValueBatch,
  type ValueColumn,
  valueTypes,
} from '../../query/summaries/ordered-values.ts';
import { missing } from '../../structures/missing.ts';
import {
  dataOf,
  type DataShape,
  leafKinds,
  LeafValues,
  type ShapeInterner,
} from '../log/data-shape.ts';
import type { SampleColumn, SampleColumns, SampleRun } from './sample-store.ts';

/** Where the values of a data key are; undefined when only the objects themselves can tell. */
export type KeyColumns = readonly KeyColumn[] | undefined;

export interface KeyColumn {
  readonly column: number;
  /** The shapes in which the key names this column; undefined when those are all. */
  readonly shapes: readonly boolean[] | undefined;
}

/** By the shapes of rows and the columns of those. */
export function columnsOfShapes(
  shapes: readonly DataShape[],
  shapeColumns: readonly (readonly number[])[],
  dataKey: string,
): KeyColumns {
  const shapesOfColumn = new Map<number, boolean[]>();
  for (const [shapeId, shape] of shapes.entries()) {
    if (shape.opaque) return undefined;
    const path = shape.pathOf(dataKey);
    if (path === undefined) continue;
    const leaf = shape.leaves.findIndex(
      (l) => l.path.length === path.length && l.path.every((key, i) => key === path[i]),
    );
    // A null has no column and no value; an object, or something within an array, is a value that
    // no column holds.
    if (leaf < 0 && shape.isNull(path)) continue;
    if (leaf < 0) return undefined;
    const column = shapeColumns[shapeId]?.[leaf] ?? missing('column of a leaf');
    const marks = shapesOfColumn.get(column) ?? shapes.map(() => false);
    marks[shapeId] = true;
    shapesOfColumn.set(column, marks);
  }
  return [...shapesOfColumn].map(([column, found]) => ({
    column,
    shapes: found.every(Boolean) ? undefined : found,
  }));
}

/** Rows of one batch. */
export const batchRowsMax = 8_192;
/** Runs of so many rows are passed on as they are; shorter ones are put together. */
const wholeRunMin = 256;

type Rows = SampleColumns['rows'];

/** Turns runs, which follow each other in the order of time, into batches of the values of some keys. */
export class ValueBatches {
  readonly #keys: readonly string[];
  #timestamps: Float64Array | undefined;
  #columns: ColumnWriter[] = [];
  #length = 0;
  /** Of the rows of the last run: runs often have the same shapes. */
  #found:
    | { readonly rows: Rows; readonly shapes: number; readonly keys: readonly KeyColumns[] }
    | undefined;

  constructor(keys: readonly string[]) {
    this.#keys = keys;
  }

  /** The batches that are complete with the run. */
  *add({ sorted, from, to }: Omit<SampleRun, 'topic'>): Generator<ValueBatch> {
    if (to - from >= wholeRunMin) {
      yield* this.rest();
      for (let at = from; at < to; at += batchRowsMax)
        yield this.#whole(sorted, at, Math.min(to, at + batchRowsMax));
      return;
    }
    for (let at = from; at < to; ) {
      const end = Math.min(to, at + batchRowsMax - this.#length);
      this.#append(sorted, at, end);
      at = end;
      if (this.#length === batchRowsMax) yield* this.rest();
    }
  }

  /** What is left. */
  *rest(): Generator<ValueBatch> {
    if (this.#length === 0 || this.#timestamps === undefined) return;
    yield {
      timestamps: this.#timestamps.subarray(0, this.#length),
      columns: this.#columns.map((column) => column.values(this.#length)),
    };
    this.#timestamps = undefined;
    this.#length = 0;
  }

  #append(sorted: SampleColumns, from: number, to: number): void {
    if (this.#timestamps === undefined) {
      this.#timestamps = new Float64Array(batchRowsMax);
      this.#columns = this.#keys.map((key) => new ColumnWriter(key, batchRowsMax));
    }
    this.#timestamps.set(sorted.timestamps.subarray(from, to), this.#length);
    const found = this.#keysOf(sorted.rows);
    for (const [i, column] of this.#columns.entries())
      column.write(sorted, found[i], from, to, this.#length);
    this.#length += to - from;
  }

  #whole(sorted: SampleColumns, from: number, to: number): ValueBatch {
    const found = this.#keysOf(sorted.rows);
    const columns = this.#keys.map((key, i) => {
      const asItIs = numbersAsTheyAre(sorted, found[i], from, to);
      if (asItIs !== undefined) return asItIs;
      const writer = new ColumnWriter(key, to - from);
      writer.write(sorted, found[i], from, to, 0);
      return writer.values(to - from);
    });
    return { timestamps: sorted.timestamps.subarray(from, to), columns };
  }

  #keysOf(rows: Rows): readonly KeyColumns[] {
    const { shapes, shapeColumns } = rows;
    // Rows that still grow may get more shapes.
    if (this.#found?.rows === rows && this.#found.shapes === shapes.length) return this.#found.keys;
    const keys = this.#keys.map((key) => columnsOfShapes(shapes, shapeColumns, key));
    this.#found = { rows, shapes: shapes.length, keys };
    return keys;
  }
}

/** A column of numbers that every row has, without a copy; undefined for others. */
function numbersAsTheyAre(
  { rows, permutation }: SampleColumns,
  found: KeyColumns,
  from: number,
  to: number,
): ValueColumn | undefined {
  const [only] = found ?? [];
  if (found?.length !== 1 || only === undefined || only.shapes !== undefined) return undefined;
  const column = rows.columns[only.column];
  if (permutation !== undefined || column?.kind !== leafKinds.number) return undefined;
  const { numbers } = column;
  if (!(numbers instanceof Float64Array)) return undefined;
  return { numbers: numbers.subarray(from, to), types: undefined, ids: undefined, texts: [] };
}

/** The values of a key from rows of any shapes. */
class ColumnWriter {
  readonly #key: string;
  readonly #numbers: Float64Array;
  readonly #types: Uint8Array;
  #ids: Uint32Array | undefined;
  readonly #texts: string[] = [];
  readonly #idOfText = new Map<string, number>();

  constructor(key: string, capacity: number) {
    this.#key = key;
    this.#numbers = new Float64Array(capacity).fill(Number.NaN);
    this.#types = new Uint8Array(capacity);
  }

  values(length: number): ValueColumn {
    return {
      numbers: this.#numbers.subarray(0, length),
      types: this.#types.subarray(0, length),
      ids: this.#ids?.subarray(0, length),
      texts: this.#texts,
    };
  }

  /** Writes the rows of the places to those from `at` on. */
  write(sorted: SampleColumns, found: KeyColumns, from: number, to: number, at: number): void {
    if (found === undefined) {
      for (let place = from; place < to; place++)
        this.#put(at + place - from, valueOfRow(sorted, place, this.#key));
      return;
    }
    for (const keyColumn of found) this.#copy(sorted, keyColumn, from, to, at);
  }

  #copy(
    { rows, permutation }: SampleColumns,
    { column: index, shapes }: KeyColumn,
    from: number,
    to: number,
    at: number,
  ): void {
    const column = rows.columns[index] ?? missing('column of a key');
    const { shapeIds } = rows;
    const { kind } = column;
    const isNumber = kind === leafKinds.number;
    const isNumeric = isNumber || kind === leafKinds.boolean;
    const source = isNumeric ? column.numbers : column.ids;
    const type = isNumber ? valueTypes.number : valueTypes.boolean;
    for (let place = from; place < to; place++) {
      const row = permutation?.[place] ?? place;
      if (shapes !== undefined && shapes[shapeIds?.[row] ?? 0] !== true) continue;
      const target = at + place - from;
      if (isNumeric) {
        this.#numbers[target] = source[row]!;
        this.#types[target] = type;
      } else this.#putText(target, textOf(column, row), kind === leafKinds.string);
    }
  }

  #put(at: number, value: Json | undefined): void {
    if (value === null || value === undefined) return;
    if (typeof value === 'string') this.#putText(at, value, true);
    else if (typeof value === 'object') this.#putText(at, JSON.stringify(value), false);
    else {
      this.#numbers[at] = Number(value);
      this.#types[at] = typeof value === 'number' ? valueTypes.number : valueTypes.boolean;
    }
  }

  #putText(at: number, text: string, isText: boolean): void {
    let id = this.#idOfText.get(text);
    if (id === undefined) this.#idOfText.set(text, (id = this.#texts.push(text) - 1));
    this.#ids ??= new Uint32Array(this.#numbers.length);
    this.#ids[at] = id;
    this.#types[at] = isText ? valueTypes.text : valueTypes.other;
  }
}

function textOf({ texts, ids }: SampleColumn, row: number): string {
  return texts[ids[row]!] ?? missing('text of a row');
}

function valueOfRow(
  { rows, permutation }: SampleColumns,
  place: number,
  key: string,
): Json | undefined {
  const row = permutation?.[place] ?? place;
  const shapeId = rows.shapeIds?.[row] ?? 0;
  const columns = rows.shapeColumns[shapeId] ?? missing('columns of a shape');
  const columnOf = (leaf: number): SampleColumn =>
    rows.columns[columns[leaf] ?? -1] ?? missing('column of a leaf');
  const data = dataOf(rows.shapes[shapeId] ?? missing('shape of a row'), {
    numberAt: (leaf) => columnOf(leaf).numbers[row]!,
    textAt: (leaf) => textOf(columnOf(leaf), row),
  });
  return dataValue(data, key);
}

/** Whether the row at the place has a value of the key that counts as one. */
export function hasValue(
  sorted: SampleColumns,
  found: KeyColumns,
  place: number,
  { key, numeric }: { readonly key: string; readonly numeric: boolean },
): boolean {
  if (found === undefined) return isValue(valueOfRow(sorted, place, key), numeric);
  const { rows, permutation } = sorted;
  const shapeId = rows.shapeIds?.[permutation?.[place] ?? place] ?? 0;
  return found.some(
    ({ column, shapes }) =>
      (shapes === undefined || shapes[shapeId] === true) &&
      (!numeric || isNumericKind(rows.columns[column]?.kind)),
  );
}

/** Whether there is a value; with `numeric`, a number or a boolean. */
export function isValue(value: Json | undefined, numeric: boolean): boolean {
  if (numeric) return typeof value === 'number' || typeof value === 'boolean';
  return value !== undefined && value !== null;
}

function isNumericKind(kind: number | undefined): boolean {
  return kind === leafKinds.number || kind === leafKinds.boolean;
}

// Sample runs: samples as objects put into columns, for stores that have no others.

/** Samples in the order of time as runs of one topic and shape each. */
export function runsOfSamples(samples: readonly Sample[], shapes: ShapeInterner): SampleRun[] {
  const runs: SampleRun[] = [];
  const values = new LeafValues();
  let run: StartedRun | undefined;
  for (const [i, { topic, data }] of samples.entries()) {
    const valuesAt = values.length;
    const shape = shapes.shapeOf(data, values, run?.shape);
    if (run?.topic === topic && run.shape === shape) continue;
    if (run !== undefined) runs.push(runOf(run, samples.slice(run.first, i), values));
    run = { topic, shape, valuesAt, first: i };
  }
  if (run !== undefined) runs.push(runOf(run, samples.slice(run.first), values));
  return runs;
}

interface StartedRun {
  readonly topic: string;
  readonly shape: DataShape;
  /** Where the values of its first sample begin. */
  readonly valuesAt: number;
  /** Index of its first sample. */
  readonly first: number;
}

function runOf(
  { topic, shape, valuesAt }: StartedRun,
  samples: readonly Sample[],
  values: LeafValues,
): SampleRun {
  const { leaves } = shape;
  const columns = leaves.map(({ kind }, leaf): SampleColumn => {
    const at = (row: number) => values.numberAt(valuesAt + row * leaves.length + leaf);
    const found = Float64Array.from(samples, (_, row) => at(row));
    const none = new Float64Array();
    if (kind === leafKinds.number || kind === leafKinds.boolean)
      return { kind, numbers: found, ids: none, texts: [] };
    return { kind, numbers: none, ids: found, texts: values.texts };
  });
  const timestamps = Float64Array.from(samples, ({ timestamp }) => timestamp);
  const shapeColumns = [leaves.map((_, i) => i)];
  const rows = { shapes: [shape], shapeIds: undefined, shapeColumns, columns };
  return {
    topic,
    from: 0,
    to: samples.length,
    sorted: { timestamps, permutation: undefined, rows },
  };
}
