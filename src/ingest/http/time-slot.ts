// Time slots: the times of samples that are written as strings.
import { dayMs, type EpochMs, parseInstant } from '../../model/instant.ts';
import { jsonBytes } from '../../model/json-bytes.ts';
import type { ByteCursor } from './byte-cursor.ts';
import type { SlotReader } from './slot-reader.ts';

const { quote, backslash } = jsonBytes;
/** `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
const ownFormLength = 24;
const dateLength = 10;

/** A time on the same date as the one before is computed without the parser. */
export class TimeSlot implements SlotReader {
  readonly #target: Float64Array;
  /** The date of the time before, as it is written, and its midnight. */
  readonly #lastDate = new Uint8Array(dateLength);
  #midnight: EpochMs | undefined;

  constructor(target: Float64Array) {
    this.#target = target;
  }

  read(cursor: ByteCursor, row: number): boolean {
    const { bytes, at: from } = cursor;
    // A date and a time of day have no quote, so this is the end.
    const isOwnForm = bytes[from + ownFormLength] === quote;
    const time = isOwnForm ? timeOfDay(bytes, from) : undefined;
    if (time !== undefined && this.#midnight !== undefined && this.#isLastDate(bytes, from)) {
      this.#target[row] = this.#midnight + time;
      cursor.at = from + ownFormLength;
      return true;
    }
    return this.#readOther(cursor, row, time !== undefined);
  }

  #readOther(cursor: ByteCursor, row: number, hasTimeOfDay: boolean): boolean {
    const { bytes, at: from } = cursor;
    let end = from;
    while (bytes[end] !== quote) {
      if (end === bytes.length || bytes[end] === backslash) return false;
      end++;
    }
    const isOwnForm = hasTimeOfDay && end - from === ownFormLength;
    const at = this.#parsed(bytes.subarray(from, end), isOwnForm);
    if (at === undefined) return false;
    this.#target[row] = at;
    cursor.at = end;
    return true;
  }

  #isLastDate(bytes: Uint8Array, from: number): boolean {
    const date = this.#lastDate;
    for (let i = 0; i < dateLength; i++) if (bytes[from + i] !== date[i]) return false;
    return true;
  }

  #parsed(written: Buffer, isOwnForm: boolean): EpochMs | undefined {
    const time = parseInstant(written.toString('latin1'));
    if (time !== undefined && isOwnForm) {
      this.#lastDate.set(written.subarray(0, dateLength));
      this.#midnight = Math.floor(time / dayMs) * dayMs;
    }
    return time;
  }
}

/**
 * Milliseconds since midnight of a time in that form. Undefined for another form or a time that does
 * not exist.
 */
function timeOfDay(bytes: Uint8Array, at: number): number | undefined {
  const hasSeparators =
    bytes[at + 10] === 0x54 &&
    bytes[at + 13] === 0x3a &&
    bytes[at + 16] === 0x3a &&
    bytes[at + 19] === 0x2e &&
    bytes[at + 23] === 0x5a;
  if (!hasSeparators) return undefined;
  const hour = twoDigits(bytes, at + 11);
  const minute = twoDigits(bytes, at + 14);
  const second = twoDigits(bytes, at + 17);
  const hundredths = twoDigits(bytes, at + 20);
  const last = bytes[at + 22];
  if (!(hour < 24 && minute < 60 && second < 60 && hundredths >= 0) || !isDigit(last))
    return undefined;
  return ((hour * 60 + minute) * 60 + second) * 1_000 + hundredths * 10 + last - 0x30;
}

/** NaN when one of the bytes is not a digit. */
function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = bytes[at]! - 0x30;
  const ones = bytes[at + 1]! - 0x30;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

function isDigit(byte: number | undefined): byte is number {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}
