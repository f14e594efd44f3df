// Part columns: the samples of a part of an export as columns, copied from those of the store, for the thread that encodes them.
import type { JsonObject } from '../../model/json.ts';
import { dataOf, leafKinds } from '../../storage/log/data-shape.ts';
import type { SampleColumn, SampleColumns, SampleRun } from '../../storage/samples/sample-store.ts';
import { grown } from '../../structures/bytes.ts';
import { missing } from '../../structures/missing.ts';
import { textKey } from '../../structures/hash-tables.ts';
import type { ExportedDevice, PartBatch, PartContent, ReadRange } from './export-file.ts';

/** Only data, so that it can be sent to a thread. */
export interface PartColumns {
  readonly devices: readonly ExportedDevice[];
  readonly blocks: readonly ColumnBlock[];
  /**
   * The order of the samples: of each run the device, the block, and its number of rows. Rows of a
   * block come in their order.
   */
  readonly order: Uint32Array;
  /** Members of `data`; see `SampleExportPlan`. */
  readonly keys: readonly string[] | null;
}

/** Samples of one topic, of any devices. */
export interface ColumnBlock {
  readonly topic: string;
  /** Texts of their shapes; see `DataShape`. */
  readonly shapes: readonly string[];
  /** The shape of each row; undefined when there is one shape only. */
  readonly shapeIds: Uint16Array | undefined;
  /** For each shape the columns of its leaves, in their order. */
  readonly shapeColumns: readonly (readonly number[])[];
  /** Of each row, as those of columns; behind the rows may stand anything. */
  readonly timestamps: Float64Array;
  readonly columns: readonly BlockColumn[];
}

export interface BlockColumn {
  /** Numbers, booleans as 0 and 1, or for texts their index in `texts`. */
  readonly values: Float64Array | Uint8Array | Uint32Array;
  readonly texts: readonly string[];
}

const cellBytes = 8;
/** Objects of which a part of few samples has many. */
const deviceBytes = 200;
const columnBytes = 500;
const firstRows = 16;
/** Further samples of a part are objects, unless they are like others. */
const columnBlocksMax = 256;
/** With more columns than this, rows have values in at least one of `gapsMax`; others are objects. */
const columnsMin = 64;
const gapsMax = 8;
/** Calls of the runtime cost more than they save for fewer rows. */
const loopedRowsMax = 12;

/** See `SampleStore.exportColumns`. */
export interface ColumnSource {
  exportColumns(range: ReadRange): AsyncIterable<readonly SampleRun[]>;
}

export class PartColumnsContent implements PartContent<PartColumns> {
  readonly #source: ColumnSource;
  readonly #topics: ReadonlySet<string> | undefined;
  readonly #keys: readonly string[] | null;
  readonly #devices: ExportedDevice[] = [];
  readonly #blocks: Block[] = [];
  readonly #blocksByName = new Map<string, number>();
  /** The block of rows that were seen before. */
  readonly #blocksOf = new WeakMap<
    SampleColumns['rows'],
    { readonly topic: string; readonly shapes: number; readonly block: number }
  >();
  #order = new Uint32Array(3 * firstRows);
  #ordered = 0;
  #size = 0;

  constructor(
    source: ColumnSource,
    {
      topics,
      keys,
    }: { readonly topics: readonly string[] | null; readonly keys: readonly string[] | null },
  ) {
    this.#source = source;
    this.#topics = topics === null ? undefined : new Set(topics);
    this.#keys = keys;
  }

  get size(): number {
    return this.#size;
  }

  get isEmpty(): boolean {
    return this.#ordered === 0;
  }

  async *batchesOf(range: ReadRange, device: ExportedDevice): AsyncGenerator<PartBatch> {
    for await (const runs of this.#source.exportColumns(range))
      yield new RunBatch(runs, (run, from) => this.#add(run, from, device));
  }

  content(): PartColumns {
    return {
      devices: this.#devices,
      blocks: this.#blocks.map((block) => block.toSend()),
      order: this.#order.slice(0, this.#ordered),
      keys: this.#keys,
    };
  }

  #add(run: SampleRun, from: number, device: ExportedDevice): void {
    if (this.#topics?.has(run.topic) === false) return;
    if (this.#devices.at(-1) !== device) {
      this.#devices.push(device);
      this.#size += deviceBytes;
    }
    const id = this.#blockOf(run);
    const block = this.#blocks[id] ?? missing('block of a run');
    this.#size += block.add(run.sorted, from, run.to);
    this.#addOrder(this.#devices.length - 1, id, run.to - from);
  }

  #addOrder(device: number, block: number, rows: number): void {
    const last = this.#ordered - 3;
    if (last >= 0 && this.#order[last] === device && this.#order[last + 1] === block) {
      this.#order[last + 2]! += rows;
      return;
    }
    if (this.#ordered + 3 > this.#order.length)
      this.#order = grown(this.#order, this.#order.length * 2);
    this.#order[this.#ordered++] = device;
    this.#order[this.#ordered++] = block;
    this.#order[this.#ordered++] = rows;
    this.#size += 3 * this.#order.BYTES_PER_ELEMENT;
  }

  #blockOf({ topic, sorted: { rows } }: SampleRun): number {
    const known = this.#blocksOf.get(rows);
    if (known?.topic === topic && known.shapes === rows.shapes.length) return known.block;
    const block = this.#isTooVaried(rows) ? this.#objectsOf(topic) : this.#columnsOf(topic, rows);
    this.#blocksOf.set(rows, { topic, shapes: rows.shapes.length, block });
    return block;
  }

  /** Whether columns would take more time and memory than they save: most of their rows have no value. */
  #isTooVaried({ shapes, shapeColumns, columns }: SampleColumns['rows']): boolean {
    if (this.#blocks.length >= columnBlocksMax) return true;
    const leaves = shapeColumns.reduce((sum, of) => sum + of.length, 0);
    return columns.length > columnsMin && columns.length * shapes.length > gapsMax * leaves;
  }

  #columnsOf(topic: string, rows: SampleColumns['rows']): number {
    const shapes = rows.shapes.map(({ text }) => text);
    const name = textKey(JSON.stringify([topic, shapes, rows.shapeColumns]));
    const bytes = name.length + (rows.columns.length + 1) * columnBytes;
    return this.#named(name, bytes, () => new GrowingBlock(topic, shapes, rows));
  }

  #objectsOf(topic: string): number {
    return this.#named(textKey(JSON.stringify([topic])), columnBytes, () => new ObjectBlock(topic));
  }

  #named(name: string, bytes: number, made: () => Block): number {
    let block = this.#blocksByName.get(name);
    if (block === undefined) {
      block = this.#blocks.push(made()) - 1;
      this.#blocksByName.set(name, block);
      this.#size += bytes;
    }
    return block;
  }
}

class RunBatch implements PartBatch {
  readonly length: number;
  readonly #runs: readonly SampleRun[];
  readonly #add: (run: SampleRun, from: number) => void;

  constructor(runs: readonly SampleRun[], add: (run: SampleRun, from: number) => void) {
    this.#runs = runs;
    this.#add = add;
    this.length = runs.reduce((sum, { from, to }) => sum + to - from, 0);
  }

  get lastTime(): number {
    const last = this.#runs.at(-1) ?? missing('run of a batch');
    return last.sorted.timestamps[last.to - 1]!;
  }

  startsWith(time: number): number {
    let count = 0;
    for (const { sorted, from, to } of this.#runs)
      for (let place = from; place < to; place++, count++)
        if (sorted.timestamps[place] !== time) return count;
    return count;
  }

  endsWith(time: number): number {
    let count = 0;
    for (const { sorted, from, to } of this.#runs.toReversed())
      for (let place = to - 1; place >= from; place--, count++)
        if (sorted.timestamps[place] !== time) return count;
    return count;
  }

  addFrom(index: number): void {
    let before = 0;
    for (const run of this.#runs) {
      const from = run.from + Math.max(0, index - before);
      if (from < run.to) this.#add(run, from);
      before += run.to - run.from;
    }
  }
}

interface Block {
  /** Copies the rows and returns their bytes. */
  add(sorted: SampleColumns, from: number, to: number): number;
  toSend(): ColumnBlock;
}

/** Samples as JSON of their data, as rows of the shape of whole objects. */
class ObjectBlock implements Block {
  readonly #topic: string;
  readonly #timestamps: number[] = [];
  readonly #texts: string[] = [];

  constructor(topic: string) {
    this.#topic = topic;
  }

  add({ timestamps, permutation, rows }: SampleColumns, from: number, to: number): number {
    let bytes = 0;
    for (let place = from; place < to; place++) {
      const text = JSON.stringify(dataAt(rows, permutation?.[place] ?? place));
      this.#timestamps.push(timestamps[place]!);
      this.#texts.push(text);
      bytes += 2 * text.length + 2 * cellBytes;
    }
    return bytes;
  }

  toSend(): ColumnBlock {
    const values = Uint32Array.from(this.#texts.keys());
    return {
      topic: this.#topic,
      shapes: [String(leafKinds.object)],
      shapeIds: undefined,
      shapeColumns: [[0]],
      timestamps: Float64Array.from(this.#timestamps),
      columns: [{ values, texts: this.#texts }],
    };
  }
}

function dataAt(rows: SampleColumns['rows'], row: number): JsonObject {
  const shapeId = rows.shapeIds?.[row] ?? 0;
  const columns = rows.shapeColumns[shapeId] ?? missing('columns of a shape');
  const columnOf = (leaf: number) =>
    rows.columns[columns[leaf] ?? missing('column of a leaf')] ?? missing('column of a leaf');
  return dataOf(rows.shapes[shapeId] ?? missing('shape of a row'), {
    numberAt: (leaf) => columnOf(leaf).numbers[row]!,
    textAt(leaf) {
      const { ids, texts } = columnOf(leaf);
      return texts[ids[row]!] ?? missing('string of a row');
    },
  });
}

class GrowingBlock implements Block {
  readonly #topic: string;
  readonly #shapes: readonly string[];
  readonly #shapeColumns: readonly (readonly number[])[];
  readonly #columns: readonly GrowingColumn[];
  #timestamps = new Float64Array(firstRows);
  #shapeIds: Uint16Array | undefined;
  #length = 0;

  constructor(
    topic: string,
    shapes: readonly string[],
    { shapeColumns, columns }: SampleColumns['rows'],
  ) {
    this.#topic = topic;
    this.#shapes = shapes;
    this.#shapeColumns = shapeColumns.map((of) => [...of]);
    this.#columns = columns.map(({ kind }, i) => {
      const inShape = this.#shapeColumns.map((of) => of.includes(i));
      return new GrowingColumn(kind, inShape.every(Boolean) ? undefined : inShape);
    });
    if (shapes.length > 1) this.#shapeIds = new Uint16Array(firstRows);
  }

  add({ timestamps, permutation, rows }: SampleColumns, from: number, to: number): number {
    const at = this.#length;
    this.#length += to - from;
    if (this.#length > this.#timestamps.length)
      this.#grow(Math.max(this.#length, 2 * this.#timestamps.length));
    this.#timestamps.set(timestamps.subarray(from, to), at);
    const places = { from, to, permutation, at };
    if (this.#shapeIds !== undefined)
      copyRows(rows.shapeIds ?? missing('shapes of rows'), this.#shapeIds, places);
    let bytes = (to - from) * cellBytes;
    for (const [i, column] of this.#columns.entries())
      bytes += column.add(rows.columns[i] ?? missing('column'), places, this.#shapeIds);
    return bytes;
  }

  toSend(): ColumnBlock {
    return {
      topic: this.#topic,
      shapes: this.#shapes,
      shapeIds: this.#shapeIds,
      shapeColumns: this.#shapeColumns,
      timestamps: this.#timestamps,
      columns: this.#columns.map(({ values, texts }) => ({ values, texts })),
    };
  }

  #grow(rows: number): void {
    this.#timestamps = grown(this.#timestamps, rows);
    if (this.#shapeIds !== undefined) this.#shapeIds = grown(this.#shapeIds, rows);
    for (const column of this.#columns) column.grow(rows);
  }
}

/** Rows to copy, and the row that the first of them becomes. */
interface Places {
  readonly from: number;
  readonly to: number;
  readonly permutation: Uint32Array | undefined;
  readonly at: number;
}

class GrowingColumn implements BlockColumn {
  values: Float64Array | Uint8Array | Uint32Array;
  readonly texts: string[] = [];
  /** For each shape whether it has the column; undefined when all have. */
  readonly #inShape: readonly boolean[] | undefined;
  readonly #idByText = new Map<string, number>();
  /** The ids of the texts of a source. */
  readonly #idsOf = new WeakMap<readonly string[], (number | undefined)[]>();

  constructor(kind: SampleColumn['kind'], inShape: readonly boolean[] | undefined) {
    this.#inShape = inShape;
    if (kind === leafKinds.number) this.values = new Float64Array(firstRows);
    else if (kind === leafKinds.boolean) this.values = new Uint8Array(firstRows);
    else this.values = new Uint32Array(firstRows);
  }

  /** Copies the values of the rows and returns their bytes. */
  add(column: SampleColumn, places: Places, shapeIds: Uint16Array | undefined): number {
    const { from, to, permutation, at } = places;
    const bytes = (to - from) * cellBytes;
    if (!(this.values instanceof Uint32Array)) {
      copyRows(column.numbers, this.values, places);
      return bytes;
    }
    const { ids, texts } = column;
    const known = this.#knownOf(texts);
    let added = 0;
    for (let place = from, row = at; place < to; place++, row++) {
      if (this.#inShape?.[shapeIds?.[row] ?? 0] === false) continue;
      const id = ids[permutation?.[place] ?? place]!;
      let own = known[id];
      if (own === undefined) {
        const text = texts[id] ?? missing('string of a row');
        const before = this.texts.length;
        own = this.#idOf(text);
        known[id] = own;
        if (this.texts.length > before) added += 2 * text.length + cellBytes;
      }
      this.values[row] = own;
    }
    return bytes + added;
  }

  grow(rows: number): void {
    this.values = grown(this.values, rows);
  }

  #knownOf(texts: readonly string[]): (number | undefined)[] {
    let known = this.#idsOf.get(texts);
    if (known === undefined) {
      known = [];
      this.#idsOf.set(texts, known);
    }
    return known;
  }

  #idOf(text: string): number {
    const key = textKey(text);
    let id = this.#idByText.get(key);
    if (id === undefined) {
      id = this.texts.push(text) - 1;
      this.#idByText.set(key, id);
    }
    return id;
  }
}

type Values = Float64Array | Uint8Array | Uint16Array | Uint32Array;

function copyRows(
  source: Exclude<Values, Uint32Array>,
  target: Values,
  { from, to, permutation, at }: Places,
): void {
  if (permutation === undefined && to - from > loopedRowsMax) {
    target.set(source.subarray(from, to), at);
    return;
  }
  for (let place = from, row = at; place < to; place++, row++)
    target[row] = source[permutation?.[place] ?? place]!;
}

/** The memory of the columns, which the thread takes over. */
export function buffersOf({ blocks, order }: PartColumns): ArrayBuffer[] {
  const arrays = blocks.flatMap(({ timestamps, shapeIds, columns }) => [
    timestamps,
    ...(shapeIds === undefined ? [] : [shapeIds]),
    ...columns.map(({ values }) => values),
  ]);
  return [order, ...arrays].map(({ buffer }) => buffer as ArrayBuffer);
}
