// Protobuf reader: fields of messages from bytes, within limits, for messages of any sender.
import { sparkplugLimits } from './sparkplug-limits.ts';

/** A payload that is not valid. The message says what is wrong, and at which byte. */
export class InvalidPayload extends Error {}

/** Where a reader is. `end` is that of the message that is being read. */
export interface Cursor {
  readonly bytes: Buffer;
  at: number;
  end: number;
  depth: number;
  /** Values that the payload may still have. */
  valuesLeft: number;
}

/** What takes the value of a field, by the tag of field and wire type. */
type Fields<T> = readonly (((target: T, cursor: Cursor) => void) | undefined)[];

const { valuesMax, depthMax } = sparkplugLimits;

export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

export function cursorOf(bytes: Buffer): Cursor {
  return { bytes, at: 0, end: bytes.length, depth: 0, valuesLeft: valuesMax };
}

export function tagOf(field: number, wireType: keyof typeof wireTypes): number {
  return field * 8 + wireTypes[wireType];
}

/** Functions that read throw it. */
function invalid(cursor: Cursor, what: string): never {
  throw new InvalidPayload(`${what} at byte ${cursor.at}`);
}

/** Makes a table of fields. */
export function fieldsOf<T>(
  rows: readonly (readonly [
    field: number,
    wireType: keyof typeof wireTypes,
    take: (target: T, cursor: Cursor) => void,
  ])[],
): Fields<T> {
  const fields: ((target: T, cursor: Cursor) => void)[] = [];
  for (const [field, wireType, take] of rows) fields[tagOf(field, wireType)] = take;
  // An array with holes is slower to read.
  return Array.from(fields);
}

/** Reads to the end of the message. Fields that the table lacks are skipped. */
export function readFields<T>(cursor: Cursor, fields: Fields<T>, target: T): T {
  while (cursor.at < cursor.end) {
    const tag = readVarint32(cursor);
    const take = fields[tag];
    if (take === undefined) skipField(cursor, tag);
    else take(target, cursor);
  }
  return target;
}

/** Reads a message within the message. */
export function readMessage<T>(cursor: Cursor, fields: Fields<T>, target: T): T {
  const length = readLength(cursor);
  countValue(cursor);
  const { end } = cursor;
  cursor.depth++;
  if (cursor.depth > depthMax)
    invalid(cursor, `messages exceed the maximum nesting depth of ${depthMax}`);
  cursor.end = cursor.at + length;
  readFields(cursor, fields, target);
  cursor.end = end;
  cursor.depth--;
  return target;
}

/** A payload of a few bytes must not become millions of values. */
export function countValue(cursor: Cursor, count = 1): void {
  cursor.valuesLeft -= count;
  if (cursor.valuesLeft < 0) invalid(cursor, `the payload has more than ${valuesMax} values`);
}

/** Bits beyond the 32nd are dropped, as the libraries of other languages do. */
export function readVarint32(cursor: Cursor): number {
  const { bytes, end } = cursor;
  let value = 0;
  for (let shift = 0; shift < 70; shift += 7) {
    if (cursor.at >= end) invalid(cursor, 'the payload is truncated');
    const byte = bytes[cursor.at++] ?? 0;
    if (shift < 32) value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value >>> 0;
  }
  return invalid(cursor, 'a number is longer than 64 bits');
}

const bits28 = 2 ** 28;

/** An unsigned number of 64 bits: a bigint only beyond what a number holds exactly. */
export function readVarint64(cursor: Cursor): number | bigint {
  const { bytes, end } = cursor;
  // Three parts of 28 bits or fewer, because larger ones would become signed.
  let [low, middle, high] = [0, 0, 0];
  for (let shift = 0; shift < 70; shift += 7) {
    if (cursor.at >= end) invalid(cursor, 'the payload is truncated');
    const byte = bytes[cursor.at++] ?? 0;
    const bits = byte & 0x7f;
    if (shift < 28) low |= bits << shift;
    else if (shift < 56) middle |= bits << (shift - 28);
    else high |= bits << (shift - 56);
    if (byte < 0x80) return joined(low, middle, high);
  }
  return invalid(cursor, 'a number is longer than 64 bits');
}

function joined(low: number, middle: number, high: number): number | bigint {
  // 53 bits: 28 of the lowest part and 25 of the next.
  if (high === 0 && middle < 2 ** 25) return low + middle * bits28;
  const whole = (BigInt(high) << 56n) | (BigInt(middle) << 28n) | BigInt(low);
  return BigInt.asUintN(64, whole);
}

export function readBoolean(cursor: Cursor): boolean {
  return readVarint64(cursor) !== 0;
}

export function readFloat(cursor: Cursor): number {
  return cursor.bytes.readFloatLE(placeOf(cursor, 4));
}

export function readDouble(cursor: Cursor): number {
  return cursor.bytes.readDoubleLE(placeOf(cursor, 8));
}

/** A part of the payload, not a copy. */
export function readBytes(cursor: Cursor): Buffer {
  const length = readLength(cursor);
  const at = placeOf(cursor, length);
  return cursor.bytes.subarray(at, at + length);
}

export function readString(cursor: Cursor): string {
  const length = readLength(cursor);
  const at = placeOf(cursor, length);
  const short = length <= shortLength ? asciiOf(cursor.bytes, at, length) : undefined;
  return short ?? cursor.bytes.toString('utf8', at, at + length);
}

/** Names are short, and a call into the decoder of UTF-8 takes longer than they do. */
const shortLength = 40;

/** Undefined for other characters. */
function asciiOf(bytes: Buffer, at: number, length: number): string | undefined {
  let text = '';
  for (let i = at; i < at + length; i++) {
    const code = bytes[i] ?? 0;
    if (code > 0x7f) return undefined;
    text += String.fromCharCode(code);
  }
  return text;
}

function readLength(cursor: Cursor): number {
  const length = readVarint32(cursor);
  if (length > cursor.end - cursor.at) invalid(cursor, 'a field extends beyond its message');
  return length;
}

/** Moves behind the bytes; returns where they begin. */
function placeOf(cursor: Cursor, length: number): number {
  const { at } = cursor;
  if (length > cursor.end - at) invalid(cursor, 'the payload is truncated');
  cursor.at = at + length;
  return at;
}

function skipField(cursor: Cursor, tag: number): void {
  if (tag < 8) invalid(cursor, 'a field has number 0');
  const wireType = tag & 7;
  if (wireType === wireTypes.varint) readVarint64(cursor);
  else if (wireType === wireTypes.fixed64) placeOf(cursor, 8);
  else if (wireType === wireTypes.bytes) placeOf(cursor, readLength(cursor));
  else if (wireType === wireTypes.fixed32) placeOf(cursor, 4);
  else invalid(cursor, `a field has wire type ${wireType}`);
}
