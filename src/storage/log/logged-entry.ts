// Logged entry: an entry as the sample store gets it, with rows split into shapes and values, or as columns.
import type { EntryTrace } from '../../model/entry-trace.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Replacement } from '../../model/sample-changes.ts';
import type { SampleEntry } from '../../model/sample.ts';
import { missing } from '../../structures/missing.ts';
import {
  dataOf,
  type DataShape,
  leafKinds,
  type LeafValues,
  type ShapeInterner,
} from './data-shape.ts';
import type { Definition } from './journal-block.ts';

export type EntrySample = Omit<SampleEntry, 'storedAt'>;

type RowHead = Pick<
  SampleEntry,
  'topic' | 'timestamp' | 'workspaceId' | 'dataFlowId' | 'stored' | 'meta'
>;

/**
 * Rows with their data taken apart: the shape of each, and the values of all one after the other.
 */
export interface LoggedRows {
  readonly samples: readonly RowHead[];
  readonly shapes: readonly DataShape[];
  readonly values: LeafValues;
  /** Where the values of the first row are; 0 without it. Rows of other entries may be before and behind. */
  readonly valuesAt?: number;
}

type RowsHead = Omit<EntrySample, 'deviceId' | 'timestamp' | 'data' | 'meta'>;

/** Rows of one device that have everything but times and values in common: a part of columns. */
export interface RowColumns {
  readonly deviceId: string;
  /** What all rows have in common. Rows of many devices can share it. */
  readonly head: RowsHead;
  readonly shape: DataShape;
  /** The first of the rows, and the end of them. The columns may have rows of other devices. */
  readonly from: number;
  readonly to: number;
  /** Each row of the device is later than the one before. */
  readonly timestamps: Float64Array;
  /** For each leaf of the shape: numbers, booleans as 0 and 1, or indices in `texts`. */
  readonly columns: readonly Float64Array[];
  readonly texts: readonly string[];
  /** Of the entry that the rows become. */
  readonly trace?: EntryTrace | undefined;
}

export interface LoggedEntry {
  readonly position: number;
  readonly storedAt: EpochMs;
  readonly deviceId: string;
  /**
   * Place of the first row among all rows of the device in the order of storing; the others follow.
   */
  readonly firstOrder: number;
  /** Rows that are not `stored` count in the order, but no query may find them. */
  readonly rows: LoggedRows | RowColumns;
  /** Bytes that the entry takes in the log. */
  readonly bytes: number;
  readonly replaces?: Replacement;
}

/** An entry as it is read from the log. */
export interface ReadEntry extends LoggedEntry {
  readonly rows: LoggedRows;
}

/** The data of each row, as it was sent. */
export function* dataOfRows({ shapes, values, valuesAt = 0 }: LoggedRows): Generator<JsonObject> {
  let at = valuesAt;
  for (const shape of shapes) {
    yield dataOf(shape, values.sourceFrom(at));
    at += shape.leaves.length;
  }
}

// Row columns: reads of rows that are kept as columns, without an object for each.

export function dataOfColumns(rows: RowColumns, row: number): JsonObject {
  const { shape, columns, texts } = rows;
  const numberAt = (leaf: number): number => columns[leaf]?.[row] ?? missing('value');
  return dataOf(shape, { numberAt, textAt: (leaf) => texts[numberAt(leaf)] ?? missing('string') });
}

/** The row with that time; -1 without one. */
export function rowAtTime({ timestamps, from, to }: RowColumns, at: EpochMs): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timestamps[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return low < to && timestamps[low] === at ? low : -1;
}

/** The samples of the rows, as they were sent. */
export function samplesOfColumns(rows: RowColumns): EntrySample[] {
  const { deviceId } = rows;
  const { topic, ...rest } = rows.head;
  const samples: EntrySample[] = [];
  for (let row = rows.from; row < rows.to; row++) {
    const timestamp = rows.timestamps[row] ?? missing('time');
    samples.push({ deviceId, topic, timestamp, data: dataOfColumns(rows, row), ...rest });
  }
  return samples;
}

/** Adds the values of the row. */
export function addValues(
  { shape, columns, texts }: RowColumns,
  row: number,
  to: LeafValues,
): void {
  const { leaves } = shape;
  for (let leaf = 0; leaf < leaves.length; leaf++) {
    const kind = leaves[leaf]?.kind;
    const value = columns[leaf]?.[row] ?? missing('value');
    if (kind === leafKinds.number || kind === leafKinds.boolean) to.addNumber(value);
    else to.addText(texts[value] ?? missing('string'));
  }
}

// Row kind: everything that the rows of one source have in common. The journal has it once in each block.

/** All kinds are evicted when there are more or larger ones; kinds in use live on. */
const kindsMax = 4_096;
const kindBytesMax = 8 * 1024 * 1024;

export interface RowKind extends Definition {
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly dataFlowId: string | null;
  readonly topic: string;
  readonly stored: boolean;
  readonly hasMeta: boolean;
  readonly shape: DataShape;
}

type RowKindText = readonly [
  organizationId: string,
  workspaceId: string,
  dataFlowId: string | null,
  topic: string,
  stored: 0 | 1,
  hasMeta: 0 | 1,
  shape: string,
];

/** What of a row makes its kind. */
type RowSource = Omit<EntrySample, 'deviceId' | 'timestamp' | 'data'>;

/** Says the kind of a row: the same object for the same kind. */
export type KindOfRow = (sample: RowSource, shape: DataShape) => RowKind;

export function createRowKinds(): KindOfRow {
  /** By data flow, topic and shape; the rest differs rarely. */
  const known = new Map<string | null, Map<string, ShapeKinds>>();
  let count = 0;
  let bytes = 0;
  let last: RowKind | undefined;
  let lastSource: RowSource | undefined;

  function find(sample: RowSource, shape: DataShape): RowKind {
    const alike = known.get(sample.dataFlowId)?.get(sample.topic)?.get(shape) ?? [];
    for (const kind of alike) if (isOf(kind, sample, shape)) return kind;
    return add(sample, shape);
  }

  function add(sample: RowSource, shape: DataShape): RowKind {
    if (count >= kindsMax || bytes >= kindBytesMax) {
      known.clear();
      count = 0;
      bytes = 0;
    }
    const kind = kindOf(sample, shape);
    const topics = inMap(known, sample.dataFlowId, () => new Map<string, ShapeKinds>());
    const shapes = inMap(topics, sample.topic, (): ShapeKinds => new Map());
    inMap(shapes, shape, () => []).push(kind);
    count += 1;
    bytes += kind.bytes.length;
    return kind;
  }

  return (sample, shape) => {
    // Rows of one request share an object.
    if (sample === lastSource && last?.shape === shape) return last;
    if (last === undefined || !isOf(last, sample, shape)) last = find(sample, shape);
    lastSource = sample;
    return last;
  };
}

type ShapeKinds = Map<DataShape, RowKind[]>;

/** Reads definitions; the kind of a buffer is kept as long as the buffer. */
export function createKindReader(interner: ShapeInterner): (definition: Buffer) => RowKind {
  const read = new WeakMap<Buffer, RowKind>();
  return (definition) => {
    let kind = read.get(definition);
    if (kind === undefined) {
      kind = parseKind(definition, interner);
      read.set(definition, kind);
    }
    return kind;
  };
}

function isOf(kind: RowKind, sample: RowSource, shape: DataShape): boolean {
  return (
    kind.shape === shape &&
    kind.topic === sample.topic &&
    kind.dataFlowId === sample.dataFlowId &&
    kind.workspaceId === sample.workspaceId &&
    kind.organizationId === sample.organizationId &&
    kind.stored === sample.stored &&
    kind.hasMeta === (sample.meta !== undefined)
  );
}

function kindOf(sample: RowSource, shape: DataShape): RowKind {
  const { organizationId, workspaceId, dataFlowId, topic, stored } = sample;
  const hasMeta = sample.meta !== undefined;
  const text: RowKindText = [
    organizationId,
    workspaceId,
    dataFlowId,
    topic,
    stored ? 1 : 0,
    hasMeta ? 1 : 0,
    shape.text,
  ];
  const bytes = Buffer.from(JSON.stringify(text));
  return { organizationId, workspaceId, dataFlowId, topic, stored, hasMeta, shape, bytes };
}

function parseKind(bytes: Buffer, interner: ShapeInterner): RowKind {
  const [organizationId, workspaceId, dataFlowId, topic, stored, hasMeta, shape] = JSON.parse(
    bytes.toString(),
  ) as RowKindText;
  return {
    organizationId,
    workspaceId,
    dataFlowId,
    topic,
    stored: stored === 1,
    hasMeta: hasMeta === 1,
    shape: interner.fromText(shape),
    bytes,
  };
}

function inMap<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
