// Column pages: columns of a row group as pages of Parquet, in the encodings that fit them, packed by zstd.
import { randomInt } from 'node:crypto';
import { constants, zstdCompressSync } from 'node:zlib';
import type { ParquetWriter } from 'hyparquet-writer';
import { ByteWriter } from '../../structures/bytes.ts';
import { missing } from '../../structures/missing.ts';
import type { RepeatedTexts } from './value-columns.ts';

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

/** Where column chunks go, and where in the file that is. */
interface PageTarget {
  readonly bytes: ByteWriter;
  readonly offset: number;
}

/** A column without its name and type. */
export interface ColumnPages {
  /** Rows, and those that have a value. */
  readonly rows: number;
  readonly present: number;
  readonly dictionary?: { readonly count: number; readonly bytes: Uint8Array };
  readonly encoding: Encoding;
  /** Levels and values. */
  readonly bytes: Uint8Array;
  readonly bounds: Bounds | undefined;
}

interface Bounds {
  readonly min_value: bigint | number | Uint8Array;
  readonly max_value: bigint | number | Uint8Array;
}

/** Writes the pages of a column and returns its entry in the footer. */
export function writeColumn(
  { bytes: target, offset }: PageTarget,
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
export function repeatedTexts({ runs, dictionary }: RepeatedTexts, rows: number): ColumnPages {
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
export function textValues(
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

export function doubleValues(
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
    page.bytes(bytesOf(values, present));
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
  return { ids, count, bytes: bytesOf(found, count) };
}

export function booleanValues(
  { values, length: present }: List<Uint8Array>,
  rows: number,
  presence: Presence,
): ColumnPages {
  beginPage(rows, present, presence);
  writeBits(page, values, present, 1);
  return { rows, present, bounds: undefined, encoding: 'PLAIN', bytes: page.written() };
}

/** Times of all rows, in milliseconds. */
export function timeValues({ values, length: rows }: List<Float64Array>): ColumnPages {
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

function bytesOf(values: Float64Array, length: number): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, 8 * length);
}
