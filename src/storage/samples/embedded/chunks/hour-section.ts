// Hourly aggregates of a chunk: for each hour that it touches, where its rows end, and per column their sum, range and occupied slots.
// They are written with the rows they come from, so they can neither be late nor differ; an hour
// cut by a chunk's end has a part in each.
import { addTerms, type CompensatedSum } from '../../../../query/summaries/compensated-sum.ts';
import { slotBit } from '../../../../query/summaries/occupied-slots.ts';
import type { ByteReader, ByteWriter } from '../../../../structures/bytes.ts';
import { readInts, readNumbers, writeInts, writeNumbers } from './column-encoding.ts';
import { hourMs } from '../../../../model/instant.ts';

/** With fewer rows an hour, reading the rows costs no more than reading the hours. */
const rowsPerHourMin = 8;

/** The hours of a chunk: `floor(timestamp / hourMs)`, and the place behind the last row of each. */
export interface ChunkHours {
  readonly hours: Float64Array;
  readonly ends: Float64Array;
}

export interface ColumnHours {
  readonly counts: Float64Array;
  readonly sums: Float64Array;
  readonly mins: Float64Array;
  readonly maxs: Float64Array;
  /** Five-minute slots with a value that is true or greater than zero, as twelve bits. */
  readonly slots: Float64Array;
}

/** Undefined when hours would not pay. */
export function hoursOf(timestamps: Float64Array): ChunkHours | undefined {
  const hours: number[] = [];
  const ends: number[] = [];
  let nextHourAt = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < timestamps.length; i++) {
    const at = timestamps[i]!;
    if (at < nextHourAt) continue;
    if (hours.length > 0) ends.push(i);
    const hour = Math.floor(at / hourMs);
    hours.push(hour);
    nextHourAt = (hour + 1) * hourMs;
  }
  ends.push(timestamps.length);
  if (timestamps.length < hours.length * rowsPerHourMin) return undefined;
  return { hours: Float64Array.from(hours), ends: Float64Array.from(ends) };
}

export function writeHours(writer: ByteWriter, { hours, ends }: ChunkHours): void {
  writer.varint(hours.length);
  writeInts(writer, hours, hours.length);
  writeInts(writer, ends, ends.length);
}

export function readHours(reader: ByteReader): ChunkHours {
  const length = reader.varint();
  return { hours: readInts(reader, length), ends: readInts(reader, length) };
}

/** The rows of a chunk and the values of one column. */
interface NumbersOfRows {
  readonly timestamps: Float64Array;
  /** The values of the rows that have one. */
  readonly numbers: Float64Array;
  /** The row of each value; undefined when every row has one. */
  readonly places: Uint32Array | undefined;
}

export function writeColumnHours(
  writer: ByteWriter,
  chunkHours: ChunkHours,
  rows: NumbersOfRows,
): void {
  const { counts, sums, mins, maxs, slots } = columnHours(chunkHours, rows);
  const { length } = counts;
  if (rows.places !== undefined) writeInts(writer, counts, length);
  writeNumbers(writer, sums, length);
  writeNumbers(writer, mins, length);
  writeNumbers(writer, maxs, length);
  writeInts(writer, slots, length);
}

/** The hours of a column's present values. */
export function columnHours(
  { ends }: ChunkHours,
  { timestamps, numbers, places }: NumbersOfRows,
): ColumnHours {
  const { length } = ends;
  const found = {
    counts: new Float64Array(length),
    sums: new Float64Array(length),
    mins: new Float64Array(length),
    maxs: new Float64Array(length),
    slots: new Float64Array(length),
  };
  let from = 0;
  for (let hour = 0; hour < length; hour++) {
    let to = from;
    let min = Number.POSITIVE_INFINITY;
    let max = Number.NEGATIVE_INFINITY;
    let slots = 0;
    for (; to < numbers.length; to++) {
      const place = places?.[to] ?? to;
      if (place >= ends[hour]!) break;
      const number = numbers[to]!;
      if (number < min) min = number;
      if (number > max) max = number;
      if (number > 0) slots |= slotBit(timestamps[place]!);
    }
    const sum: CompensatedSum = { sum: 0, sumError: 0 };
    addTerms(sum, numbers, from, to);
    found.counts[hour] = to - from;
    found.sums[hour] = sum.sum + sum.sumError;
    // Hours without a value are skipped by their count; zeros pack better than infinities.
    if (to > from) {
      found.mins[hour] = min;
      found.maxs[hour] = max;
    }
    found.slots[hour] = slots;
    from = to;
  }
  return found;
}

/** `dense` when every row of the chunk has a value: counts follow from the ends of the hours. */
export function readColumnHours(
  reader: ByteReader,
  { ends }: ChunkHours,
  dense: boolean,
): ColumnHours {
  const { length } = ends;
  return {
    counts: dense ? countsOf(ends) : readInts(reader, length),
    sums: readNumbers(reader, length),
    mins: readNumbers(reader, length),
    maxs: readNumbers(reader, length),
    slots: readInts(reader, length),
  };
}

function countsOf(ends: Float64Array): Float64Array {
  return ends.map((end, i) => end - (ends[i - 1] ?? 0));
}
