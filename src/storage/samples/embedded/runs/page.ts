// Page of a run: its format, and a reader that checks each section once and reads one slice without decoding the others.
import { crc32 } from 'node:zlib';
import { DamagedChunk } from '../chunks/chunk.ts';
import { type LeafKind, leafKinds } from '../../../log/data-shape.ts';
import { type PackingPlan, planPacking } from '../chunks/column-encoding.ts';

/** The content of a section. Throws DamagedChunk when its checksum does not match. */
export function checkedSection(section: Uint8Array, name: string): Uint8Array {
  const length = section.length - sectionTailBytes;
  if (length < 0) throw new DamagedChunk(`${name} is too short`);
  const content = section.subarray(0, length);
  const view = new DataView(section.buffer, section.byteOffset + length, 4);
  if (crc32(content) !== view.getUint32(0, true)) throw new DamagedChunk(`${name} is damaged`);
  return content;
}

/** The slices of a page, in the order of device and time. */
export class PageSlices {
  readonly count: number;
  readonly devices: Uint32Array;
  /** First row of each slice, and behind the last one the number of rows. */
  readonly starts: Uint32Array;
  /** Time of the first row, and from there to the last. */
  readonly firsts: Float64Array;
  readonly spans: Float64Array;

  constructor(content: Uint8Array) {
    const devices = new PackedBlock(content, 0);
    const lengths = new PackedBlock(content, devices.end);
    const firsts = new PackedBlock(content, lengths.end);
    const spans = new PackedBlock(content, firsts.end);
    this.count = devices.length;
    this.devices = Uint32Array.from(allOf(devices));
    this.starts = new Uint32Array(this.count + 1);
    const length = allOf(lengths);
    for (let i = 0; i < this.count; i++) this.starts[i + 1] = this.starts[i]! + length[i]!;
    this.firsts = allOf(firsts);
    this.spans = allOf(spans);
  }

  /** Copies the times of a slice into `target`; returns their number. */
  readTimes(times: PackedBlock, slice: number, target: Float64Array): number {
    target[0] = this.firsts[slice]!;
    return addDifferences(times, this, slice, target);
  }
}

function allOf(block: PackedBlock): Float64Array {
  const values = new Float64Array(block.length);
  block.read(0, block.length, values, 0);
  return values;
}

/** A column of whole or scaled numbers. */
export class IntColumn {
  readonly block: PackedBlock;
  /** Differences within slices; then `block` has the first value of each. */
  readonly differences: PackedBlock | undefined;
  /** What the values were multiplied with. */
  readonly power: number;

  constructor(content: Uint8Array) {
    const block = new PackedBlock(content, 0);
    this.block = block;
    this.power = powersOfTen[block.tag & digitsMask]!;
    const isSliced = (block.tag & slicedTag) !== 0;
    this.differences = isSliced ? new PackedBlock(content, block.end) : undefined;
  }

  /** Whether the multiplied values are whole numbers. */
  get isWhole(): boolean {
    return !this.block.hasDoubles;
  }

  /** Copies the values of a slice, not divided by `power`, into `target`; returns their number. */
  readScaled(slices: PageSlices, slice: number, target: Float64Array): number {
    if (this.differences !== undefined) {
      target[0] = this.block.at(slice);
      return addDifferences(this.differences, slices, slice, target);
    }
    const row = slices.starts[slice]!;
    const length = slices.starts[slice + 1]! - row;
    this.block.read(row, length, target, 0);
    return length;
  }
}

/** Adds the differences of a slice to its first value, which is in `target`; returns the number of values. */
function addDifferences(
  differences: PackedBlock,
  slices: PageSlices,
  slice: number,
  target: Float64Array,
): number {
  const row = slices.starts[slice]!;
  const length = slices.starts[slice + 1]! - row;
  differences.read(row - slice, length - 1, target, 1);
  let value = target[0]!;
  for (let i = 1; i < length; i++) {
    value += target[i]!;
    target[i] = value;
  }
  return length;
}

/** A column of texts: indices into the dictionary of the page. */
export class TextColumn {
  readonly ids: PackedBlock;
  readonly texts: readonly string[];

  constructor(content: Uint8Array) {
    this.ids = new PackedBlock(content, 0);
    const at = (this.ids.end + 3) & ~3;
    const length = new DataView(content.buffer, content.byteOffset + at, 4).getUint32(0, true);
    const bytes = content.subarray(at + 4, at + 4 + length);
    this.texts = JSON.parse(Buffer.from(bytes).toString()) as string[];
  }
}

/** Statistics of a numeric column, one value for each slice. */
export class SliceStatistics {
  readonly sums: Float64Array;
  readonly mins: Float64Array;
  readonly maxs: Float64Array;

  constructor(content: Uint8Array, kind: ColumnKind, { starts }: PageSlices) {
    const packed = new PackedBlock(content, 0);
    const power = powersOfTen[packed.tag & digitsMask]!;
    const sums = allOf(packed);
    this.sums = sums;
    if (kind === 'boolean') {
      this.mins = sums.map((sum, slice) => Number(sum === starts[slice + 1]! - starts[slice]!));
      this.maxs = sums.map((sum) => Number(sum > 0));
      return;
    }
    const packedMins = new PackedBlock(content, packed.end);
    const mins = allOf(packedMins);
    const maxs = allOf(new PackedBlock(content, packedMins.end));
    for (let slice = 0; slice < sums.length; slice++) {
      sums[slice] = sums[slice]! / power;
      maxs[slice] = (mins[slice]! + maxs[slice]!) / power;
      mins[slice] = mins[slice]! / power;
    }
    this.mins = mins;
    this.maxs = maxs;
  }
}

// Page format: the sections of a page of a run, and what its rows are made of.

/** Rows of a page at most; a page has whole slices. */
export const pageRowsMax = 4_096;

/** Sections of every page; those of the columns follow, then one of statistics for each column. */
export const pageSections = { slices: 0, times: 1, orders: 2, origins: 3, metas: 4 } as const;
export const fixedPageSections = 5;

/** Bytes behind the content of each section: its CRC32 and four bytes of zero. */
export const sectionTailBytes = 8;

/** How the values of a leaf are stored in a run. */
export type ColumnKind = 'number' | 'boolean' | 'text';

export function columnKindOf(kind: LeafKind): ColumnKind {
  if (kind === leafKinds.number) return 'number';
  return kind === leafKinds.boolean ? 'boolean' : 'text';
}

/** Sections of a page of a run with that many columns. */
export function sectionsOf(columns: number): number {
  return fixedPageSections + 2 * columns;
}

/** What the index of a run says about a page. */
export interface PageEntry {
  readonly rows: number;
  /** Device numbers of the first and the last slice. */
  readonly firstDevice: number;
  readonly lastDevice: number;
  /** Times of the oldest and the newest row. */
  readonly oldest: number;
  readonly newest: number;
  /** For each section the offset in the page behind its last byte. A section without bytes is absent. */
  readonly ends: readonly number[];
}

/** Set in the tag of a column's first block: it has the first value of each slice, a second block the differences within slices. */
export const slicedTag = 64;
/** Decimal places of the values of a column, in the other bits of the tag. */
const digitsMask = 63;
export const digitsMax = 9;
/** Scaled values stay below, so that their differences and sums over a slice are exact. */
export const scaledMax = 2 ** 40;
export const powersOfTen: readonly number[] = Array.from(
  { length: digitsMax + 1 },
  (_, i) => 10 ** i,
);
/** Statistics are kept on pages with at least this many rows per slice: on shorter slices they cost more than the rows. */
export const rowsForStatistics = 16;

// Packed block: integers of a fixed number of bits in aligned bytes, each readable without decoding the others.

// Aligned buffer: a growing byte buffer whose parts begin at multiples of a power of two.

const firstBytes = 1 << 16;

/** Bytes that are appended to; one is used again for every page. */
export class AlignedBuffer {
  length = 0;
  #bytes = new Uint8Array(firstBytes);
  #view = new DataView(this.#bytes.buffer);

  /** Valid until the next call that appends. */
  get view(): DataView {
    return this.#view;
  }

  /** The bytes so far; valid until the next call that appends. */
  bytes(from = 0): Uint8Array {
    return this.#bytes.subarray(from, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  /** Appends zeros until the length is a multiple of `alignment`. */
  align(alignment: number): void {
    const missing = -this.length & (alignment - 1);
    const at = this.reserve(missing);
    this.#bytes.fill(0, at, at + missing);
  }

  /** Makes room for `count` bytes whose content the caller sets; returns the offset of the first. */
  reserve(count: number): number {
    const at = this.length;
    this.length += count;
    if (this.length > this.#bytes.length) this.#grow();
    return at;
  }

  append(bytes: Uint8Array): void {
    const at = this.reserve(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** Appends a block of doubles as they are. `tag` is a byte of the caller. */
  writeDoubles(values: Float64Array, length: number, tag: number): void {
    writeHead(this, { mode: modes.doubles, width: 64, tag, length, base: 0, exceptions: 0 });
    const at = this.reserve(length * 8);
    for (let i = 0; i < length; i++) this.#view.setFloat64(at + i * 8, values[i]!, true);
  }

  /**
   * Appends a block of whole numbers of at most 53 bits as offsets from a base; the few that need
   * more bits than the others are listed behind them. `tag` is a byte of the caller.
   */
  writePacked(
    values: Float64Array,
    length: number,
    options: { readonly tag?: number; readonly plan?: PackingPlan } = {},
  ): void {
    const { tag = 0, plan = planPacking(values, length) } = options;
    const { base, width, exceptions } = plan;
    if (width > packedBitsMax) {
      this.writeDoubles(values, length, tag);
      return;
    }
    writeHead(this, { mode: modes.packed, width, tag, length, base, exceptions });
    const top = base + 2 ** width - 1;
    this.append(packBits(values, length, { base, width, exceptions }));
    if (exceptions === 0) return;
    const places: number[] = [];
    for (let i = 0; i < length; i++) if (values[i]! < base || values[i]! > top) places.push(i);
    this.append(new Uint8Array(Uint32Array.from(places).buffer));
    this.align(alignment);
    this.append(new Uint8Array(Float64Array.from(places, (place) => values[place]!).buffer));
  }

  #grow(): void {
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.length));
    larger.set(this.#bytes);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

/** Bytes of the head: mode, width, tag, a byte of zero, the length, the base, the number of exceptions, four bytes of zero. */
const headBytes = 24;
const modes = { packed: 0, doubles: 1 } as const;
/** Values with more bits than this are written as doubles. */
const packedBitsMax = 32;
const alignment = 8;

const wordsOf = (length: number, width: number): number => Math.ceil((length * width) / 32);

function writeHead(
  out: AlignedBuffer,
  head: {
    readonly mode: number;
    readonly width: number;
    readonly tag: number;
    readonly length: number;
    readonly base: number;
    readonly exceptions: number;
  },
): void {
  out.align(alignment);
  const at = out.reserve(headBytes);
  const { view } = out;
  view.setUint8(at, head.mode);
  view.setUint8(at + 1, head.width);
  view.setUint8(at + 2, head.tag);
  view.setUint8(at + 3, 0);
  view.setUint32(at + 4, head.length, true);
  view.setFloat64(at + 8, head.base, true);
  view.setUint32(at + 16, head.exceptions, true);
  view.setUint32(at + 20, 0, true);
}

/** Used again for every block. */
let words = new Uint32Array(1 << 12);

/** Offsets of the values from the base; exceptions keep the bits of zero. The bytes are valid until the next call. */
function packBits(
  values: Float64Array,
  length: number,
  {
    base,
    width,
    exceptions,
  }: { readonly base: number; readonly width: number; readonly exceptions: number },
): Uint8Array {
  const count = wordsOf(length, width);
  if (count >= words.length) words = new Uint32Array(2 * count);
  const target = words;
  // The last value may reach into a word that is not used.
  target.fill(0, 0, count + 1);
  const top = exceptions === 0 ? Number.POSITIVE_INFINITY : base + 2 ** width - 1;
  for (let i = 0, bit = 0; i < length && width > 0; i++, bit += width) {
    const value = values[i]!;
    if (value < base || value > top) continue;
    const offset = (value - base) >>> 0;
    const word = bit >>> 5;
    const shift = bit & 31;
    target[word] = target[word]! | (offset << shift);
    if (shift + width > 32) target[word + 1] = target[word + 1]! | (offset >>> (32 - shift));
  }
  return new Uint8Array(target.buffer, 0, count * 4);
}

const noWords = new Uint32Array(0);

/** Reads a block in place: the bytes stay where they are and must not change. */
export class PackedBlock {
  readonly length: number;
  readonly tag: number;
  /** Offset of the first byte behind the block. */
  readonly end: number;
  readonly #width: number;
  readonly #base: number;
  readonly #words: Uint32Array = noWords;
  readonly #doubles: Float64Array | undefined;
  readonly #places: Uint32Array = noWords;
  readonly #exceptions: Float64Array | undefined;

  /** `bytes` begin at a multiple of 8 in their buffer; the block begins at the first multiple of 8 from `offset` on. */
  constructor(bytes: Uint8Array, offset: number) {
    const start = aligned(offset);
    const view = new DataView(bytes.buffer, bytes.byteOffset + start, headBytes);
    this.#width = view.getUint8(1);
    this.tag = view.getUint8(2);
    this.length = view.getUint32(4, true);
    this.#base = view.getFloat64(8, true);
    const exceptions = view.getUint32(16, true);
    let at = start + headBytes;
    const { buffer, byteOffset } = bytes;
    if (view.getUint8(0) === modes.doubles) {
      this.#doubles = new Float64Array(buffer, byteOffset + at, this.length);
      this.end = at + this.length * 8;
      return;
    }
    const words = wordsOf(this.length, this.#width);
    this.#words = new Uint32Array(buffer, byteOffset + at, words);
    at += words * 4;
    if (exceptions > 0) {
      this.#places = new Uint32Array(buffer, byteOffset + at, exceptions);
      at = aligned(at + exceptions * 4);
      this.#exceptions = new Float64Array(buffer, byteOffset + at, exceptions);
      at += exceptions * 8;
    }
    this.end = at;
  }

  /** Whether the values may be no whole numbers. */
  get hasDoubles(): boolean {
    return this.#doubles !== undefined;
  }

  at(index: number): number {
    if (this.#doubles !== undefined) return this.#doubles[index]!;
    if (this.#exceptions !== undefined) {
      const place = lowerBound(this.#places, index);
      if (this.#places[place] === index) return this.#exceptions[place]!;
    }
    const width = this.#width;
    if (width === 0) return this.#base;
    const bit = index * width;
    const word = bit >>> 5;
    const shift = bit & 31;
    let offset = this.#words[word]! >>> shift;
    if (shift + width > 32) offset |= this.#words[word + 1]! << (32 - shift);
    return this.#base + ((offset & maskOf(width)) >>> 0);
  }

  /** Copies `length` values from `from` on into `target`, from `targetAt` on. */
  read(from: number, length: number, target: Float64Array, targetAt: number): void {
    if (this.#doubles !== undefined) {
      target.set(this.#doubles.subarray(from, from + length), targetAt);
      return;
    }
    const width = this.#width;
    const base = this.#base;
    if (width === 0) target.fill(base, targetAt, targetAt + length);
    else {
      const words = this.#words;
      const mask = maskOf(width);
      for (let i = 0, bit = from * width; i < length; i++, bit += width) {
        const word = bit >>> 5;
        const shift = bit & 31;
        let offset = words[word]! >>> shift;
        if (shift + width > 32) offset |= words[word + 1]! << (32 - shift);
        target[targetAt + i] = base + ((offset & mask) >>> 0);
      }
    }
    if (this.#exceptions === undefined) return;
    const places = this.#places;
    for (let i = lowerBound(places, from); i < places.length && places[i]! < from + length; i++)
      target[targetAt + places[i]! - from] = this.#exceptions[i]!;
  }
}

function maskOf(width: number): number {
  return width === packedBitsMax ? -1 : (1 << width) - 1;
}

function aligned(offset: number): number {
  return (offset + alignment - 1) & -alignment;
}

/** The first index whose value is not below `value`; the values ascend. */
export function lowerBound(values: ArrayLike<number>, value: number, from = 0): number {
  let low = from;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
