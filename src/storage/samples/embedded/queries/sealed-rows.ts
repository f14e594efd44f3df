// The rows of a sealed chunk as columns, each section decoded when it is first asked for and kept within a bound.
import { type DataShape, type LeafKind, leafKinds } from '../../../log/data-shape.ts';
import {
  type Chunk,
  DamagedChunk,
  fixedSections,
  hasSection,
  isNumeric,
  readSection,
  sections,
  statistics,
  statOf,
} from '../chunks/chunk.ts';
import type { ByteReader } from '../../../../structures/bytes.ts';
import {
  intAt,
  readInts,
  readLastInts,
  readLastNumbers,
  readNumbers,
  readTexts,
} from '../chunks/column-encoding.ts';
import {
  type ChunkHours,
  type ColumnHours,
  readColumnHours,
  readHours,
} from '../chunks/chunk-writer.ts';
import type { Column, Origin, Rows, SortedRows } from '../rows/open-rows.ts';
import { missing } from '../../../../structures/missing.ts';
import type { StoreLimits } from '../store-limits.ts';

/**
 * Chunks up to this size are read at once: one read of some kilobytes costs less than two of half
 * the size.
 */
const wholeBytesMax = 64 * 1024;
const scratchRows = 4_096;
const cellBytes = 8;
/** Of a string besides its characters. */
const stringBytes = 24;
/** Count, sum, least, greatest and slots. */
const cellsPerHour = 5;

/** Memory that is used again and again for chunks that are looked at once. */
interface Scratch {
  readonly bytes: Uint8Array;
  readonly values: Float64Array;
}

/** For chunks of the usual size; larger ones get memory of their own. */
function newScratch(): Scratch {
  return { bytes: new Uint8Array(wholeBytesMax), values: new Float64Array(scratchRows) };
}

/** Called with the bytes of what was decoded and stays in memory. */
type NoteBytes = (bytes: number) => void;

/** Throws DamagedChunk from any of its members. */
export class SealedRows implements Rows {
  readonly length: number;
  readonly shapes: readonly DataShape[];
  readonly shapeColumns: readonly (readonly number[])[];
  readonly origins: readonly Origin[];
  readonly chunk: Chunk;
  readonly scratch: Scratch | undefined;
  readonly #kept: NoteBytes | undefined;
  #columns: readonly SealedColumn[] | undefined;
  #whole: Uint8Array | undefined;
  #timestamps: Float64Array | undefined;
  #timestampAt: ((place: number) => number) | undefined;
  #orders: Float64Array | undefined;
  #shapeIds: Uint16Array | undefined;
  #originIds: Uint16Array | undefined;
  #hours: ChunkHours | undefined;
  #columnHours: Map<number, ColumnHours> | undefined;
  #metas: readonly (string | undefined)[] | undefined;

  /**
   * With a scratch only what one caller looks at once is kept, and that until the scratch is used
   * again. `kept` is for rows that stay in memory.
   */
  constructor(chunk: Chunk, { scratch, kept }: { scratch?: Scratch; kept?: NoteBytes } = {}) {
    this.chunk = chunk;
    this.scratch = scratch;
    this.#kept = kept;
    this.length = chunk.rows;
    this.shapes = chunk.schema.shapes;
    this.shapeColumns = chunk.schema.shapeColumns;
    this.origins = chunk.origins;
  }

  get columns(): readonly SealedColumn[] {
    this.#columns ??= this.chunk.schema.columns.map((_, i) => new SealedColumn(this, i));
    return this.#columns;
  }

  /** One column, for those who want no other: rows that are kept keep it. */
  column(index: number): SealedColumn {
    if (this.scratch !== undefined) return new SealedColumn(this, index);
    return this.columns[index] ?? missing('column');
  }

  section(section: number): ReturnType<typeof readSection> {
    const { chunk } = this;
    if (this.#whole === undefined && chunk.length <= wholeBytesMax) {
      this.#whole = chunk.file.read(chunk.offset, chunk.length, this.scratch?.bytes);
      this.note(chunk.length);
    }
    return readSection(chunk, section, this.#whole);
  }

  /** Whether more than hours was read, so that further values cost little. */
  get isRead(): boolean {
    return this.#whole !== undefined || this.#timestamps !== undefined;
  }

  /** Notes the bytes of something decoded that stays in memory with the rows. */
  note(bytes: number): void {
    this.#kept?.(bytes);
  }

  get timestamps(): Float64Array {
    this.#timestamps ??= this.#readInts(sections.timestamps);
    return this.#timestamps;
  }

  #readInts(section: number): Float64Array {
    this.note(this.length * cellBytes);
    return readInts(this.section(section), this.length);
  }

  /**
   * The first place whose timestamp is not below `at`, without decoding all timestamps where that
   * is possible.
   */
  placeOf(at: number): number {
    if (at <= this.chunk.oldest) return 0;
    if (at > this.chunk.newest) return this.length;
    if (this.#timestampAt === undefined && this.#timestamps === undefined)
      this.#timestampAt = intAt(this.section(sections.timestamps));
    const timestampAt = this.#timestampAt ?? timestampIn(this.timestamps);
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (timestampAt(middle) < at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  get orders(): Float64Array {
    this.#orders ??= this.#readInts(sections.orders);
    return this.#orders;
  }

  get shapeIds(): Uint16Array | undefined {
    if (this.shapes.length === 1) return undefined;
    this.#shapeIds ??= Uint16Array.from(this.#readInts(sections.shapeIds));
    return this.#shapeIds;
  }

  get originIds(): Uint16Array | undefined {
    if (this.origins.length === 1) return undefined;
    this.#originIds ??= Uint16Array.from(this.#readInts(sections.originIds));
    return this.#originIds;
  }

  hours(): ChunkHours {
    if (this.#hours === undefined) {
      this.#hours = readHours(this.#hoursSection(sections.hours));
      this.note(this.#hours.hours.length * 2 * cellBytes);
    }
    return this.#hours;
  }

  /** Hours that stay in memory are a small part of their chunk, which need not stay with them. */
  #hoursSection(section: number): ReturnType<typeof readSection> {
    return this.#kept === undefined
      ? this.section(section)
      : readSection(this.chunk, section, this.#whole);
  }

  /** The hours of a column that has them. */
  columnHours(column: number): ColumnHours {
    this.#columnHours ??= new Map();
    let found = this.#columnHours.get(column);
    if (found === undefined) {
      const { schema } = this.chunk;
      const reader = this.#hoursSection(schema.hoursSection(column));
      const { inAllShapes } = schema.columnAt(column);
      found = readColumnHours(reader, this.hours(), inAllShapes);
      this.#columnHours.set(column, found);
      this.note(found.counts.length * cellsPerHour * cellBytes);
    }
    return found;
  }

  get metas(): readonly (string | undefined)[] | undefined {
    if (!hasSection(this.chunk, sections.metas)) return undefined;
    if (this.#metas === undefined) {
      const { texts, ids } = readTexts(this.section(sections.metas), this.length);
      this.#metas = Array.from(ids, (id) => (id === 0 ? undefined : texts[id - 1]));
      this.note(ids.length * cellBytes + bytesOf(texts));
    }
    return this.#metas;
  }
}

/** About what the strings take in memory. */
function bytesOf(texts: readonly string[]): number {
  let bytes = 0;
  for (const text of texts) bytes += stringBytes + text.length;
  return bytes;
}

function timestampIn(timestamps: Float64Array): (place: number) => number {
  return (place) => timestamps[place]!;
}

/** Decoded values stand where their row is; rows without one have gaps of no meaning. */
class SealedColumn implements Column {
  readonly path: readonly string[];
  readonly kind: LeafKind;
  readonly #rows: SealedRows;
  readonly #index: number;
  #numbers: Float64Array | undefined;
  #ids: Float64Array | undefined;
  #texts: readonly string[] | undefined;

  constructor(rows: SealedRows, index: number) {
    const column = rows.chunk.schema.columnAt(index);
    this.path = column.path;
    this.kind = column.kind;
    this.#rows = rows;
    this.#index = index;
  }

  get numbers(): Float64Array {
    return this.numbersBefore(this.#rows.length);
  }

  /** The numbers of the rows before `end` at least; behind them may stand anything. */
  numbersBefore(end: number): Float64Array {
    if (this.#numbers !== undefined) return this.#numbers;
    const { scratch } = this.#rows;
    const reader = this.#rows.section(fixedSections + this.#index);
    const present = this.#present();
    if (scratch === undefined) {
      this.#numbers = this.#spread(this.#read(reader, present, present, undefined));
      this.#rows.note(this.#numbers.length * cellBytes);
      return this.#numbers;
    }
    const wanted = this.#isDense() ? Math.min(end, present) : present;
    return this.#spread(this.#read(reader, present, wanted, scratch.values));
  }

  #read(
    reader: ByteReader,
    length: number,
    wanted: number,
    target: Float64Array | undefined,
  ): Float64Array {
    if (this.kind === leafKinds.number) return readNumbers(reader, length, target, wanted);
    return readInts(reader, length, target, wanted);
  }

  #isDense(): boolean {
    return this.#rows.chunk.schema.columnAt(this.#index).inAllShapes;
  }

  get ids(): Float64Array {
    return this.#ids ?? this.#readTexts().ids;
  }

  get texts(): readonly string[] {
    if (isNumeric(this.kind)) return [];
    return this.#texts ?? this.#readTexts().texts;
  }

  #readTexts(): { readonly texts: readonly string[]; readonly ids: Float64Array } {
    const { texts, ids } = readTexts(
      this.#rows.section(fixedSections + this.#index),
      this.#present(),
    );
    const read = { texts, ids: this.#spread(ids) };
    this.#rows.note(read.ids.length * cellBytes + bytesOf(texts));
    this.#texts = read.texts;
    this.#ids = read.ids;
    return read;
  }

  #present(): number {
    return statOf(this.#rows.chunk, this.#index, statistics.count);
  }

  #spread(values: Float64Array): Float64Array {
    if (this.#isDense()) return values;
    const { inShape } = this.#rows.chunk.schema.columnAt(this.#index);
    const spread = new Float64Array(this.#rows.length);
    const shapeIds = this.#rows.shapeIds ?? missing('shapes of the rows');
    let next = 0;
    for (let row = 0; row < spread.length; row++)
      if (inShape[shapeIds[row]!]) spread[row] = values[next++]!;
    return spread;
  }
}

// The last rows of a chunk: a newest sample, or the last hundred, are read without decoding the rest.

/** Throws DamagedChunk from its constructor, which decodes everything. */
class LastRows implements Rows {
  readonly length: number;
  readonly timestamps: Float64Array;
  readonly orders: Float64Array;
  readonly shapes: readonly DataShape[];
  readonly shapeIds = undefined;
  readonly shapeColumns: readonly (readonly number[])[];
  readonly columns: readonly Column[];
  readonly origins: readonly Origin[];
  readonly originIds: Uint16Array | undefined;
  readonly metas = undefined;
  /** What it takes in memory. */
  readonly bytes: number;

  constructor(chunk: Chunk, count: number, scratch: Scratch) {
    const { rows, schema, origins } = chunk;
    const isShort = chunk.length <= wholeBytesMax;
    const whole = isShort ? chunk.file.read(chunk.offset, chunk.length, scratch.bytes) : undefined;
    const ints = (section: number) => readLastInts(readSection(chunk, section, whole), rows, count);
    this.length = count;
    this.timestamps = ints(sections.timestamps);
    this.orders = ints(sections.orders);
    this.shapes = schema.shapes;
    this.shapeColumns = schema.shapeColumns;
    this.origins = origins;
    this.originIds = origins.length === 1 ? undefined : Uint16Array.from(ints(sections.originIds));
    let texts = 0;
    this.columns = schema.columns.map(({ path, kind }, index): Column => {
      const reader = readSection(chunk, fixedSections + index, whole);
      if (kind === leafKinds.number)
        return { path, kind, numbers: readLastNumbers(reader, rows, count), ...noTexts };
      if (isNumeric(kind))
        return { path, kind, numbers: readLastInts(reader, rows, count), ...noTexts };
      const read = readTexts(reader, rows, count);
      texts += bytesOf(read.texts);
      return { path, kind, numbers: noNumbers, ...read };
    });
    this.bytes = (this.columns.length + 2) * count * cellBytes + texts;
  }
}

const noNumbers = new Float64Array(0);
const noTexts = { ids: noNumbers, texts: [] } as const;

/** The last rows of a chunk with fewer than so many times their number cost as much as all. */
const lastRowsShare = 4;

// Recently decoded chunks, within a bound, and the one place where damage met on reading is caught and reported.

/** What a chunk takes before anything of it is decoded. */
const chunkBytes = 500;

interface KeptRows {
  readonly rows: SealedRows;
  /** Whether values were asked for, and not kept yet. */
  isAsked: boolean;
  /** The last rows alone. */
  last: SortedRows | undefined;
  bytes: number;
}

/**
 * Keeps rows by their chunk. A chunk never changes, and one that is merged, dropped or past its
 * retention is another chunk or none, so what is kept is right for as long as somebody asks for it.
 */
export class DecodedChunks {
  readonly #report: (chunk: Chunk, reason: string) => void;
  readonly #kept = new Map<Chunk, KeptRows>();
  readonly #scratch = newScratch();
  readonly #bytesMax: number;
  readonly #lastRowsMin: number;
  #bytes = 0;

  constructor(
    report: (chunk: Chunk, reason: string) => void,
    { keptChunkBytes, lastRowsMin }: StoreLimits,
  ) {
    this.#report = report;
    this.#bytesMax = keptChunkBytes;
    this.#lastRowsMin = lastRowsMin;
  }

  /** What the kept rows take. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * The rows of the chunk for one look without a pause: what they give may change with the next
   * call.
   */
  readonly passing = (chunk: Chunk): SealedRows => {
    const rows = this.#kept.get(chunk)?.rows;
    return rows?.isRead === true ? rows : new SealedRows(chunk, { scratch: this.#scratch });
  };

  /** Whether the chunk was asked for before; from now on it was. */
  readonly isReturning = (chunk: Chunk): boolean => {
    if (this.#kept.has(chunk)) return true;
    this.keeping(chunk);
    return false;
  };

  /**
   * As `passing` the first time and as `keeping` from then on: memory for the values of a chunk
   * costs more than decoding them once.
   */
  readonly returning = (chunk: Chunk): SealedRows => {
    const rows = this.keeping(chunk);
    const kept = this.#kept.get(chunk);
    if (kept === undefined || kept.isAsked) return rows;
    kept.isAsked = true;
    return this.passing(chunk);
  };

  /** What the reading gives; undefined when it met damage, which is reported once per chunk. */
  guarded<T>(chunk: Chunk, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof DamagedChunk)) throw error;
      if (!chunk.damaged) this.#report(chunk, error.message);
      chunk.damaged = true;
      this.forget(chunk);
      return undefined;
    }
  }

  forget(chunk: Chunk): void {
    const kept = this.#kept.get(chunk);
    if (kept === undefined) return;
    this.#kept.delete(chunk);
    this.#bytes -= kept.bytes;
  }

  /** The rows of the chunk; undefined when it is damaged. */
  sorted(chunk: Chunk): SortedRows | undefined {
    return this.guarded(chunk, () => {
      const decoded = this.keeping(chunk);
      const { timestamps, orders, length } = decoded;
      return { rows: decoded, length, timestamps, orders, permutation: undefined };
    });
  }

  /**
   * At least `count` of the last rows of the chunk, without those before; undefined when that saves
   * little or they are damaged. They stay in memory, but for a single one, which its reader keeps.
   */
  lastOf(chunk: Chunk, count: number): SortedRows | undefined {
    const known = this.#kept.get(chunk);
    if (known?.last !== undefined && known.last.length >= count) {
      this.keeping(chunk);
      return known.last;
    }
    const length = count === 1 ? 1 : Math.max(count, this.#lastRowsMin);
    const { rows, schema, damaged } = chunk;
    if (damaged || known?.last !== undefined || known?.rows.isRead === true) return undefined;
    if (length * lastRowsShare > rows || schema.shapes.length > 1) return undefined;
    if (hasSection(chunk, sections.metas)) return undefined;
    return this.guarded(chunk, () => {
      const last = new LastRows(chunk, length, this.#scratch);
      const { timestamps, orders } = last;
      const sorted = { rows: last, length, timestamps, orders, permutation: undefined };
      if (count > 1) this.#keepLast(chunk, sorted, last.bytes);
      return sorted;
    });
  }

  #keepLast(chunk: Chunk, last: SortedRows, bytes: number): void {
    this.keeping(chunk);
    const kept = this.#kept.get(chunk);
    if (kept === undefined) return;
    kept.last = last;
    this.#note(chunk, kept, bytes);
  }

  /** The rows of the chunk, which stay in memory with what is decoded of them. */
  readonly keeping = (chunk: Chunk): SealedRows => {
    const found = this.#kept.get(chunk);
    if (found !== undefined) {
      // Asked for again, it is the last to go.
      this.#kept.delete(chunk);
      this.#kept.set(chunk, found);
      return found.rows;
    }
    const kept: KeptRows = {
      rows: new SealedRows(chunk, { kept: (bytes) => this.#note(chunk, kept, bytes) }),
      isAsked: false,
      last: undefined,
      bytes: 0,
    };
    this.#kept.set(chunk, kept);
    this.#note(chunk, kept, chunkBytes);
    return kept.rows;
  };

  #note(chunk: Chunk, kept: KeptRows, bytes: number): void {
    // A reader that pauses may go on with rows that were forgotten meanwhile.
    if (this.#kept.get(chunk) !== kept) return;
    kept.bytes += bytes;
    this.#bytes += bytes;
    if (this.#bytes <= this.#bytesMax) return;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#bytesMax || oldest === chunk) break;
      this.forget(oldest);
    }
  }
}
