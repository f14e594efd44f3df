// Chunk writer: the sections of a chunk and its statistics from a range of sorted rows.
import { crc32 } from 'node:zlib';
import { addTerms, type CompensatedSum } from '../../../../query/summaries/compensated-sum.ts';
import { type Chunk, type ChunkFile, statisticsPerColumn } from './chunk.ts';
import {
  type ChunkSchema,
  isNumeric,
  type SchemaColumn,
  type SchemaInterner,
} from './chunk-schema.ts';
import { ByteWriter } from '../../../../structures/bytes.ts';
import { writeInts, writeNumbers, writeTexts } from './column-encoding.ts';
import { hoursOf, writeColumnHours, writeHours } from './hour-section.ts';
import { leafKinds, leafName } from '../../../log/data-shape.ts';
import { type Column, type Origin, rowAt, type Rows, type SortedRows } from '../rows/rows.ts';
import { missing } from '../../../../structures/missing.ts';
import { textKey } from '../../../../structures/string-hash.ts';
import { dayMs, type EpochMs } from '../../../../model/instant.ts';
import type { StoreLimits } from '../store-limits.ts';

/** Sorted rows as far as chunks need them. */
export type RowsToSeal = Omit<SortedRows, 'rows'> & {
  readonly rows: Omit<Rows, 'timestamps' | 'orders' | 'shapeColumns'>;
};

/**
 * The range as plain arrays: row numbers, and shape and origin ids among those that the range uses.
 */
interface Piece {
  readonly rows: RowsToSeal['rows'];
  readonly length: number;
  readonly rowNumbers: Uint32Array;
  readonly timestamps: Float64Array;
  readonly orders: Float64Array;
  readonly shapeIds: Float64Array;
  readonly schema: ChunkSchema;
  readonly originIds: Float64Array;
  readonly origins: readonly Origin[];
}

/**
 * Seals the rows at the places from `low` to `high`, exclusive; the chunk's bytes stay in memory
 * until it is written somewhere.
 */
function sealRows(sorted: RowsToSeal, low: number, high: number, schemas: SchemaInterner): Chunk {
  const piece = pieceOf(sorted, low, high, schemas);
  const { length, schema, timestamps, orders } = piece;
  const writer = new ByteWriter(length * 8 + 512);
  const ends: number[] = [];
  const section = (write: (() => void) | undefined): void => {
    writeSection(writer, write);
    ends.push(writer.length);
  };
  section(() => writeInts(writer, timestamps, length));
  section(() => writeInts(writer, orders, length));
  section(schema.shapes.length > 1 ? () => writeInts(writer, piece.shapeIds, length) : undefined);
  section(piece.origins.length > 1 ? () => writeInts(writer, piece.originIds, length) : undefined);
  const metas = metasOf(piece);
  section(metas && (() => writeMetas(writer, piece, metas)));
  const hours = hoursOf(timestamps);
  section(hours === undefined ? undefined : () => writeHours(writer, hours));
  const stats = new Float64Array(schema.columnCount * statisticsPerColumn);
  const present = schema.columns.map((column) => presentPlaces(piece, column));
  const values = schema.columns.map((column, i) => {
    const source = columnNamed(piece.rows, column);
    const places = present[i];
    if (!isNumeric(column.kind)) {
      section(() => writeTextColumn(writer, piece, source, places));
      stats[i * statisticsPerColumn] = places?.length ?? length;
      return undefined;
    }
    const numbers = gather(piece, source.numbers, places);
    section(() => writeNumericColumn(writer, column, numbers));
    stats.set(statisticsOf(numbers), i * statisticsPerColumn);
    return numbers;
  });
  for (const [i, numbers] of values.entries())
    section(
      hours === undefined || numbers === undefined
        ? undefined
        : () => writeColumnHours(writer, hours, { timestamps, numbers, places: present[i] }),
    );
  const bytes = Uint8Array.from(writer.written());
  return chunkInMemory(bytes, {
    rows: length,
    oldest: timestamps[0]!,
    newest: timestamps[length - 1]!,
    minOrder: orders.reduce((a, b) => Math.min(a, b)),
    maxOrder: orders.reduce((a, b) => Math.max(a, b)),
    schema,
    origins: piece.origins,
    originRows: rowsOfOrigins(piece),
    ends: Uint32Array.from(ends),
    stats,
  });
}

/** A chunk whose bytes are in memory. */
export function chunkInMemory(
  bytes: Uint8Array,
  known: Omit<Chunk, 'file' | 'offset' | 'length' | 'endsAt' | 'statsAt' | 'damaged'>,
): Chunk {
  const { length } = bytes;
  const where = { file: inMemory(bytes), offset: 0, length, endsAt: 0, statsAt: 0 };
  return { ...known, ...where, damaged: false };
}

/** Writes a section with its checksum; one without contents has neither. */
function writeSection(writer: ByteWriter, write: (() => void) | undefined): void {
  writer.align();
  if (write === undefined) return;
  const start = writer.length;
  write();
  writer.word(crc32(writer.written(start)));
}

function writeNumericColumn(
  writer: ByteWriter,
  { kind }: SchemaColumn,
  numbers: Float64Array,
): void {
  if (kind === leafKinds.number) writeNumbers(writer, numbers, numbers.length);
  else writeInts(writer, numbers, numbers.length);
}

/** How many rows each origin of the piece has. */
function rowsOfOrigins({ origins, originIds }: Piece): number[] {
  const counts = origins.map(() => 0);
  for (const id of originIds) counts[id] = (counts[id] ?? 0) + 1;
  return counts;
}

function inMemory(bytes: Uint8Array): ChunkFile {
  return { name: 'memory', read: (offset, length) => bytes.subarray(offset, offset + length) };
}

function pieceOf(sorted: RowsToSeal, low: number, high: number, schemas: SchemaInterner): Piece {
  const { rows } = sorted;
  const length = high - low;
  const rowNumbers = new Uint32Array(length);
  for (let i = 0; i < length; i++) rowNumbers[i] = rowAt(sorted, low + i);
  const shapes = usedIds(rows.shapeIds, rowNumbers);
  const origins = usedIds(rows.originIds, rowNumbers);
  return {
    rows,
    length,
    rowNumbers,
    timestamps: sorted.timestamps.slice(low, high),
    orders: sorted.orders.slice(low, high),
    shapeIds: shapes.ids,
    schema: schemas(shapes.used.map((id) => rows.shapes[id] ?? missing('shape'))),
    originIds: origins.ids,
    origins: origins.used.map((id) => rows.origins[id] ?? missing('origin')),
  };
}

/** The ids that the rows use, numbered anew. */
function usedIds(
  ids: Uint16Array | undefined,
  rowNumbers: Uint32Array,
): { used: number[]; ids: Float64Array } {
  const renumbered = new Float64Array(rowNumbers.length);
  if (ids === undefined) return { used: [0], ids: renumbered };
  const numberOf = new Map<number, number>();
  for (let i = 0; i < rowNumbers.length; i++) {
    const id = ids[rowNumbers[i]!]!;
    let number = numberOf.get(id);
    if (number === undefined) {
      number = numberOf.size;
      numberOf.set(id, number);
    }
    renumbered[i] = number;
  }
  return { used: [...numberOf.keys()], ids: renumbered };
}

function columnNamed(rows: Piece['rows'], { path, kind, name }: SchemaColumn): Column {
  const found = rows.columns.find((column) => column.kind === kind && leafName(column) === name);
  if (found === undefined)
    throw new Error(`The rows have no column ${name} though a shape has it (${path.join('.')})`);
  return found;
}

/** The places of the piece whose shape has the column; undefined when all have. */
function presentPlaces(piece: Piece, column: SchemaColumn): Uint32Array | undefined {
  if (column.inAllShapes) return undefined;
  const places: number[] = [];
  for (let i = 0; i < piece.length; i++) if (column.inShape[piece.shapeIds[i]!]) places.push(i);
  return Uint32Array.from(places);
}

function gather(
  piece: Piece,
  from: Column['numbers'] | Column['ids'],
  places: Uint32Array | undefined,
): Float64Array {
  const { rowNumbers } = piece;
  const values = new Float64Array(places?.length ?? piece.length);
  if (places === undefined)
    for (let i = 0; i < values.length; i++) values[i] = from[rowNumbers[i]!]!;
  else for (let i = 0; i < values.length; i++) values[i] = from[rowNumbers[places[i]!]!]!;
  return values;
}

function writeTextColumn(
  writer: ByteWriter,
  piece: Piece,
  source: Column,
  places: Uint32Array | undefined,
): void {
  const used = gather(piece, source.ids, places);
  const numberOf = new Map<number, number>();
  for (let i = 0; i < used.length; i++) {
    const id = used[i]!;
    let number = numberOf.get(id);
    if (number === undefined) {
      number = numberOf.size;
      numberOf.set(id, number);
    }
    used[i] = number;
  }
  writeTexts(
    writer,
    [...numberOf.keys()].map((id) => source.texts[id] ?? missing('string')),
    used,
  );
}

/** Undefined when no row of the piece has meta. */
function metasOf({ rows: { metas }, rowNumbers }: Piece): Rows['metas'] {
  if (metas === undefined || rowNumbers.every((row) => metas[row] === undefined)) return undefined;
  return metas;
}

/** Texts with their row's place among all; 0 for rows without. */
function writeMetas(
  writer: ByteWriter,
  { rowNumbers, length }: Piece,
  metas: NonNullable<Rows['metas']>,
): void {
  const numberOf = new Map<string, number>();
  const texts: string[] = [];
  const ids = new Float64Array(length);
  for (let i = 0; i < length; i++) {
    const text = metas[rowNumbers[i]!];
    if (text === undefined) continue;
    const key = textKey(text);
    let number = numberOf.get(key);
    if (number === undefined) {
      number = texts.push(text);
      numberOf.set(key, number);
    }
    ids[i] = number;
  }
  writeTexts(writer, texts, ids);
}

/** Count, sum, least and greatest of the numbers, as `statistics` orders them. */
export function statisticsOf(numbers: Float64Array): [number, number, number, number] {
  const sum: CompensatedSum = { sum: 0, sumError: 0 };
  addTerms(sum, numbers, 0, numbers.length);
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]!;
    if (number < min) min = number;
    if (number > max) max = number;
  }
  return [numbers.length, sum.sum + sum.sumError, min, max];
}

// Chunk cuts: sorted rows become one chunk after the other.

export type CutLimits = Pick<StoreLimits, 'rowsMax' | 'rowsToCloseAtDay'>;

/**
 * The rows as chunks, in the order of time. Rows up to `sealedNewest`, the newest time that was
 * sealed before, are apart from the others.
 */
export function* sealInChunks(
  sorted: RowsToSeal,
  sealedNewest: EpochMs,
  schemas: SchemaInterner,
  limits: CutLimits,
): Generator<Chunk, void> {
  let from = 0;
  for (const to of cutPlaces(sorted.timestamps, sorted.length, sealedNewest, limits)) {
    yield sealRows(sorted, from, to, schemas);
    from = to;
  }
}

/**
 * Where sorted rows are cut so that each piece is one chunk: late rows apart, the rest at ends of
 * days when long enough.
 */
function cutPlaces(
  timestamps: Float64Array,
  length: number,
  sealedNewest: EpochMs,
  limits: CutLimits,
): number[] {
  const cuts: number[] = [];
  let start = 0;
  for (let i = 1; i < length; i++) {
    const before = timestamps[i - 1]!;
    const at = timestamps[i]!;
    const endsLate = before <= sealedNewest && at > sealedNewest;
    const endsDay =
      i - start >= limits.rowsToCloseAtDay && Math.floor(at / dayMs) !== Math.floor(before / dayMs);
    if (!endsLate && !endsDay && i - start < limits.rowsMax) continue;
    cuts.push(i);
    start = i;
  }
  return [...cuts, length];
}
