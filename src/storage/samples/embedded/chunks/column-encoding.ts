// Column encoding: how a column of a chunk becomes bytes: whole numbers, other numbers, and texts.
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { ByteReader, ByteWriter } from '../../../../structures/bytes.ts';

const ways = { constant: 0, packed: 1, deltas: 2, line: 3, runs: 4 } as const;
/** About what a run costs beside its packed length. */
const runBytes = 3;

/** Writes whole numbers between -2^51 and 2^51. */
export function writeInts(writer: ByteWriter, values: Float64Array, length: number): void {
  const runs = countRuns(values, length);
  if (runs <= 1) {
    writer.byte(ways.constant);
    writer.zigzag(length === 0 ? 0 : values[0]!);
    return;
  }
  const step = (values[length - 1]! - values[0]!) / (length - 1);
  const deltas = new Float64Array(length - 1);
  const distances = new Float64Array(length);
  for (let i = 1; i < length; i++) {
    deltas[i - 1] = values[i]! - values[i - 1]!;
    distances[i] = values[i]! - values[0]! - Math.floor(i * step);
  }
  const plans = [
    { way: ways.packed, plan: planPacking(values, length), values },
    { way: ways.deltas, plan: planPacking(deltas, length - 1), values: deltas },
    { way: ways.line, plan: planPacking(distances, length), values: distances },
  ];
  const best = plans.reduce((a, b) => (b.plan.bytes < a.plan.bytes ? b : a));
  if (runs * runBytes + 12 < best.plan.bytes) {
    writer.byte(ways.runs);
    writeRuns(writer, values, length, runs);
    return;
  }
  writer.byte(best.way);
  if (best.way !== ways.packed) writer.zigzag(values[0]!);
  if (best.way === ways.line) writer.double(step);
  writePlanned(writer, best.values, best.plan);
}

function writePlanned(writer: ByteWriter, values: Float64Array, plan: PackingPlan): void {
  writePacked(writer, values, values.length, plan);
}

function countRuns(values: Float64Array, length: number): number {
  let runs = length === 0 ? 0 : 1;
  for (let i = 1; i < length; i++) if (values[i] !== values[i - 1]) runs++;
  return runs;
}

function writeRuns(writer: ByteWriter, values: Float64Array, length: number, runs: number): void {
  const lengths = new Float64Array(runs);
  const heads = new Float64Array(runs);
  let run = -1;
  for (let i = 0; i < length; i++) {
    if (i === 0 || values[i] !== values[i - 1]) heads[++run] = values[i]!;
    lengths[run]!++;
  }
  writer.varint(runs);
  writePacked(writer, lengths, runs, planPacking(lengths, runs));
  writePacked(writer, heads, runs, planPacking(heads, runs));
}

/**
 * Reads the first `wanted` values or more of the `length` that were written, into `target` when
 * that is given and long enough for all.
 */
export function readInts(
  reader: ByteReader,
  length: number,
  target?: Float64Array,
  wanted: number = length,
): Float64Array {
  const values = target === undefined || target.length < length ? new Float64Array(length) : target;
  const way = reader.byte();
  if (way === ways.constant) return values.fill(reader.zigzag(), 0, wanted);
  if (way === ways.packed) readPacked(reader, values, length, wanted);
  else if (way === ways.deltas) readDeltas(reader, values, length, wanted);
  else if (way === ways.line) readLine(reader, values, length, wanted);
  else if (way === ways.runs) readRuns(reader, values, wanted);
  else throw new Error(`There is no way ${way} of writing whole numbers`);
  return values;
}

/**
 * A reader of single values, for columns that can be read without decoding all of them: lines and
 * packed numbers without exceptions. Undefined for the others.
 */
export function intAt(reader: ByteReader): ((index: number) => number) | undefined {
  const way = reader.byte();
  if (way === ways.packed) return packedAt(reader);
  if (way !== ways.line) return undefined;
  const first = reader.zigzag();
  const step = reader.double();
  const distanceAt = packedAt(reader);
  return distanceAt === undefined
    ? undefined
    : (index) => distanceAt(index) + first + Math.floor(index * step);
}

/** Reads the last `count` of the `length` values that were written; those before are hardly touched. */
export function readLastInts(reader: ByteReader, length: number, count: number): Float64Array {
  const { at } = reader;
  const values = new Float64Array(count);
  const from = length - count;
  const way = reader.byte();
  if (way === ways.constant) return values.fill(reader.zigzag());
  if (way === ways.packed) {
    unpack(packedIn(reader, length), values, from, length);
    return values;
  }
  if (way === ways.line) {
    const first = reader.zigzag();
    const step = reader.double();
    unpack(packedIn(reader, length), values, from, length);
    for (let i = 0; i < count; i++) values[i] = values[i]! + first + Math.floor((from + i) * step);
    return values;
  }
  if (way === ways.deltas && from > 0) {
    const first = reader.zigzag();
    const deltas = packedIn(reader, length - 1);
    const sum = sumBefore(deltas, from - 1);
    if (sum !== undefined) {
      unpack(deltas, values, from - 1, length - 1);
      let value = first + sum;
      for (let i = 0; i < count; i++) {
        value += values[i]!;
        values[i] = value;
      }
      return values;
    }
  }
  if (way === ways.runs) {
    readLastRuns(reader, values);
    return values;
  }
  reader.at = at;
  return readInts(reader, length).slice(from);
}

function readDeltas(
  reader: ByteReader,
  values: Float64Array,
  length: number,
  wanted: number,
): void {
  let value = reader.zigzag();
  values[0] = value;
  if (wanted < 2) return;
  readPacked(reader, values.subarray(1), length - 1, wanted - 1);
  for (let i = 1; i < wanted; i++) {
    value += values[i]!;
    values[i] = value;
  }
}

function readLine(reader: ByteReader, values: Float64Array, length: number, wanted: number): void {
  const first = reader.zigzag();
  const step = reader.double();
  readPacked(reader, values, length, wanted);
  for (let i = 0; i < wanted; i++) values[i] = values[i]! + first + Math.floor(i * step);
}

interface Runs {
  readonly lengths: Float64Array;
  readonly heads: Float64Array;
}

function runsIn(reader: ByteReader): Runs {
  const runs = reader.varint();
  const lengths = new Float64Array(runs);
  const heads = new Float64Array(runs);
  readPacked(reader, lengths, runs);
  readPacked(reader, heads, runs);
  return { lengths, heads };
}

function readLastRuns(reader: ByteReader, values: Float64Array): void {
  const { lengths, heads } = runsIn(reader);
  let end = values.length;
  for (let run = lengths.length - 1; run >= 0 && end > 0; run--) {
    const from = Math.max(0, end - lengths[run]!);
    values.fill(heads[run]!, from, end);
    end = from;
  }
}

function readRuns(reader: ByteReader, values: Float64Array, wanted: number): void {
  const { lengths, heads } = runsIn(reader);
  const runs = lengths.length;
  let at = 0;
  for (let run = 0; run < runs && at < wanted; run++) {
    values.fill(heads[run]!, at, at + lengths[run]!);
    at += lengths[run]!;
  }
}

// A column of numbers: decimals as scaled whole numbers when that is exact for every value, else the doubles themselves.

/** Digits behind the point, 0 to this; beside them the two ways for doubles. */
const digitsMax = 12;
const plainDoubles = 64;
const planedDoubles = 65;
/** Scaled numbers stay far from 2^53, so that their differences are exact too. */
const scaledMax = 2 ** 51;
const powers = Float64Array.from({ length: digitsMax + 1 }, (_, digits) => 10 ** digits);

export function writeNumbers(writer: ByteWriter, values: Float64Array, length: number): void {
  const digits = commonDigits(values, length);
  if (digits === undefined) {
    writeDoubles(writer, values, length);
    return;
  }
  const scaled = new Float64Array(length);
  const power = powers[digits]!;
  for (let i = 0; i < length; i++) scaled[i] = Math.round(values[i]! * power) + 0;
  writer.byte(digits);
  writeInts(writer, scaled, length);
}

/**
 * The fewest digits behind the point that give every value back exactly; undefined when there are
 * none.
 */
function commonDigits(values: Float64Array, length: number): number | undefined {
  let digits = 0;
  for (let i = 0; i < length; i++) {
    while (!isExact(values[i]!, powers[digits]!)) if (++digits > digitsMax) return undefined;
  }
  // More digits than a value needs could round it differently, so all are looked at again with the
  // final number.
  for (let i = 0; i < length; i++) if (!isExact(values[i]!, powers[digits]!)) return undefined;
  return digits;
}

function isExact(value: number, power: number): boolean {
  const scaled = Math.round(value * power);
  return scaled / power === value && Math.abs(scaled) < scaledMax && (value !== 0 || 1 / value > 0);
}

function writeDoubles(writer: ByteWriter, values: Float64Array, length: number): void {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, length * 8);
  const planes = new Uint8Array(length * 8);
  for (let i = 0; i < length; i++)
    for (let plane = 0; plane < 8; plane++) planes[plane * length + i] = bytes[i * 8 + plane]!;
  const compressed = zstdCompressSync(planes);
  if (compressed.length < bytes.length * 0.9) {
    writer.byte(planedDoubles);
    writer.varint(compressed.length);
    writer.bytes(compressed);
  } else {
    writer.byte(plainDoubles);
    writer.bytes(bytes);
  }
}

/**
 * Reads the first `wanted` numbers or more of the `length` that were written, into `target` when
 * that is given, long enough, and of use.
 */
export function readNumbers(
  reader: ByteReader,
  length: number,
  target?: Float64Array,
  wanted: number = length,
): Float64Array {
  const way = reader.byte();
  if (way === plainDoubles) return new Float64Array(reader.bytes(length * 8).slice().buffer);
  if (way === planedDoubles) {
    const planes = zstdDecompressSync(reader.bytes(reader.varint()));
    const values = new Float64Array(length);
    const bytes = new Uint8Array(values.buffer);
    for (let plane = 0; plane < 8; plane++)
      for (let i = 0; i < length; i++) bytes[i * 8 + plane] = planes[plane * length + i]!;
    return values;
  }
  const power = powers[way];
  if (power === undefined) throw new Error(`There is no way ${way} of writing numbers`);
  const values = readInts(reader, length, target, wanted);
  if (way > 0) for (let i = 0; i < wanted; i++) values[i] = values[i]! / power;
  return values;
}

/** Reads the last `count` of the `length` numbers that were written. */
export function readLastNumbers(reader: ByteReader, length: number, count: number): Float64Array {
  const { at } = reader;
  const power = powers[reader.byte()];
  if (power === undefined) {
    reader.at = at;
    return readNumbers(reader, length).slice(length - count);
  }
  const values = readLastInts(reader, length, count);
  if (power > 1) for (let i = 0; i < count; i++) values[i] = values[i]! / power;
  return values;
}

// A column of texts: each different text once, compressed where it pays, and for each row which one.

/** Compressing costs some 50 microseconds whatever the length, so short texts stay as they are. */
const compressFromBytes = 512;

/** Writes the texts that rows use, `ids` holding for each row the index of its text. */
export function writeTexts(writer: ByteWriter, texts: readonly string[], ids: Float64Array): void {
  writeText(writer, JSON.stringify(texts));
  writeInts(writer, ids, ids.length);
}

/** The last `count` of the `length` rows that were written, by default all. */
export function readTexts(
  reader: ByteReader,
  length: number,
  count: number = length,
): {
  readonly texts: readonly string[];
  readonly ids: Float64Array;
} {
  const texts = JSON.parse(readText(reader)) as string[];
  const ids = count < length ? readLastInts(reader, length, count) : readInts(reader, length);
  return { texts, ids };
}

/** JSON keeps what UTF-8 alone would lose: surrogates without their half. */
function writeText(writer: ByteWriter, json: string): void {
  const plain = Buffer.from(json);
  const compressed = plain.length < compressFromBytes ? plain : zstdCompressSync(plain);
  const pays = compressed.length < plain.length * 0.9;
  const bytes = pays ? compressed : plain;
  writer.varint(bytes.length * 2 + (pays ? 1 : 0));
  writer.bytes(bytes);
}

function readText(reader: ByteReader): string {
  const head = reader.varint();
  const bytes = reader.bytes(Math.floor(head / 2));
  return (head % 2 === 1 ? zstdDecompressSync(bytes) : Buffer.from(bytes)).toString('utf8');
}

// Whole numbers as offsets from a base in as many bits as most of them need; the few that need more are listed apart.

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

function writePacked(
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

/** Packed values whose bits are still to be read. */
interface Packed {
  readonly base: number;
  readonly width: number;
  /** Of the exceptions, ascending, and their values. */
  readonly places: Float64Array;
  readonly listed: Float64Array;
  /** The low and the high bits of all values. */
  readonly words: Uint32Array;
  readonly highWords: Uint32Array;
}

const noWords = new Uint32Array(0);

function packedIn(reader: ByteReader, length: number): Packed {
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
  const words = width === 0 ? noWords : reader.words(wordsOf(length, Math.min(width, 32)));
  const highWords = width <= 32 ? noWords : reader.words(wordsOf(length, width - 32));
  return { base, width, places, listed, words, highWords };
}

/** Puts the values of the places from `from` on and before `to` into `target`. */
function unpack(packed: Packed, target: Float64Array, from: number, to: number): void {
  const { base, width, places, listed } = packed;
  if (width === 0) target.fill(base, 0, to - from);
  else unpackBits(packed.words, target, from, to, Math.min(width, 32), base);
  if (width > 32) {
    const high = new Float64Array(to - from);
    unpackBits(packed.highWords, high, from, to, width - 32, 0);
    for (let i = 0; i < high.length; i++) target[i]! += high[i]! * 0x1_0000_0000;
  }
  for (let i = 0; i < places.length; i++) {
    const place = places[i]!;
    if (place >= from && place < to) target[place - from] = listed[i]!;
  }
}

/** Sums stay below, so that they are exact. */
const sumMax = 2 ** 51;

/** The sum of the values of the places before `end`; undefined when numbers are too large to add them exactly. */
function sumBefore(packed: Packed, end: number): number | undefined {
  const { base, width, words, places, listed } = packed;
  if (width > 32 || Math.abs(base) * end > sumMax) return undefined;
  let sum = base * end;
  if (width > 0) {
    const mask = maskOf(width);
    for (let i = 0, bit = 0; i < end; i++, bit += width) {
      const word = bit >>> 5;
      const shift = bit & 31;
      let offset = words[word]! >>> shift;
      if (shift + width > 32) offset |= words[word + 1]! << (32 - shift);
      sum += (offset & mask) >>> 0;
    }
  }
  // The bits of an exception are zero.
  for (let i = 0; i < places.length && places[i]! < end; i++) sum += listed[i]! - base;
  return sum;
}

function maskOf(width: number): number {
  return width === 32 ? -1 : (1 << width) - 1;
}

/** Reads the first `wanted` of `length` values or more into `target`, which has room for all. */
function readPacked(
  reader: ByteReader,
  target: Float64Array,
  length: number,
  wanted: number = length,
): void {
  unpack(packedIn(reader, length), target, 0, wanted);
}

/** A reader of single values; undefined when there are exceptions or more than 32 bits a value. */
function packedAt(reader: ByteReader): ((index: number) => number) | undefined {
  const base = reader.zigzag();
  const width = reader.byte();
  const exceptions = reader.varint();
  if (exceptions > 0 || width > 32) return undefined;
  if (width === 0) return () => base;
  const words = reader.restWords();
  const mask = maskOf(width);
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
  from: number,
  to: number,
  width: number,
  base: number,
): void {
  const mask = maskOf(width);
  for (let i = from, bit = from * width; i < to; i++, bit += width) {
    const word = bit >>> 5;
    const shift = bit & 31;
    let offset = words[word]! >>> shift;
    if (shift + width > 32) offset |= words[word + 1]! << (32 - shift);
    target[i - from] = base + ((offset & mask) >>> 0);
  }
}
