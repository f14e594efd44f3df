// Number slots: JSON numbers and booleans of a column, read from bytes without a string for each.
import { type ByteCursor, FixedBytes } from './byte-cursor.ts';
import { isEpochMs } from '../../model/timestamp.ts';
import { endsToken } from './sample-template.ts';
import type { SlotReader } from './slot-reader.ts';

/** A number with more digits is read by `Number`, which rounds it correctly. */
const digitsMax = 15;
const powersOfTen = Float64Array.from({ length: digitsMax + 1 }, (_, i) => 10 ** i);

/** With `isTime`, only epoch milliseconds are taken. */
export class NumberSlot implements SlotReader {
  readonly #target: Float64Array;
  readonly #isTime: boolean;

  constructor(target: Float64Array, isTime: boolean) {
    this.#target = target;
    this.#isTime = isTime;
  }

  /** Up to 15 digits without exponent: an integer divided by a power of ten rounds as the parser does. */
  read(cursor: ByteCursor, row: number): boolean {
    const { bytes } = cursor;
    let at = cursor.at;
    const isNegative = bytes[at] === 0x2d;
    if (isNegative) at++;
    const firstDigit = at;
    let value = 0;
    let digit = bytes[at]! - 0x30;
    for (; digit >= 0 && digit <= 9; digit = bytes[++at]! - 0x30) value = value * 10 + digit;
    const wholeDigits = at - firstDigit;
    if (wholeDigits === 0 || (wholeDigits > 1 && bytes[firstDigit] === 0x30)) return false;
    let decimals = 0;
    if (bytes[at] === 0x2e) {
      const firstDecimal = ++at;
      digit = bytes[at]! - 0x30;
      for (; digit >= 0 && digit <= 9; digit = bytes[++at]! - 0x30) value = value * 10 + digit;
      decimals = at - firstDecimal;
      if (decimals === 0) return false;
    }
    if (wholeDigits + decimals > digitsMax || !endsToken(bytes[at]))
      return this.#readLong(cursor, row);
    if (decimals > 0) value /= powersOfTen[decimals]!;
    // A difference, so that -0 becomes the 0 that the store makes of it.
    this.#target[row] = isNegative ? 0 - value : value;
    cursor.at = at;
    return !this.#isTime || (!isNegative && Number.isInteger(value) && isEpochMs(value));
  }

  #readLong(cursor: ByteCursor, row: number): boolean {
    const { bytes, at } = cursor;
    let end = at;
    while (end < bytes.length && !endsToken(bytes[end])) end++;
    const written = bytes.toString('latin1', at, end);
    // The grammar of JSON: Number() accepts more than that.
    if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(written)) return false;
    const value = Number(written);
    this.#target[row] = value + 0;
    cursor.at = end;
    if (this.#isTime) return Number.isInteger(value) && isEpochMs(value);
    // Integers that are rounded are read as their text.
    return Number.isFinite(value) && (Number.isSafeInteger(value) || !/^-?\d+$/.test(written));
  }
}

/** Booleans as 0 and 1. */
export class BooleanSlot implements SlotReader {
  readonly #target: Float64Array;

  constructor(target: Float64Array) {
    this.#target = target;
  }

  read(cursor: ByteCursor, row: number): boolean {
    const isTrue = cursor.bytes[cursor.at] === 0x74;
    this.#target[row] = Number(isTrue);
    return cursor.skip(isTrue ? trueBytes : falseBytes);
  }
}

const trueBytes = new FixedBytes(Buffer.from('true'));
const falseBytes = new FixedBytes(Buffer.from('false'));
