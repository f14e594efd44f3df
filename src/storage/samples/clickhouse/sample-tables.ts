// Sample tables in ClickHouse: samples, their points (one row a key), hours, and the shapes of each device.
import type { TableColumn, TableDefinition } from '../../clickhouse/clickhouse.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { Sample } from '../../../model/sample.ts';
import { type DataShape, type LeafKind, leafKinds } from '../../log/data-shape.ts';

/** Thirty days: the unit that retention can drop without rewriting anything. */
export const partitionMs = 2_592_000_000;

const text = (name: string): TableColumn => ({ name, type: 'String', use: 'text' });
const time = (name: string): TableColumn => ({ name, type: 'Int64', use: 'time' });
const count = (name: string, type: string): TableColumn => ({ name, type, use: 'count' });

const place = [
  count('part', 'UInt16'),
  text('device'),
  text('topic'),
] as const satisfies readonly TableColumn[];

/** What a row is known by, and what decides whether it is visible. */
const origin = [
  count('journal', 'UInt32'),
  count('position', 'UInt64'),
  count('idx', 'UInt32'),
  time('storedAt'),
  text('workspace'),
  text('flow'),
] as const satisfies readonly TableColumn[];

const partitionBy = `intDiv(ts, ${partitionMs})`;

/** `data` and `meta` are JSON; `meta` and `flow` are empty where a sample has none. */
const samplesTable: TableDefinition = {
  name: 'samples',
  columns: [...place, time('ts'), ...origin, text('data'), text('meta')],
  engine: 'MergeTree',
  partitionBy,
  orderBy: ['device', 'topic', 'ts', 'storedAt', 'journal', 'position', 'idx'],
};

/** `key` is a data key as JSON, empty for a sample whose data has too many. `str` is JSON too. */
const pointsTable: TableDefinition = {
  name: 'points',
  columns: [
    ...place,
    text('key'),
    time('ts'),
    ...origin,
    count('kind', 'UInt8'),
    { name: 'num', type: 'Float64', use: 'number' },
    text('str'),
  ],
  engine: 'MergeTree',
  partitionBy,
  orderBy: ['device', 'topic', 'key', 'ts'],
};

const float = (name: string): TableColumn => ({ name, type: 'Float64', use: 'number' });

/** The outermost value of an hour, with its place in the order of storing. */
const end = (name: string): readonly TableColumn[] => [
  time(`${name}Ts`),
  float(`${name}Num`),
  time(`${name}StoredAt`),
  count(`${name}Position`, 'UInt64'),
  count(`${name}Idx`, 'UInt32'),
];

/**
 * Partials: a row for each key, hour and origin that one block of hours has values of. The position
 * is that of the first entry. Rows that came late have other partials, by entry.
 */
const hoursTable: TableDefinition = {
  name: 'hours',
  columns: [
    ...place,
    text('key'),
    time('hourAt'),
    count('journal', 'UInt32'),
    count('position', 'UInt64'),
    count('late', 'UInt8'),
    text('workspace'),
    text('flow'),
    count('valueCount', 'UInt64'),
    count('numericCount', 'UInt64'),
    float('numSum'),
    float('numAmounts'),
    float('numMin'),
    float('numMax'),
    ...end('first'),
    ...end('last'),
    count('trueCount', 'UInt64'),
    count('falseCount', 'UInt64'),
    count('occupiedSlots', 'UInt16'),
  ],
  engine: 'MergeTree',
  partitionBy: `intDiv(hourAt, ${partitionMs})`,
  orderBy: ['topic', 'key', 'device', 'hourAt'],
};

/** Up to where hours contain each journal, and when the last of its entries was stored. */
const hourEndsTable: TableDefinition = {
  name: 'hourEnds',
  columns: [count('journal', 'UInt32'), count('upTo', 'UInt64'), time('storedTo')],
  engine: 'ReplacingMergeTree',
  engineArguments: ['upTo'],
  orderBy: ['journal'],
};

/** Of equal rows, merges keep the one with the highest position. */
const shapesTable: TableDefinition = {
  name: 'shapes',
  columns: [...place, text('shape'), count('journal', 'UInt32'), count('position', 'UInt64')],
  engine: 'ReplacingMergeTree',
  engineArguments: ['position'],
  orderBy: ['device', 'topic', 'shape'],
};

/** Data folders that have written, each with the number of its journal. */
const journalsTable: TableDefinition = {
  name: 'journals',
  columns: [count('journal', 'UInt32'), text('folder'), time('createdAt')],
  engine: 'MergeTree',
  orderBy: ['journal', 'folder'],
};

export const sampleTables = {
  samples: samplesTable,
  points: pointsTable,
  hours: hoursTable,
  hourEnds: hourEndsTable,
  shapes: shapesTable,
  journals: journalsTable,
};

/** What the journal keeps until every replica has it. */
export const shippedTables: readonly string[] = [
  samplesTable,
  pointsTable,
  hoursTable,
  shapesTable,
].map(({ name }) => name);

// Sealed rows: samples as ClickHouse returns them, and their place in the order of storing.

/** Columns of `SealedRow`. */
export const sealedColumns = 'device, topic, ts, storedAt, journal, position, idx, data, meta';

/** The place of a row in the order of time and of storing, of all journals. */
export interface PlacedRow {
  readonly ts: EpochMs;
  readonly storedAt: EpochMs;
  readonly journal: number;
  readonly position: number;
  readonly idx: number;
}

export interface SealedRow extends PlacedRow {
  readonly device: string;
  readonly topic: string;
  readonly data: string;
  readonly meta: string;
}

/** By time, those of one instant in the order of storing. */
export const oldestFirst = 'ts, storedAt, journal, position, idx';
export const newestFirst = 'ts desc, storedAt desc, journal desc, position desc, idx desc';

export function compareRows(a: PlacedRow, b: PlacedRow): number {
  return (
    a.ts - b.ts ||
    a.storedAt - b.storedAt ||
    a.journal - b.journal ||
    a.position - b.position ||
    a.idx - b.idx
  );
}

export function sampleOfSealed({ device, topic, ts, data, meta }: SealedRow): Sample {
  const sample = { deviceId: device, topic, timestamp: ts, data: JSON.parse(data) as JsonObject };
  return meta === '' ? sample : { ...sample, meta: JSON.parse(meta) as JsonObject };
}

// Shape points: the data keys that name a value in objects of a shape, with the place of each value.

/** As they are stored; `opaque` marks a sample whose keys are not stored. */
export const pointKinds = { number: 0, boolean: 1, text: 2, other: 3, opaque: 4 } as const;

export interface ShapePoint {
  /** The data key as JSON. */
  readonly key: string;
  readonly kind: number;
  /** Place among the values of a row; -1 for a value that no accumulator reads. */
  readonly leaf: number;
}

/** Marks a sample with objects that are too deep or too wide: only its data shows its keys. */
const opaquePoint: ShapePoint = { key: '', kind: pointKinds.opaque, leaf: -1 };

const kindOfLeaf: Partial<Record<LeafKind, number>> = {
  [leafKinds.number]: pointKinds.number,
  [leafKinds.boolean]: pointKinds.boolean,
  [leafKinds.string]: pointKinds.text,
};

const known = new WeakMap<DataShape, readonly ShapePoint[]>();

export function pointsOfShape(shape: DataShape): readonly ShapePoint[] {
  const found = known.get(shape);
  if (found !== undefined) return found;
  const points = shape.opaque || typeof shape.root === 'number' ? rootPoints(shape) : listed(shape);
  known.set(shape, points);
  return points;
}

/** A whole object as one value: nothing, or too much. */
function rootPoints({ opaque }: DataShape): readonly ShapePoint[] {
  return opaque ? [opaquePoint] : [];
}

/**
 * Keys of leaves and of objects; `pathOf` says which value a key names where several could be meant.
 * Elements of arrays are not listed.
 */
function listed(shape: DataShape): readonly ShapePoint[] {
  const leaves = new Map(
    shape.leaves.map(({ path, kind }, leaf) => [nameOf(path), { kind, leaf }]),
  );
  const paths = [...shape.leaves.map(({ path }) => path), ...shape.empties];
  const keys = new Set<string>();
  for (const path of paths)
    for (let depth = 1; depth <= path.length; depth++) keys.add(path.slice(0, depth).join('.'));
  const points: ShapePoint[] = [];
  for (const key of keys) {
    const path = shape.pathOf(key);
    if (path === undefined || shape.isNull(path)) continue;
    const leaf = leaves.get(nameOf(path));
    const kind = (leaf && kindOfLeaf[leaf.kind]) ?? pointKinds.other;
    const place = kind === pointKinds.other ? -1 : (leaf?.leaf ?? -1);
    points.push({ key: JSON.stringify(key), kind, leaf: place });
  }
  return points;
}

function nameOf(path: readonly string[]): string {
  return JSON.stringify(path);
}
