// Whole numbers as offsets from a base in as many bits as most of them need; the few that need more are listed apart.
import type { ByteReader, ByteWriter } from '../../../../../structures/bytes.ts';

/** About what one listed exception costs. */
const exceptionBytes = 5;
const probes = 48;

export interface PackingPlan {
  readonly base: number;
  /** Bits of each offset, 0 to 53. */
  readonly width: number;
  readonly exceptions: number;
  /** Estimated size. */
  readonly bytes: number;
}

/** Used again for every plan. */
const sample = new Float64Array(probes);

/** The cheaper of two ways: all values packed, or the common range packed and the rest listed. */
export function planPacking(values: Float64Array, length: number): PackingPlan {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < length; i++) {
    const value = values[i]!;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (length === 0) return { base: 0, width: 0, exceptions: 0, bytes: 0 };
  const whole = planOf(length, min, max, 0);
  if (whole.width < 3 || length < probes) return whole;
  for (let i = 0; i < probes; i++) sample[i] = values[Math.floor((i * length) / probes)]!;
  sample.sort();
  const low = sample[2]!;
  const high = sample[probes - 3]!;
  const width = bitsOf(high - low);
  if (width >= whole.width) return whole;
  // The common range, grown to what its bits can hold, as far down as there are values.
  const base = Math.max(min, low - Math.floor((2 ** width - 1 - (high - low)) / 2));
  const top = base + 2 ** width - 1;
  let exceptions = 0;
  for (let i = 0; i < length; i++) if (values[i]! < base || values[i]! > top) exceptions++;
  const patched = planOf(length, base, top, exceptions);
  return patched.bytes < whole.bytes ? patched : whole;
}

function planOf(length: number, base: number, max: number, exceptions: number): PackingPlan {
  const width = bitsOf(max - base);
  return { base, width, exceptions, bytes: (length * width) / 8 + exceptions * exceptionBytes + 8 };
}

/** Bits that hold every whole number from 0 to the range. */
function bitsOf(range: number): number {
  if (range < 0x8000_0000) return 32 - Math.clz32(range);
  return 32 + bitsOf(Math.floor(range / 0x1_0000_0000));
}

export function writePacked(
  writer: ByteWriter,
  values: Float64Array,
  length: number,
  plan: PackingPlan,
): void {
  const { base, width, exceptions } = plan;
  writer.zigzag(base);
  writer.byte(width);
  writer.varint(exceptions);
  const top = base + 2 ** width - 1;
  const range = { values, length, base, top };
  if (exceptions > 0) writeExceptions(writer, range);
  if (width === 0) return;
  const lowWidth = Math.min(width, 32);
  writer.words(packBits(range, lowWidth, 1), wordsOf(length, lowWidth));
  const highWidth = width - lowWidth;
  if (highWidth > 0)
    writer.words(packBits(range, highWidth, 0x1_0000_0000), wordsOf(length, highWidth));
}

/** Values from `base` to `top` are packed, the others are exceptions. */
interface PackedRange {
  readonly values: Float64Array;
  readonly length: number;
  readonly base: number;
  readonly top: number;
}

function writeExceptions(writer: ByteWriter, { values, length, base, top }: PackedRange): void {
  let last = 0;
  for (let i = 0; i < length; i++) {
    const value = values[i]!;
    if (value >= base && value <= top) continue;
    writer.varint(i - last);
    writer.zigzag(value - base);
    last = i;
  }
}

function wordsOf(length: number, width: number): number {
  return Math.ceil((length * width) / 32);
}

function packBits(
  { values, length, base, top }: PackedRange,
  width: number,
  divisor: number,
): Uint32Array {
  const words = new Uint32Array(wordsOf(length, width) + 1);
  let bit = 0;
  for (let i = 0; i < length; i++, bit += width) {
    const value = values[i]!;
    if (value < base || value > top) continue;
    // `>>> 0` takes the low 32 bits of numbers up to 2^53.
    const offset = Math.floor((value - base) / divisor) >>> 0;
    const word = bit >>> 5;
    const shift = bit & 31;
    words[word]! |= offset << shift;
    if (shift + width > 32) words[word + 1]! |= offset >>> (32 - shift);
  }
  return words;
}

/** Reads the first `wanted` of `length` values or more into `target`, which has room for all. */
export function readPacked(
  reader: ByteReader,
  target: Float64Array,
  length: number,
  wanted: number = length,
): void {
  const base = reader.zigzag();
  const width = reader.byte();
  const exceptions = reader.varint();
  const places = new Float64Array(exceptions);
  const listed = new Float64Array(exceptions);
  for (let i = 0, place = 0; i < exceptions; i++) {
    place += reader.varint();
    places[i] = place;
    listed[i] = base + reader.zigzag();
  }
  if (width === 0) target.fill(base, 0, wanted);
  else if (width <= 32)
    unpackBits(reader.words(wordsOf(length, width)), target, wanted, { width, base });
  else {
    unpackBits(reader.words(wordsOf(length, 32)), target, length, { width: 32, base });
    const high = new Float64Array(length);
    unpackBits(reader.words(wordsOf(length, width - 32)), high, length, {
      width: width - 32,
      base: 0,
    });
    for (let i = 0; i < length; i++) target[i]! += high[i]! * 0x1_0000_0000;
  }
  for (let i = 0; i < exceptions; i++) target[places[i]!] = listed[i]!;
}

/** A reader of single values; undefined when there are exceptions or more than 32 bits a value. */
export function packedAt(reader: ByteReader): ((index: number) => number) | undefined {
  const base = reader.zigzag();
  const width = reader.byte();
  const exceptions = reader.varint();
  if (exceptions > 0 || width > 32) return undefined;
  if (width === 0) return () => base;
  const words = reader.restWords();
  const mask = width === 32 ? -1 : (1 << width) - 1;
  return (index) => {
    const bit = index * width;
    const word = bit >>> 5;
    const shift = bit & 31;
    let offset = words[word]! >>> shift;
    if (shift + width > 32) offset |= words[word + 1]! << (32 - shift);
    return base + ((offset & mask) >>> 0);
  };
}

function unpackBits(
  words: Uint32Array,
  target: Float64Array,
  length: number,
  { width, base }: Pick<PackingPlan, 'width' | 'base'>,
): void {
  const mask = width === 32 ? -1 : (1 << width) - 1;
  for (let i = 0, bit = 0; i < length; i++, bit += width) {
    const word = bit >>> 5;
    const shift = bit & 31;
    let offset = words[word]! >>> shift;
    if (shift + width > 32) offset |= words[word + 1]! << (32 - shift);
    target[i] = base + ((offset & mask) >>> 0);
  }
}
