// Parquet part: row groups of value rows for a place in the file, and the footer of all, which hyparquet-writer writes.
import { deserialize, serialize } from 'node:v8';
import { ByteWriter as FooterWriter, ParquetWriter } from 'hyparquet-writer';
import { ByteWriter } from '../../structures/bytes.ts';
import {
  booleanValues,
  type ColumnPages,
  doubleValues,
  repeatedTexts,
  textValues,
  timeValues,
  writeColumn,
} from './column-pages.ts';
import type { PartColumns } from './part-columns.ts';
import { addPart, rowKinds, type ValueColumns } from './value-columns.ts';

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
  /** Samples that it has. */
  readonly samples: number;
}

/** Encodes samples as row groups for the place `offset` of the file. */
export function parquetPart(part: PartColumns, offset: number): ParquetPart {
  const bytes = new ByteWriter(1024 * 1024);
  const groups: RowGroups = [];
  const samples = addPart(part, groupRowsMax, (rows) => {
    const start = bytes.length;
    const pages = pagesOf(rows);
    const written = columns.map((name) =>
      writeColumn({ bytes, offset }, { name, type: columnTypes[name].type }, pages[name]()),
    );
    const plain = written.map(({ meta_data: data }) => data?.total_uncompressed_size ?? 0n);
    groups.push({
      columns: written,
      num_rows: BigInt(rows.length),
      total_byte_size: plain.reduce((sum, one) => sum + one, 0n),
      total_compressed_size: BigInt(bytes.length - start),
    });
  });
  return { bytes: new Uint8Array(bytes.written()), footer: serialize(groups), samples };
}

/** One column at a time: their pages share memory. */
function pagesOf(rows: ValueColumns): Readonly<Record<Column, () => ColumnPages>> {
  const { length, kinds } = rows;
  const of = (...wanted: readonly number[]) => ({ kinds: kinds.values, wanted });
  const located = of(rowKinds.location, rowKinds.place);
  return {
    time: () => timeValues(rows.times),
    device_id: () => repeatedTexts(rows.deviceIds, length),
    device_name: () => repeatedTexts(rows.deviceNames, length),
    topic: () => repeatedTexts(rows.topics, length),
    key: () => textValues(rows.keys, rows.keyTexts.texts, length),
    number: () => doubleValues(rows.numbers, length, of(rowKinds.number)),
    text: () => textValues(rows.texts, rows.textTexts.texts, length, of(rowKinds.text)),
    boolean: () => booleanValues(rows.booleans, length, of(rowKinds.boolean)),
    json: () => textValues(rows.jsons, rows.jsonTexts.texts, length, of(rowKinds.json)),
    latitude: () => doubleValues(rows.latitudes, length, located),
    longitude: () => doubleValues(rows.longitudes, length, located),
    altitude: () => doubleValues(rows.altitudes, length, of(rowKinds.place)),
  };
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
  const writer = new FooterWriter();
  const parquet = new ParquetWriter({ writer, schema, createdBy: 'heliograph' });
  // The constructor writes the head, which the file has already.
  writer.index = 0;
  writer.offset = offset;
  return parquet;
}

function bytesOf({ writer }: ParquetWriter): Uint8Array<ArrayBuffer> {
  return new Uint8Array(writer.getBuffer());
}
