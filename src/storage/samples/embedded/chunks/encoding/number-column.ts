// A column of numbers: decimals as scaled whole numbers when that is exact for every value, else the doubles themselves.
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { ByteReader, ByteWriter } from '../../../../../structures/bytes.ts';
import { readInts, writeInts } from './int-column.ts';

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
