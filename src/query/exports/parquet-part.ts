// Parquet part: row groups of value rows for a place in the file, and the footer of all, which hyparquet-writer writes.
import { deserialize, serialize } from 'node:v8';
import { randomInt } from 'node:crypto';
import { constants, zstdCompressSync } from 'node:zlib';
import { ByteWriter as FooterWriter, ParquetWriter } from 'hyparquet-writer';
import { ByteWriter } from '../../structures/bytes.ts';
import type { PartColumns } from './part-columns.ts';
import { addPart, type RepeatedTexts, rowKinds, type ValueColumns } from './value-columns.ts';
import { missing } from '../../structures/missing.ts';

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

// Column pages: columns of a row group as pages of Parquet, in the encodings that fit them, packed by zstd.

type RowGroup = ParquetWriter['row_groups'][number];
type ColumnChunk = RowGroup['columns'][number];
type ColumnData = NonNullable<ColumnChunk['meta_data']>;

/** Ids of the format. */
const encodings = { PLAIN: 0, RLE: 3, DELTA_BINARY_PACKED: 5, RLE_DICTIONARY: 8 } as const;
type Encoding = keyof typeof encodings;
const pageTypes = { data: 0, dictionary: 2 } as const;

/** Fastest: a part is read, encoded and written in little more time than it is packed. */
const level = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** A column of fewer bytes is not worth the call. */
const packedBytesMin = 256;

/** A column without its name and type. */
interface ColumnPages {
  /** Rows, and those that have a value. */
  readonly rows: number;
  readonly present: number;
  readonly dictionary?: { readonly count: number; readonly bytes: Uint8Array };
  readonly encoding: Encoding;
  /** Levels and values. */
  readonly bytes: Uint8Array;
  readonly bounds:
    | {
        readonly min_value: bigint | number | Uint8Array;
        readonly max_value: bigint | number | Uint8Array;
      }
    | undefined;
}

/** Writes the pages of a column and returns its entry in the footer. */
function writeColumn(
  { bytes: target, offset }: { readonly bytes: ByteWriter; readonly offset: number },
  { name, type }: { readonly name: string; readonly type: ColumnData['type'] },
  { rows, present, dictionary, encoding, bytes, bounds }: ColumnPages,
): ColumnChunk {
  const start = target.length;
  const plainBytes = bytes.length + (dictionary?.bytes.length ?? 0);
  const codec = plainBytes < packedBytesMin ? 'UNCOMPRESSED' : 'ZSTD';
  let uncompressed = 0;
  function writePage(pageType: number, plain: Uint8Array, count: number, of: Encoding): void {
    const packed = codec === 'ZSTD' ? zstdCompressSync(plain, level) : plain;
    const headerAt = target.length;
    writeHeader(target, pageType, [plain.length, packed.length], [count, encodings[of]]);
    uncompressed += target.length - headerAt + plain.length;
    target.bytes(packed);
  }
  if (dictionary !== undefined)
    writePage(pageTypes.dictionary, dictionary.bytes, dictionary.count, 'PLAIN');
  const dataAt = target.length;
  writePage(pageTypes.data, bytes, rows, encoding);
  const at = (place: number) => BigInt(offset + place);
  const pages = [
    ...(dictionary === undefined
      ? []
      : [{ page_type: 'DICTIONARY_PAGE', encoding: 'PLAIN', count: 1 } as const]),
    { page_type: 'DATA_PAGE', encoding, count: 1 } as const,
  ];
  return {
    file_offset: at(start),
    meta_data: {
      type,
      encodings: [...new Set(['RLE' as const, ...pages.map((page) => page.encoding)])],
      path_in_schema: [name],
      codec,
      num_values: BigInt(rows),
      total_uncompressed_size: BigInt(uncompressed),
      total_compressed_size: BigInt(target.length - start),
      data_page_offset: at(dataAt),
      ...(dictionary !== undefined && { dictionary_page_offset: at(start) }),
      statistics: {
        null_count: BigInt(rows - present),
        ...bounds,
      },
      encoding_stats: pages,
    },
  };
}

// Page header, in the compact protocol of Thrift: the first byte of a field is the distance from the field before and its type.

const structField = 0x0c;

function writeHeader(
  to: ByteWriter,
  type: number,
  [plain, packed]: readonly [number, number],
  [count, encoding]: readonly [number, number],
): void {
  for (const value of [type, plain, packed]) writeInt(to, value);
  // Field 5 of a data page, field 7 of a dictionary.
  to.byte(((type === pageTypes.data ? 2 : 4) << 4) | structField);
  writeInt(to, count);
  writeInt(to, encoding);
  // Encodings of both levels.
  if (type === pageTypes.data) for (let i = 0; i < 2; i++) writeInt(to, encodings.RLE);
  to.byte(0);
  to.byte(0);
}

/** The next field. */
function writeInt(to: ByteWriter, value: number): void {
  to.byte(0x15);
  to.varint(2 * value);
}

// Levels and values. Numbers are little-endian, as in the memory of every processor that Node supports.

/** Used again for each column. */
const page = new ByteWriter(64 * 1024);
const dictionaryPage = new ByteWriter(64 * 1024);

/** Which rows have a value: those of these kinds. */
interface Presence {
  readonly kinds: Uint8Array;
  readonly wanted: readonly number[];
}

/** Begins the page of a column of which some rows may have no value. */
function beginPage(rows: number, present: number, { kinds, wanted }: Presence): void {
  page.length = 0;
  const levels = new ByteWriter((rows >> 3) + 16);
  if (present === 0 || present === rows) writeRun(levels, Number(present > 0), rows, 1);
  else {
    const isPresent = Uint8Array.from({ length: 8 }, (_, kind) => Number(wanted.includes(kind)));
    const bits = new Uint8Array(rows);
    for (let row = 0; row < rows; row++) bits[row] = isPresent[kinds[row]!]!;
    writePacked(levels, bits, rows, 1);
  }
  page.word(levels.length);
  page.bytes(levels.written());
}

/** Texts of rows that follow each other. */
function repeatedTexts({ runs, dictionary }: RepeatedTexts, rows: number): ColumnPages {
  page.length = 0;
  const width = bitsOf(dictionary.texts.length - 1);
  page.byte(width);
  for (const run of runs) writeRun(page, run.id, run.rows, width);
  return {
    rows,
    present: rows,
    ...textDictionary(dictionary.texts),
    encoding: 'RLE_DICTIONARY',
    bytes: page.written(),
  };
}

interface List<T> {
  readonly values: T;
  readonly length: number;
}

/** Texts by their ids; of all rows without `presence`. */
function textValues(
  ids: List<Uint32Array>,
  texts: readonly string[],
  rows: number,
  presence?: Presence,
): ColumnPages {
  const present = ids.length;
  if (presence === undefined) page.length = 0;
  else beginPage(rows, present, presence);
  const { dictionary, bounds } = textDictionary(texts);
  const column = { rows, present, bounds };
  // A dictionary of texts that are there once only takes more.
  if (2 * texts.length > present) {
    for (let i = 0; i < present; i++) writeText(page, texts[ids.values[i]!] ?? missing('text'));
    return { ...column, encoding: 'PLAIN', bytes: page.written() };
  }
  writeIds(ids.values, present, texts.length);
  return { ...column, dictionary, encoding: 'RLE_DICTIONARY', bytes: page.written() };
}

/** Bounds longer than the footer takes of them need not be complete. */
const boundBytes = 32;

function textDictionary(texts: readonly string[]) {
  dictionaryPage.length = 0;
  let [least, greatest]: (Buffer | undefined)[] = [];
  for (const text of texts) {
    const from = dictionaryPage.length + 4;
    writeText(dictionaryPage, text);
    const bytes = dictionaryPage.written(from);
    // The memory may be replaced when it is full.
    if (least === undefined || bytes.compare(least) < 0) least = Buffer.from(bytes);
    if (greatest === undefined || bytes.compare(greatest) > 0) greatest = Buffer.from(bytes);
  }
  const dictionary = { count: texts.length, bytes: dictionaryPage.written() };
  if (least === undefined || greatest === undefined) return { dictionary, bounds: undefined };
  const bounds = { min_value: boundOf(least), max_value: boundOf(greatest) };
  return { dictionary, bounds };
}

function boundOf(bytes: Buffer): Uint8Array {
  return new Uint8Array(bytes.subarray(0, boundBytes));
}

function writeText(to: ByteWriter, text: string): void {
  const bytes = Buffer.from(text);
  to.word(bytes.length);
  to.bytes(bytes);
}

function doubleValues(
  { values, length: present }: List<Float64Array>,
  rows: number,
  presence: Presence,
): ColumnPages {
  beginPage(rows, present, presence);
  let least = Number.POSITIVE_INFINITY;
  let greatest = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < present; i++) {
    const value = values[i]!;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  // Zero has two signs, and the bounds include both.
  const bounds =
    present === 0
      ? undefined
      : { min_value: least === 0 ? -0 : least, max_value: greatest === 0 ? 0 : greatest };
  const dictionary = doubleDictionary(values, present);
  if (dictionary === undefined) {
    page.bytes(pageBytesOf(values, present));
    return { rows, present, bounds, encoding: 'PLAIN', bytes: page.written() };
  }
  const { ids, count, bytes } = dictionary;
  writeIds(ids, present, count);
  return {
    rows,
    present,
    bounds,
    dictionary: { count, bytes },
    encoding: 'RLE_DICTIONARY',
    bytes: page.written(),
  };
}

/** Measured values have few digits, so that most come again: a dictionary has at most this share. */
const distinctMax = 1 / 3;

/** Random and odd, so that no device can send many values of one hash. */
const lowFactor = randomInt(2 ** 31) * 2 + 1;
const highFactor = randomInt(2 ** 31) * 2 + 1;
const mixFactor = randomInt(2 ** 31) * 2 + 1;

function doubleDictionary(values: Float64Array, length: number) {
  const countMax = Math.floor(length * distinctMax);
  if (countMax < 1) return undefined;
  const mask = 2 ** bitsOf(2 * countMax) - 1;
  /** Ids by hash, one more than they are. */
  const table = new Uint32Array(mask + 1);
  const ids = new Uint32Array(length);
  const found = new Float64Array(countMax);
  const halves = new Uint32Array(values.buffer, values.byteOffset, 2 * length);
  const foundHalves = new Uint32Array(found.buffer);
  let count = 0;
  for (let i = 0; i < length; i++) {
    const low = halves[2 * i]!;
    const high = halves[2 * i + 1]!;
    let hash = Math.imul(low, lowFactor) ^ Math.imul(high, highFactor);
    hash = Math.imul(hash ^ (hash >>> 15), mixFactor);
    let at = (hash ^ (hash >>> 13)) & mask;
    let id = table[at]!;
    while (id !== 0 && (foundHalves[2 * id - 2] !== low || foundHalves[2 * id - 1] !== high)) {
      at = (at + 1) & mask;
      id = table[at]!;
    }
    if (id === 0) {
      if (count === countMax) return undefined;
      found[count++] = values[i]!;
      id = count;
      table[at] = id;
    }
    ids[i] = id - 1;
  }
  return { ids, count, bytes: pageBytesOf(found, count) };
}

function booleanValues(
  { values, length: present }: List<Uint8Array>,
  rows: number,
  presence: Presence,
): ColumnPages {
  beginPage(rows, present, presence);
  writeBits(page, values, present, 1);
  return { rows, present, bounds: undefined, encoding: 'PLAIN', bytes: page.written() };
}

/** Times of all rows, in milliseconds. */
function timeValues({ values, length: rows }: List<Float64Array>): ColumnPages {
  let least = Number.POSITIVE_INFINITY;
  let greatest = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < rows; i++) {
    const value = values[i]!;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  page.length = 0;
  const isExact = Math.max(-least, greatest) <= exactMax;
  if (isExact) writeDeltas(page, values, rows);
  else page.bytes(new Uint8Array(BigInt64Array.from(values.subarray(0, rows), BigInt).buffer));
  return {
    rows,
    present: rows,
    bounds: { min_value: BigInt(least), max_value: BigInt(greatest) },
    encoding: isExact ? 'DELTA_BINARY_PACKED' : 'PLAIN',
    bytes: page.written(),
  };
}

/** The difference of two differences of such times is exact. */
const exactMax = 2 ** 51;
const deltasPerBlock = 128;
const blockParts = 4;
const deltasPerPart = deltasPerBlock / blockParts;

/** Whole numbers whose differences are exact. */
function writeDeltas(to: ByteWriter, values: Float64Array, length: number): void {
  to.varint(deltasPerBlock);
  to.varint(blockParts);
  to.varint(length);
  to.zigzag(values[0]!);
  const deltas = new Float64Array(deltasPerBlock);
  for (let from = 1; from < length; from += deltasPerBlock) {
    const count = Math.min(deltasPerBlock, length - from);
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < count; i++) {
      const delta = values[from + i]! - values[from + i - 1]!;
      deltas[i] = delta;
      if (delta < least) least = delta;
    }
    for (let i = 0; i < deltasPerBlock; i++) deltas[i] = i < count ? deltas[i]! - least : 0;
    to.zigzag(least);
    const widthsAt = to.length;
    to.word(0);
    for (let part = 0; part * deltasPerPart < count; part++) {
      const of = deltas.subarray(part * deltasPerPart, (part + 1) * deltasPerPart);
      const width = bitsOf(of.reduce((greatest, delta) => Math.max(greatest, delta), 0));
      to.buffer[widthsAt + part] = width;
      writeBits(to, of, deltasPerPart, width);
    }
  }
}

// Runs and packed bits, as levels and ids of dictionaries are written.

function writeIds(ids: Uint32Array, length: number, dictionary: number): void {
  const width = bitsOf(dictionary - 1);
  page.byte(width);
  writePacked(page, ids, length, width);
}

/** The bits of a value, at least one: some readers expect it. */
function bitsOf(value: number): number {
  if (value >= 2 ** 32) return 64 - Math.clz32(value / 2 ** 32);
  return Math.max(1, 32 - Math.clz32(value));
}

function writeRun(to: ByteWriter, value: number, count: number, width: number): void {
  to.varint(2 * count);
  for (let bits = 0; bits < width; bits += 8) to.byte((value >>> bits) & 0xff);
}

/** In groups of eight values. */
function writePacked(
  to: ByteWriter,
  values: Uint32Array | Uint8Array,
  length: number,
  width: number,
): void {
  const groups = Math.ceil(length / 8);
  to.varint(2 * groups + 1);
  const end = to.length + groups * width;
  writeBits(to, values, length, width);
  while (to.length < end) to.byte(0);
}

/** Of wider values the lower bits come first. */
const bitsAtOnce = 24;

/** The lowest `width` bits of each value, and zeros up to a whole byte. */
function writeBits(
  to: ByteWriter,
  values: Uint32Array | Uint8Array | Float64Array,
  length: number,
  width: number,
): void {
  const bytes = new Uint8Array(Math.ceil((length * width) / 8));
  let at = 0;
  let held = 0;
  let bits = 0;
  for (let i = 0; i < length; i++) {
    let value = values[i]!;
    for (let left = width; left > 0; left -= bitsAtOnce) {
      const some = left > bitsAtOnce ? value % 2 ** bitsAtOnce : value;
      held |= some << bits;
      bits += Math.min(left, bitsAtOnce);
      for (; bits >= 8; bits -= 8) {
        bytes[at++] = held;
        held >>>= 8;
      }
      if (left > bitsAtOnce) value = (value - some) / 2 ** bitsAtOnce;
    }
  }
  if (bits > 0) bytes[at] = held;
  to.bytes(bytes);
}

function pageBytesOf(values: Float64Array, length: number): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, 8 * length);
}
