// A column of whole numbers (timestamps, orders, ids, scaled decimals): the smallest of five ways, chosen per chunk.
import type { ByteReader, ByteWriter } from '../../../../../structures/bytes.ts';
import { type PackingPlan, packedAt, planPacking, readPacked, writePacked } from './packed-ints.ts';

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

function readRuns(reader: ByteReader, values: Float64Array, wanted: number): void {
  const runs = reader.varint();
  const lengths = new Float64Array(runs);
  const heads = new Float64Array(runs);
  readPacked(reader, lengths, runs);
  readPacked(reader, heads, runs);
  let at = 0;
  for (let run = 0; run < runs && at < wanted; run++) {
    values.fill(heads[run]!, at, at + lengths[run]!);
    at += lengths[run]!;
  }
}
