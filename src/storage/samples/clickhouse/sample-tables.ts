// Sample tables in ClickHouse: samples, their points (one row a key), hours, and the shapes of each device.
import type { TableColumn, TableDefinition } from '../../clickhouse/table.ts';

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
export const samplesTable: TableDefinition = {
  name: 'samples',
  columns: [...place, time('ts'), ...origin, text('data'), text('meta')],
  engine: 'MergeTree',
  partitionBy,
  orderBy: ['device', 'topic', 'ts', 'storedAt', 'journal', 'position', 'idx'],
};

/** `key` is a data key as JSON, empty for a sample whose data has too many. `str` is JSON too. */
export const pointsTable: TableDefinition = {
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
export const hoursTable: TableDefinition = {
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
export const hourEndsTable: TableDefinition = {
  name: 'hourEnds',
  columns: [count('journal', 'UInt32'), count('upTo', 'UInt64'), time('storedTo')],
  engine: 'ReplacingMergeTree',
  engineArguments: ['upTo'],
  orderBy: ['journal'],
};

/** Of equal rows, merges keep the one with the highest position. */
export const shapesTable: TableDefinition = {
  name: 'shapes',
  columns: [...place, text('shape'), count('journal', 'UInt32'), count('position', 'UInt64')],
  engine: 'ReplacingMergeTree',
  engineArguments: ['position'],
  orderBy: ['device', 'topic', 'shape'],
};

/** Data folders that have written, each with the number of its journal. */
export const journalsTable: TableDefinition = {
  name: 'journals',
  columns: [count('journal', 'UInt32'), text('folder'), time('createdAt')],
  engine: 'MergeTree',
  orderBy: ['journal', 'folder'],
};

export const sampleTables = [
  samplesTable,
  pointsTable,
  hoursTable,
  hourEndsTable,
  shapesTable,
  journalsTable,
] as const;

/** What the journal keeps until every replica has it. */
export const shippedTables: readonly string[] = [
  samplesTable,
  pointsTable,
  hoursTable,
  shapesTable,
].map(({ name }) => name);
