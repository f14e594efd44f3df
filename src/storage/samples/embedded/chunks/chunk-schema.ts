// The columns of a sealed chunk, which follow from the shapes of its rows; chunks of the same shapes share one schema in memory.
import {
  type DataShape,
  type LeafKind,
  leafKinds,
  leafName,
  type ShapeInterner,
} from '../../../log/data-shape.ts';
import { missing } from '../../../../structures/missing.ts';
import { textKey } from '../../../../structures/string-hash.ts';
import { columnsOfShapes, type KeyColumns } from '../../value-batches.ts';

export interface SchemaColumn {
  readonly path: readonly string[];
  readonly kind: LeafKind;
  readonly name: string;
  /** For each shape whether it has the leaf. */
  readonly inShape: readonly boolean[];
  readonly inAllShapes: boolean;
}

/** Its parts are created when they are first needed, and may be created again later. */
export interface ChunkSchema extends SchemaParts {
  /** The same text for the same schema. */
  readonly text: string;
  /** Without the columns themselves. */
  readonly columnCount: number;
}

interface SchemaParts {
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

export type SchemaInterner = (shapes: readonly DataShape[]) => ChunkSchema;

export function createSchemaInterner(interner: ShapeInterner): SchemaInterner {
  const known = new Map<string, ChunkSchema>();
  const loaded: InternedSchema[] = [];
  let loadedCells = 0;

  function load(schema: InternedSchema): SchemaParts {
    const parts = partsOf(shapesFromText(schema.text, interner));
    noteLoaded(schema, parts);
    return parts;
  }

  function noteLoaded(schema: InternedSchema, { shapes, columns }: SchemaParts): void {
    if (loadedCells >= loadedCellsMax) {
      for (const old of loaded.splice(0)) old.unload();
      loadedCells = 0;
    }
    loaded.push(schema);
    loadedCells += shapes.length * columns.length + baseCells;
  }

  return (shapes) => {
    const text = JSON.stringify(shapes.map((shape) => shape.text));
    const key = textKey(text);
    let schema = known.get(key);
    if (schema === undefined) {
      if (known.size >= schemasMax) known.clear();
      const parts = partsOf(shapes);
      const created = new InternedSchema(text, parts, load);
      noteLoaded(created, parts);
      schema = created;
      known.set(key, schema);
    }
    return schema;
  };
}

class InternedSchema implements ChunkSchema {
  readonly text: string;
  readonly columnCount: number;
  readonly #load: (schema: InternedSchema) => SchemaParts;
  #parts: SchemaParts | undefined;

  constructor(text: string, parts: SchemaParts, load: (schema: InternedSchema) => SchemaParts) {
    this.text = text;
    this.columnCount = parts.columns.length;
    this.#parts = parts;
    this.#load = load;
  }

  get shapes(): SchemaParts['shapes'] {
    return this.#loaded().shapes;
  }

  get columns(): SchemaParts['columns'] {
    return this.#loaded().columns;
  }

  get shapeColumns(): SchemaParts['shapeColumns'] {
    return this.#loaded().shapeColumns;
  }

  get keys(): SchemaParts['keys'] {
    return this.#loaded().keys;
  }

  unload(): void {
    this.#parts = undefined;
  }

  #loaded(): SchemaParts {
    return (this.#parts ??= this.#load(this));
  }
}

/** The schema with that text. */
export function schemaFromText(
  text: string,
  shapes: ShapeInterner,
  schemas: SchemaInterner,
): ChunkSchema {
  return schemas(shapesFromText(text, shapes));
}

function shapesFromText(text: string, shapes: ShapeInterner): DataShape[] {
  return (JSON.parse(text) as string[]).map((shape) => shapes.fromText(shape));
}

function partsOf(shapes: readonly DataShape[]): SchemaParts {
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

/** The column at an index that the schema has. */
export function columnAt(schema: ChunkSchema, index: number): SchemaColumn {
  return schema.columns[index] ?? missing('column of a chunk');
}

/** Where to find the values of the key in chunks of the schema. */
export function columnsOfKey(schema: ChunkSchema, dataKey: string): KeyColumns {
  if (schema.keys.has(dataKey)) return schema.keys.get(dataKey);
  if (schema.keys.size >= keysMax) schema.keys.clear();
  const found = columnsOfShapes(schema.shapes, schema.shapeColumns, dataKey);
  schema.keys.set(dataKey, found);
  return found;
}

/** Whether the column's values are numbers or booleans. */
export function isNumeric(kind: LeafKind): boolean {
  return kind === leafKinds.number || kind === leafKinds.boolean;
}
