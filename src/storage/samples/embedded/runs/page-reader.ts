// Page reader: checks each section of a page once; reads one slice without decoding the others.
import { crc32 } from 'node:zlib';
import { DamagedChunk } from '../chunks/chunk.ts';
import { PackedBlock } from './packed-block.ts';
import {
  type ColumnKind,
  digitsMask,
  powersOfTen,
  sectionTailBytes,
  slicedTag,
} from './page-format.ts';

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
export interface PageSlices {
  readonly count: number;
  readonly devices: Uint32Array;
  /** First row of each slice, and behind the last one the number of rows. */
  readonly starts: Uint32Array;
  /** Time of the first row, and from there to the last. */
  readonly firsts: Float64Array;
  readonly spans: Float64Array;
}

export function readSlices(content: Uint8Array): PageSlices {
  const devices = new PackedBlock(content, 0);
  const lengths = new PackedBlock(content, devices.end);
  const firsts = new PackedBlock(content, lengths.end);
  const spans = new PackedBlock(content, firsts.end);
  const count = devices.length;
  const starts = new Uint32Array(count + 1);
  const length = allOf(lengths);
  for (let i = 0; i < count; i++) starts[i + 1] = starts[i]! + length[i]!;
  return {
    count,
    devices: Uint32Array.from(allOf(devices)),
    starts,
    firsts: allOf(firsts),
    spans: allOf(spans),
  };
}

function allOf(block: PackedBlock): Float64Array {
  const values = new Float64Array(block.length);
  block.read(0, block.length, values, 0);
  return values;
}

/** Copies the times of a slice into `target`; returns their number. */
export function readTimes(
  times: PackedBlock,
  slices: PageSlices,
  slice: number,
  target: Float64Array,
): number {
  target[0] = slices.firsts[slice]!;
  return addDifferences(times, slices, slice, target);
}

/** A column of whole or scaled numbers. */
export interface IntColumn {
  readonly block: PackedBlock;
  /** Differences within slices; then `block` has the first value of each. */
  readonly differences: PackedBlock | undefined;
  /** What the values were multiplied with. */
  readonly power: number;
  /** Whether the multiplied values are whole numbers. */
  readonly isWhole: boolean;
}

export function readIntColumn(content: Uint8Array): IntColumn {
  const block = new PackedBlock(content, 0);
  const power = powersOfTen[block.tag & digitsMask]!;
  const isSliced = (block.tag & slicedTag) !== 0;
  const differences = isSliced ? new PackedBlock(content, block.end) : undefined;
  return { block, differences, power, isWhole: !block.hasDoubles };
}

/** Copies the values of a slice, not divided by `power`, into `target`; returns their number. */
export function readScaled(
  column: IntColumn,
  slices: PageSlices,
  slice: number,
  target: Float64Array,
): number {
  if (column.differences !== undefined) {
    target[0] = column.block.at(slice);
    return addDifferences(column.differences, slices, slice, target);
  }
  const row = slices.starts[slice]!;
  const length = slices.starts[slice + 1]! - row;
  column.block.read(row, length, target, 0);
  return length;
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
export interface TextColumn {
  readonly ids: PackedBlock;
  readonly texts: readonly string[];
}

export function readTextColumn(content: Uint8Array): TextColumn {
  const ids = new PackedBlock(content, 0);
  const at = (ids.end + 3) & ~3;
  const length = new DataView(content.buffer, content.byteOffset + at, 4).getUint32(0, true);
  const bytes = content.subarray(at + 4, at + 4 + length);
  return { ids, texts: JSON.parse(Buffer.from(bytes).toString()) as string[] };
}

/** Statistics of a numeric column, one value for each slice. */
export interface SliceStatistics {
  readonly sums: Float64Array;
  readonly mins: Float64Array;
  readonly maxs: Float64Array;
}

export function readStatistics(
  content: Uint8Array,
  kind: ColumnKind,
  slices: PageSlices,
): SliceStatistics {
  const packed = new PackedBlock(content, 0);
  const power = powersOfTen[packed.tag & digitsMask]!;
  const sums = allOf(packed);
  if (kind === 'boolean') {
    const { starts } = slices;
    return {
      sums,
      mins: sums.map((sum, slice) => Number(sum === starts[slice + 1]! - starts[slice]!)),
      maxs: sums.map((sum) => Number(sum > 0)),
    };
  }
  const packedMins = new PackedBlock(content, packed.end);
  const mins = allOf(packedMins);
  const maxs = allOf(new PackedBlock(content, packedMins.end));
  for (let slice = 0; slice < sums.length; slice++) {
    sums[slice] = sums[slice]! / power;
    maxs[slice] = (mins[slice]! + maxs[slice]!) / power;
    mins[slice] = mins[slice]! / power;
  }
  return { sums, mins, maxs };
}
