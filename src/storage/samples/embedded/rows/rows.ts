// Rows of one device and topic as columns: what open chunks grow and sealed chunks decode to.
import {
  dataOf,
  type DataShape,
  leafKinds,
  type LeafSource,
  type LeafValues,
} from '../../../log/data-shape.ts';
import type { JsonObject } from '../../../../model/json.ts';
import type { RetentionTimes, SampleColumn } from '../../sample-store.ts';
import { missing } from '../../../../structures/missing.ts';
import type { EpochMs } from '../../../../model/instant.ts';

export interface Column extends SampleColumn {
  readonly path: readonly string[];
}

export interface Rows {
  readonly length: number;
  readonly timestamps: Float64Array;
  /** Place among all rows of the device in the order of storing. */
  readonly orders: Float64Array;
  readonly shapes: readonly DataShape[];
  /** The shape of each row; undefined when there is one shape only. */
  readonly shapeIds: Uint16Array | undefined;
  /** For each shape the columns of its leaves, in their order. */
  readonly shapeColumns: readonly (readonly number[])[];
  readonly columns: readonly Column[];
  readonly origins: readonly Origin[];
  /** The origin of each row; undefined when there is one origin only. */
  readonly originIds: Uint16Array | undefined;
  /** JSON texts by row; undefined when no row has meta. */
  readonly metas: readonly (string | undefined)[] | undefined;
}

/** The data of a row, exactly as it was stored. */
export function dataAt(rows: Rows, row: number): JsonObject {
  const shapeId = shapeIdAt(rows, row);
  const shape = rows.shapes[shapeId] ?? missing('shape of a row');
  const columns = rows.shapeColumns[shapeId] ?? missing('columns of a shape');
  return dataOf(shape, new RowLeaves(rows, columns, row));
}

function shapeIdAt({ shapeIds }: Rows, row: number): number {
  return shapeIds?.[row] ?? 0;
}

function addValues(rows: Rows, row: number, values: LeafValues): void {
  values.cutBack(0, 0);
  const columns = rows.shapeColumns[shapeIdAt(rows, row)] ?? missing('columns of a shape');
  for (const index of columns) {
    // Only what the kind has is touched: a sealed column decodes what it is asked for.
    const column = rows.columns[index] ?? missing('column of a leaf');
    const isNumber = column.kind === leafKinds.number || column.kind === leafKinds.boolean;
    if (isNumber) values.addNumber(column.numbers[row]!);
    else values.addText(column.texts[column.ids[row]!] ?? missing('string of a row'));
  }
}

/**
 * Everything of a row but its time and order, as it is needed to add it to other rows; `values` is
 * used again.
 */
export function rowValuesAt(
  rows: Rows,
  row: number,
  values: LeafValues,
): { shape: DataShape; values: LeafValues; origin: Origin; meta: string | undefined } {
  addValues(rows, row, values);
  return {
    shape: rows.shapes[shapeIdAt(rows, row)] ?? missing('shape of a row'),
    values,
    origin: originAt(rows, row),
    meta: rows.metas?.[row],
  };
}

export function originAt({ origins, originIds }: Rows, row: number): Origin {
  return origins[originIds?.[row] ?? 0] ?? missing('origin of a row');
}

export function metaAt(rows: Rows, row: number): JsonObject | undefined {
  const text = rows.metas?.[row];
  return text === undefined ? undefined : (JSON.parse(text) as JsonObject);
}

/**
 * The leaves of one row, read from its columns. A class, because one is made for every row that is
 * read.
 */
class RowLeaves implements LeafSource {
  readonly #rows: Rows;
  readonly #columns: readonly number[];
  readonly #row: number;

  constructor(rows: Rows, columns: readonly number[], row: number) {
    this.#rows = rows;
    this.#columns = columns;
    this.#row = row;
  }

  numberAt(leaf: number): number {
    return this.#column(leaf).numbers[this.#row]!;
  }

  textAt(leaf: number): string {
    const { ids, texts } = this.#column(leaf);
    return texts[ids[this.#row]!] ?? missing('string of a row');
  }

  #column(leaf: number): Column {
    const index = this.#columns[leaf] ?? missing('column of a leaf');
    return this.#rows.columns[index] ?? missing('column of a leaf');
  }
}

/** Rows in the order of time, then of storing. */
export interface SortedRows {
  readonly rows: Rows;
  readonly length: number;
  /** Sorted. */
  readonly timestamps: Float64Array;
  /** In the same order. */
  readonly orders: Float64Array;
  /** The row at each place; undefined when rows are in order as they stand. */
  readonly permutation: Uint32Array | undefined;
}

/** Where sealed rows are on the disk. */
export interface SealedPlace {
  /** In words for an operator. */
  readonly place: string;
  /** Whether reading has met damage there. */
  readonly damaged: boolean;
  /** What the reading gives; undefined when it meets damage, which is reported once. */
  readonly guarded: <T>(read: () => T) => T | undefined;
}

/** Sorted rows that need not be read before their time comes. */
export interface RowGroup {
  /** Undefined for unsealed rows. */
  readonly sealed?: SealedPlace;
  readonly oldest: number;
  readonly newest: number;
  readonly length: number;
  /** Rows before are past their retention. */
  readonly visibleFrom: number;
  /** Undefined when the rows cannot be read. */
  readonly sorted: () => SortedRows | undefined;
}

/** The row that stands at a place. */
export function rowAt(
  { permutation }: { readonly permutation: Uint32Array | undefined },
  place: number,
): number {
  return permutation?.[place] ?? place;
}

/** The first place whose timestamp is not below `at`. */
export function placeOf(sorted: SortedRows, at: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted.timestamps[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The origin of rows: what retention and usage go by.

export interface Origin {
  readonly workspaceId: string;
  readonly dataFlowId: string | null;
  /**
   * Rows before are past their retention: never read, though their block may still be there. Set
   * whenever the rules are looked at.
   */
  keepFrom: EpochMs;
}

/**
 * From when on rows of these origins may be read; where they are mixed, the most lenient of their
 * rules counts for all.
 */
export function visibleFrom(origins: readonly Origin[]): EpochMs {
  let from = Number.POSITIVE_INFINITY;
  for (const { keepFrom } of origins) if (keepFrom < from) from = keepFrom;
  return from;
}

/** From when on the rules keep rows of the origin: the rule of its data flow, else of its workspace. */
export function keepFromOf(
  { workspaceId, dataFlowId }: { readonly workspaceId: string; readonly dataFlowId: string | null },
  rules: RetentionTimes | undefined,
): EpochMs {
  const ofFlow = dataFlowId === null ? undefined : rules?.dataFlows.get(dataFlowId);
  return ofFlow ?? rules?.workspaces.get(workspaceId) ?? Number.NEGATIVE_INFINITY;
}
