// Chunk writer: the sections of a chunk and its statistics from a range of sorted rows.
import { crc32 } from 'node:zlib';
import { addTerms, type CompensatedSum } from '../../../../query/summaries/compensated-sum.ts';
import {
  type Chunk,
  type ChunkFile,
  type ChunkSchema,
  isNumeric,
  type SchemaColumn,
  type SchemaInterner,
  statisticsPerColumn,
} from './chunk.ts';
import { type ByteReader, ByteWriter } from '../../../../structures/bytes.ts';
import { readInts, readNumbers, writeInts, writeNumbers, writeTexts } from './column-encoding.ts';
import { type DataShape, type LeafKind, leafKinds, leafName } from '../../../log/data-shape.ts';
import { type Column, type Origin, rowAt, type Rows, type SortedRows } from '../rows/open-rows.ts';
import { missing } from '../../../../structures/missing.ts';
import { textKey } from '../../../../structures/hash-tables.ts';
import { dayMs, type EpochMs, hourMs } from '../../../../model/instant.ts';
import type { StoreLimits } from '../store-limits.ts';
import { slotBit } from '../../../../query/summaries/occupied-slots.ts';

/** Sorted rows as far as chunks need them. */
type RowsToSeal = Omit<SortedRows, 'rows'> & {
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
function chunkInMemory(
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
    schema: schemas.of(shapes.used.map((id) => rows.shapes[id] ?? missing('shape'))),
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

type CutLimits = Pick<StoreLimits, 'rowsMax' | 'rowsToCloseAtDay'>;

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

// Hourly aggregates of a chunk: for each hour that it touches, where its rows end, and per column their sum, range and occupied slots.
// They are written with the rows they come from, so they can neither be late nor differ; an hour
// cut by a chunk's end has a part in each.

/** With fewer rows an hour, reading the rows costs no more than reading the hours. */
const rowsPerHourMin = 8;

/** The hours of a chunk: `floor(timestamp / hourMs)`, and the place behind the last row of each. */
export interface ChunkHours {
  readonly hours: Float64Array;
  readonly ends: Float64Array;
}

export interface ColumnHours {
  readonly counts: Float64Array;
  readonly sums: Float64Array;
  readonly mins: Float64Array;
  readonly maxs: Float64Array;
  /** Five-minute slots with a value that is true or greater than zero, as twelve bits. */
  readonly slots: Float64Array;
}

/** Undefined when hours would not pay. */
export function hoursOf(timestamps: Float64Array): ChunkHours | undefined {
  const hours: number[] = [];
  const ends: number[] = [];
  let nextHourAt = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < timestamps.length; i++) {
    const at = timestamps[i]!;
    if (at < nextHourAt) continue;
    if (hours.length > 0) ends.push(i);
    const hour = Math.floor(at / hourMs);
    hours.push(hour);
    nextHourAt = (hour + 1) * hourMs;
  }
  ends.push(timestamps.length);
  if (timestamps.length < hours.length * rowsPerHourMin) return undefined;
  return { hours: Float64Array.from(hours), ends: Float64Array.from(ends) };
}

function writeHours(writer: ByteWriter, { hours, ends }: ChunkHours): void {
  writer.varint(hours.length);
  writeInts(writer, hours, hours.length);
  writeInts(writer, ends, ends.length);
}

export function readHours(reader: ByteReader): ChunkHours {
  const length = reader.varint();
  return { hours: readInts(reader, length), ends: readInts(reader, length) };
}

/** The rows of a chunk and the values of one column. */
interface NumbersOfRows {
  readonly timestamps: Float64Array;
  /** The values of the rows that have one. */
  readonly numbers: Float64Array;
  /** The row of each value; undefined when every row has one. */
  readonly places: Uint32Array | undefined;
}

function writeColumnHours(writer: ByteWriter, chunkHours: ChunkHours, rows: NumbersOfRows): void {
  const { counts, sums, mins, maxs, slots } = columnHours(chunkHours, rows);
  const { length } = counts;
  if (rows.places !== undefined) writeInts(writer, counts, length);
  writeNumbers(writer, sums, length);
  writeNumbers(writer, mins, length);
  writeNumbers(writer, maxs, length);
  writeInts(writer, slots, length);
}

/** The hours of a column's present values. */
export function columnHours(
  { ends }: ChunkHours,
  { timestamps, numbers, places }: NumbersOfRows,
): ColumnHours {
  const { length } = ends;
  const found = {
    counts: new Float64Array(length),
    sums: new Float64Array(length),
    mins: new Float64Array(length),
    maxs: new Float64Array(length),
    slots: new Float64Array(length),
  };
  let from = 0;
  for (let hour = 0; hour < length; hour++) {
    let to = from;
    let min = Number.POSITIVE_INFINITY;
    let max = Number.NEGATIVE_INFINITY;
    let slots = 0;
    for (; to < numbers.length; to++) {
      const place = places?.[to] ?? to;
      if (place >= ends[hour]!) break;
      const number = numbers[to]!;
      if (number < min) min = number;
      if (number > max) max = number;
      if (number > 0) slots |= slotBit(timestamps[place]!);
    }
    const sum: CompensatedSum = { sum: 0, sumError: 0 };
    addTerms(sum, numbers, from, to);
    found.counts[hour] = to - from;
    found.sums[hour] = sum.sum + sum.sumError;
    // Hours without a value are skipped by their count; zeros pack better than infinities.
    if (to > from) {
      found.mins[hour] = min;
      found.maxs[hour] = max;
    }
    found.slots[hour] = slots;
    from = to;
  }
  return found;
}

/** `dense` when every row of the chunk has a value: counts follow from the ends of the hours. */
export function readColumnHours(
  reader: ByteReader,
  { ends }: ChunkHours,
  dense: boolean,
): ColumnHours {
  const { length } = ends;
  return {
    counts: dense ? countsOf(ends) : readInts(reader, length),
    sums: readNumbers(reader, length),
    mins: readNumbers(reader, length),
    maxs: readNumbers(reader, length),
    slots: readInts(reader, length),
  };
}

function countsOf(ends: Float64Array): Float64Array {
  return ends.map((end, i) => end - (ends[i - 1] ?? 0));
}

// Chunk jobs: sorted rows and the chunks made of them, as messages between two threads.

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
    schema: schemas.of(shapes.map(shapeOf)),
    origins: origins.map((i) => rows.origins[i] ?? missing('origin')),
  });
}
