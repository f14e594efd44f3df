// A sealed chunk and its columns: immutable, checksummed sections of one device and topic, and what is known of it without reading them.
import { crc32 } from 'node:zlib';
import type { EpochMs } from '../../../../model/instant.ts';
import { ByteReader } from '../../../../structures/bytes.ts';
import type { Origin } from '../rows/open-rows.ts';
import {
  type DataShape,
  type LeafKind,
  leafKinds,
  leafName,
  type ShapeInterner,
} from '../../../log/data-shape.ts';
import { missing } from '../../../../structures/missing.ts';
import { textKey } from '../../../../structures/hash-tables.ts';
import { columnsOfShapes, type KeyColumns } from '../../value-batches.ts';

/**
 * The sections before those of the columns; behind the columns comes one section of hours for each
 * column.
 */
export const sections = {
  timestamps: 0,
  orders: 1,
  shapeIds: 2,
  originIds: 3,
  metas: 4,
  hours: 5,
} as const;
export const fixedSections = 6;
const checksumBytes = 4;

/**
 * Statistics of each column, in this order: values, their sum, least and greatest; booleans count
 * as 0 and 1, texts have a count only.
 */
export const statistics = { count: 0, sum: 1, min: 2, max: 3 } as const;
export const statisticsPerColumn = 4;

/** Where the bytes of chunks are. */
export interface ChunkFile {
  readonly name: string;
  /**
   * Bytes of the file from `offset` on, beginning on a four-byte boundary of their memory: in
   * `into` when that is given and large enough, else in memory that never changes.
   */
  readonly read: (offset: number, length: number, into?: Uint8Array) => Uint8Array;
}

export interface Chunk {
  /**
   * Where its bytes are, and its share of the arrays below: these change when it is written to a
   * segment.
   */
  file: ChunkFile;
  offset: number;
  readonly length: number;
  readonly rows: number;
  readonly oldest: EpochMs;
  readonly newest: EpochMs;
  /** Least and greatest place among the rows of the device. */
  readonly minOrder: number;
  readonly maxOrder: number;
  readonly schema: ChunkSchema;
  readonly origins: readonly Origin[];
  /** Rows of each origin. */
  readonly originRows: readonly number[];
  /**
   * Ends of the sections relative to the chunk, from `endsAt` on; shared by the chunks of a
   * segment, as statistics are.
   */
  ends: Uint32Array;
  endsAt: number;
  stats: Float64Array;
  statsAt: number;
  /** Set when a section turned out unreadable: the chunk is left out from then on. */
  damaged: boolean;
}

/** The chunk cannot be read as it was written. */
export class DamagedChunk extends Error {
  override readonly name = 'DamagedChunk';
}

export function statOf(chunk: Chunk, column: number, statistic: number): number {
  return chunk.stats[chunk.statsAt + column * statisticsPerColumn + statistic]!;
}

/** Sections begin on a four-byte boundary behind the one before. */
function startOf(chunk: Chunk, section: number): number {
  return section === 0 ? 0 : (chunk.ends[chunk.endsAt + section - 1]! + 3) & ~3;
}

/** Whether the chunk has the section at all: constant things are left out. */
export function hasSection(chunk: Chunk, section: number): boolean {
  return chunk.ends[chunk.endsAt + section]! > startOf(chunk, section);
}

/**
 * The section, its checksum verified; `whole` are the bytes of the whole chunk when the caller has
 * read them.
 */
export function readSection(chunk: Chunk, section: number, whole?: Uint8Array): ByteReader {
  const start = startOf(chunk, section);
  const length = chunk.ends[chunk.endsAt + section]! - start;
  if (length <= checksumBytes)
    throw new DamagedChunk(`Section ${section} of a chunk in ${chunk.file.name} is missing`);
  const bytes =
    whole?.subarray(start, start + length) ?? chunk.file.read(chunk.offset + start, length);
  const body = bytes.subarray(0, length - checksumBytes);
  if (bytes.length !== length || crc32(body) !== checksumAt(bytes, length - checksumBytes))
    throw new DamagedChunk(
      `Section ${section} of the chunk at ${chunk.offset} in ${chunk.file.name} is damaged`,
    );
  return new ByteReader(body);
}

function checksumAt(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
  );
}

// The columns of a sealed chunk, which follow from the shapes of its rows; chunks of the same shapes share one schema in memory.

export interface SchemaColumn {
  readonly path: readonly string[];
  readonly kind: LeafKind;
  readonly name: string;
  /** For each shape whether it has the leaf. */
  readonly inShape: readonly boolean[];
  readonly inAllShapes: boolean;
}

interface LoadedSchema {
  readonly shapes: readonly DataShape[];
  readonly columns: readonly SchemaColumn[];
  readonly shapeColumns: readonly (readonly number[])[];
  /** What data keys stand for, found once per key. */
  readonly keys: Map<string, KeyColumns>;
}

const schemasMax = 65_536;
/**
 * Shapes times columns of the schemas whose parts are in memory: random keys make a schema for each
 * chunk, of some kilobytes to some megabytes.
 */
const loadedCellsMax = 200_000;
/** What the parts of a schema take besides. */
const baseCells = 50;
const keysMax = 256;

/** Chunks of the same shapes share one schema. */
export class SchemaInterner {
  readonly #shapes: ShapeInterner;
  readonly #known = new Map<string, ChunkSchema>();
  readonly #loaded: ChunkSchema[] = [];
  #loadedCells = 0;
  readonly #load = (schema: ChunkSchema): LoadedSchema => {
    const parts = partsOf(shapesFromText(schema.text, this.#shapes));
    this.#noteLoaded(schema, parts);
    return parts;
  };

  constructor(shapes: ShapeInterner) {
    this.#shapes = shapes;
  }

  of(shapes: readonly DataShape[]): ChunkSchema {
    const text = JSON.stringify(shapes.map((shape) => shape.text));
    const key = textKey(text);
    let schema = this.#known.get(key);
    if (schema === undefined) {
      if (this.#known.size >= schemasMax) this.#known.clear();
      const parts = partsOf(shapes);
      schema = new ChunkSchema(text, parts, this.#load);
      this.#noteLoaded(schema, parts);
      this.#known.set(key, schema);
    }
    return schema;
  }

  /** The schema with that text. */
  fromText(text: string): ChunkSchema {
    return this.of(shapesFromText(text, this.#shapes));
  }

  #noteLoaded(schema: ChunkSchema, { shapes, columns }: LoadedSchema): void {
    if (this.#loadedCells >= loadedCellsMax) {
      for (const old of this.#loaded.splice(0)) old.unload();
      this.#loadedCells = 0;
    }
    this.#loaded.push(schema);
    this.#loadedCells += shapes.length * columns.length + baseCells;
  }
}

/** Its parts are created when they are first needed, and may be created again later. */
export class ChunkSchema {
  /** The same text for the same schema. */
  readonly text: string;
  /** Without the columns themselves. */
  readonly columnCount: number;
  readonly #load: (schema: ChunkSchema) => LoadedSchema;
  #parts: LoadedSchema | undefined;

  constructor(text: string, parts: LoadedSchema, load: (schema: ChunkSchema) => LoadedSchema) {
    this.text = text;
    this.columnCount = parts.columns.length;
    this.#parts = parts;
    this.#load = load;
  }

  get shapes(): readonly DataShape[] {
    return this.#loaded().shapes;
  }

  get columns(): readonly SchemaColumn[] {
    return this.#loaded().columns;
  }

  /** For each shape, the columns of its leaves. */
  get shapeColumns(): readonly (readonly number[])[] {
    return this.#loaded().shapeColumns;
  }

  /** Of a chunk. */
  get sectionCount(): number {
    return fixedSections + 2 * this.columnCount;
  }

  hoursSection(column: number): number {
    return fixedSections + this.columnCount + column;
  }

  /** The column at an index that the schema has. */
  columnAt(index: number): SchemaColumn {
    return this.columns[index] ?? missing('column of a chunk');
  }

  /** Where to find the values of the key in chunks of the schema. */
  columnsOfKey(dataKey: string): KeyColumns {
    const { keys, shapes, shapeColumns } = this.#loaded();
    if (keys.has(dataKey)) return keys.get(dataKey);
    if (keys.size >= keysMax) keys.clear();
    const found = columnsOfShapes(shapes, shapeColumns, dataKey);
    keys.set(dataKey, found);
    return found;
  }

  unload(): void {
    this.#parts = undefined;
  }

  #loaded(): LoadedSchema {
    return (this.#parts ??= this.#load(this));
  }
}

function shapesFromText(text: string, shapes: ShapeInterner): DataShape[] {
  return (JSON.parse(text) as string[]).map((shape) => shapes.fromText(shape));
}

function partsOf(shapes: readonly DataShape[]): LoadedSchema {
  const indexByName = new Map<string, number>();
  const found: { path: readonly string[]; kind: LeafKind; name: string; inShape: boolean[] }[] = [];
  const shapeColumns = shapes.map((shape, shapeId) =>
    shape.leaves.map(({ path, kind }) => {
      const name = leafName({ path, kind });
      let index = indexByName.get(name);
      if (index === undefined) {
        index = found.push({ path, kind, name, inShape: shapes.map(() => false) }) - 1;
        indexByName.set(name, index);
      }
      const column = found[index] ?? missing('column');
      column.inShape[shapeId] = true;
      return index;
    }),
  );
  const columns = found.map((column) => ({
    ...column,
    inAllShapes: column.inShape.every(Boolean),
  }));
  return { shapes, columns, shapeColumns, keys: new Map() };
}

/** Whether the column's values are numbers or booleans. */
export function isNumeric(kind: LeafKind): boolean {
  return kind === leafKinds.number || kind === leafKinds.boolean;
}
