// Chunk jobs: sorted rows and the chunks made of them, as messages between two threads.
import { type DataShape, type LeafKind, leafKinds } from '../../../log/data-shape.ts';
import type { EpochMs } from '../../../../model/instant.ts';
import { missing } from '../../../../structures/missing.ts';
import { type Column, type Origin, rowAt, type SortedRows } from '../rows/rows.ts';
import type { Chunk } from './chunk.ts';
import type { SchemaInterner } from './chunk-schema.ts';
import { chunkInMemory, type CutLimits, type RowsToSeal, sealInChunks } from './chunk-writer.ts';

/** Rows of one device and topic, in the order of time. */
interface PackedRows {
  readonly length: number;
  /** Times, orders, then one column after the other: numbers, booleans as 0 and 1, or indices of strings. */
  readonly doubles: Float64Array<ArrayBuffer>;
  readonly columns: readonly {
    readonly path: readonly string[];
    readonly kind: LeafKind;
    readonly texts: readonly string[];
  }[];
  /** What `fromText` makes shapes of. */
  readonly shapes: readonly string[];
  readonly shapeIds: Uint16Array | undefined;
  readonly origins: readonly Origin[];
  readonly originIds: Uint16Array | undefined;
  readonly metas: readonly (string | undefined)[] | undefined;
}

export interface ChunkJob {
  readonly parts: readonly {
    readonly rows: PackedRows;
    /** See `sealInChunks`. */
    readonly sealedNewest: EpochMs;
  }[];
  readonly limits: CutLimits;
}

/** A chunk without what the threads do not share. */
interface MadeChunk
  extends Pick<
    Chunk,
    'rows' | 'oldest' | 'newest' | 'minOrder' | 'maxOrder' | 'originRows' | 'ends' | 'stats'
  > {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** See `PackedRows.shapes`. */
  readonly shapes: readonly string[];
  /** Indices of origins of the rows. */
  readonly origins: readonly number[];
}

/** For each part the chunks in the order of time. */
export type MadeChunks = readonly (readonly MadeChunk[])[];

/** Values that are copied in one step: rows can have thousands of columns. */
const valuesPerStep = 200_000;

/** In steps, between which the rows must not change. */
export function* packRows(sorted: SortedRows): Generator<undefined, PackedRows> {
  const { rows, length, timestamps, orders } = sorted;
  const doubles = new Float64Array(length * (2 + rows.columns.length));
  doubles.set(timestamps.subarray(0, length));
  doubles.set(orders.subarray(0, length), length);
  let copied = 0;
  for (const [i, column] of rows.columns.entries()) {
    copyInOrder(valuesOf(column), sorted, doubles, length * (2 + i));
    copied += length;
    if (copied < valuesPerStep) continue;
    copied = 0;
    yield;
  }
  const inOrder = (ids: Uint16Array): Uint16Array =>
    Uint16Array.from({ length }, (_, place) => ids[rowAt(sorted, place)]!);
  const { shapeIds, originIds, metas } = rows;
  return {
    length,
    doubles,
    columns: rows.columns.map(({ path, kind, texts }) => ({ path, kind, texts })),
    shapes: rows.shapes.map(({ text }) => text),
    shapeIds: shapeIds && inOrder(shapeIds),
    origins: rows.origins,
    originIds: originIds && inOrder(originIds),
    metas: metas && Array.from({ length }, (_, place) => metas[rowAt(sorted, place)]),
  };
}

function valuesOf({ kind, numbers, ids }: Column): Column['numbers'] | Column['ids'] {
  return kind === leafKinds.number || kind === leafKinds.boolean ? numbers : ids;
}

function copyInOrder(
  values: Column['numbers'] | Column['ids'],
  { length, permutation }: SortedRows,
  to: Float64Array,
  at: number,
): void {
  if (permutation === undefined) {
    to.set(values.subarray(0, length), at);
    return;
  }
  for (let place = 0; place < length; place++) to[at + place] = values[permutation[place]!]!;
}

/** The rows as they were before they were packed. */
function unpackRows(packed: PackedRows, shapeOf: (text: string) => DataShape): RowsToSeal {
  const { length, doubles, shapes, shapeIds, origins, originIds, metas } = packed;
  const part = (i: number): Float64Array => doubles.subarray(length * i, length * (i + 1));
  const columns = packed.columns.map((column, i) => {
    const values = part(2 + i);
    return { ...column, numbers: values, ids: values };
  });
  return {
    rows: { length, shapes: shapes.map(shapeOf), shapeIds, columns, origins, originIds, metas },
    length,
    timestamps: part(0),
    orders: part(1),
    permutation: undefined,
  };
}

/** What the thread does. */
export function makeChunks(
  { parts, limits }: ChunkJob,
  schemas: SchemaInterner,
  shapeOf: (text: string) => DataShape,
): MadeChunks {
  return parts.map(({ rows: packed, sealedNewest }) => {
    const sorted = unpackRows(packed, shapeOf);
    const { origins } = packed;
    return Array.from(
      sealInChunks(sorted, sealedNewest, schemas, limits),
      (chunk): MadeChunk => ({
        bytes: Uint8Array.from(chunk.file.read(0, chunk.length)),
        rows: chunk.rows,
        oldest: chunk.oldest,
        newest: chunk.newest,
        minOrder: chunk.minOrder,
        maxOrder: chunk.maxOrder,
        originRows: chunk.originRows,
        ends: chunk.ends,
        stats: chunk.stats,
        shapes: chunk.schema.shapes.map(({ text }) => text),
        origins: chunk.origins.map((origin) => origins.indexOf(origin)),
      }),
    );
  });
}

/** The chunk as the main thread knows it. */
export function chunkOf(
  { bytes, shapes, origins, ...made }: MadeChunk,
  { rows }: SortedRows,
  schemas: SchemaInterner,
): Chunk {
  const shapeOf = (text: string): DataShape =>
    rows.shapes.find((shape) => shape.text === text) ?? missing('shape');
  return chunkInMemory(bytes, {
    ...made,
    schema: schemas(shapes.map(shapeOf)),
    origins: origins.map((i) => rows.origins[i] ?? missing('origin')),
  });
}
