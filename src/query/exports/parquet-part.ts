// Parquet part: row groups of value rows for a place in the file, and the footer of all.
// hyparquet-writer writes a file from its start; a part begins its byte count in the middle of one.
import { deserialize, serialize } from 'node:v8';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { SampleLine } from './sample-lines.ts';
import { valueRows } from './value-rows.ts';

type Schema = ConstructorParameters<typeof ParquetWriter>[0]['schema'];
type RowGroups = ParquetWriter['row_groups'];

// Both annotations: readers of today read the logical type, and without it some take a time for one of their zone.
const text = {
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
} as const;
const time = {
  type: 'INT64',
  converted_type: 'TIMESTAMP_MILLIS',
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
} as const;

const columnTypes = {
  time: { ...time, repetition_type: 'REQUIRED' },
  device_id: { ...text, repetition_type: 'REQUIRED' },
  device_name: { ...text, repetition_type: 'REQUIRED' },
  topic: { ...text, repetition_type: 'REQUIRED' },
  key: { ...text, repetition_type: 'REQUIRED' },
  number: { type: 'DOUBLE', repetition_type: 'OPTIONAL' },
  text: { ...text, repetition_type: 'OPTIONAL' },
  boolean: { type: 'BOOLEAN', repetition_type: 'OPTIONAL' },
  json: { ...text, repetition_type: 'OPTIONAL' },
  latitude: { type: 'DOUBLE', repetition_type: 'OPTIONAL' },
  longitude: { type: 'DOUBLE', repetition_type: 'OPTIONAL' },
  altitude: { type: 'DOUBLE', repetition_type: 'OPTIONAL' },
} as const satisfies Readonly<Record<string, Omit<Schema[number], 'name'>>>;

type Column = keyof typeof columnTypes;
const columns = Object.keys(columnTypes) as readonly Column[];

const schema: Schema = [
  { name: 'samples', num_children: columns.length },
  ...columns.map((name) => ({ name, ...columnTypes[name] })),
];

/** The bytes at the start of a Parquet file. */
export const parquetHead: Uint8Array = Buffer.from('PAR1');

/** Rows of one row group. */
const groupRowsMax = 100_000;

export interface ParquetPart {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** What the footer must say of the part; see `parquetTail`. */
  readonly footer: Uint8Array;
}

/** Encodes lines of `sampleLine` as row groups for the place `offset` of the file. */
export function parquetPart(lines: string, offset: number): ParquetPart {
  const writer = writerAt(offset);
  const columnData = columnsOf(lines);
  void writer.write({ columnData, rowGroupSize: groupRowsMax });
  return { bytes: bytesOf(writer), footer: serialize(writer.row_groups) };
}

/** What follows the last part: the footer of all parts, for the place `offset` of the file. */
export function parquetTail(
  footers: readonly Uint8Array[],
  offset: number,
): Uint8Array<ArrayBuffer> {
  const writer = writerAt(offset);
  for (const footer of footers) {
    const groups = deserialize(footer) as RowGroups;
    writer.row_groups.push(...groups);
    for (const { num_rows } of groups) writer.num_rows += num_rows;
  }
  void writer.finish();
  const bytes = bytesOf(writer);
  return writer.row_groups.length === 0 ? withTypedList(bytes) : bytes;
}

/**
 * The writer gives an empty list elements of type 0, which strict readers refuse. In a file without
 * rows that is the list of row groups, the field after a row count of 0.
 */
function withTypedList(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const list = Buffer.from(bytes.buffer).indexOf(noRowsAndGroups);
  if (list < 0) throw new Error('The footer of a Parquet file without rows is unknown');
  bytes[list + noRowsAndGroups.length - 1] = emptyListOfStructs;
  return bytes;
}

/** Field of type i64 with 0, field of type list without elements, in the compact protocol of Thrift. */
const noRowsAndGroups = Buffer.from([0x16, 0, 0x19, 0]);
const emptyListOfStructs = 0x0c;

function writerAt(offset: number): ParquetWriter {
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({ writer, schema, createdBy: 'heliograph' });
  // The constructor writes the head, which the file has already.
  writer.index = 0;
  writer.offset = offset;
  return parquet;
}

function bytesOf({ writer }: ParquetWriter): Uint8Array<ArrayBuffer> {
  return new Uint8Array(writer.getBuffer());
}

function columnsOf(lines: string) {
  const data: Record<Column, unknown[]> = {
    time: [],
    device_id: [],
    device_name: [],
    topic: [],
    key: [],
    number: [],
    text: [],
    boolean: [],
    json: [],
    latitude: [],
    longitude: [],
    altitude: [],
  };
  for (const line of lines.split('\n')) {
    if (line === '') continue;
    const sample = JSON.parse(line) as SampleLine;
    const time = BigInt(Date.parse(sample.timestamp));
    for (const row of valueRows(sample.data)) {
      data.time.push(time);
      data.device_id.push(sample.deviceId);
      data.device_name.push(sample.deviceName);
      data.topic.push(sample.topic);
      for (const name of valueColumns) data[name].push(row[name]);
    }
  }
  // An index of pages follows the last part, and would have to outlive a restart.
  return columns.map((name) => ({ name, data: data[name], offsetIndex: false }));
}

const valueColumns = [
  ...(['key', 'number', 'text', 'boolean', 'json'] as const),
  ...(['latitude', 'longitude', 'altitude'] as const),
] as const;
