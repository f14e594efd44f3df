// Sample scanner: reads samples of one form from bytes straight to columns, without an object for each; what differs is left to the parser.
import { dayMs, type EpochMs, parseInstant } from '../../model/instant.ts';
import { isJsonWhitespace, jsonBytes } from '../../model/json-bytes.ts';
import type { JsonObject } from '../../model/json.ts';
import {
  endsToken,
  learnTemplate,
  type SampleTemplate,
  type Slot,
  type SlotKind,
} from './sample-template.ts';

/** Samples of one form and topic, in the order sent. */
export interface SampleColumns {
  readonly length: number;
  /** Undefined when the samples do not name a topic. */
  readonly topic: string | undefined;
  readonly timestamps: Float64Array;
  /** For each sample an index in `texts`; undefined when the samples do not name a device. */
  readonly deviceIds: Float64Array | undefined;
  /** Data of one of the samples: all have its keys, in its order, with values of the same types. */
  readonly example: JsonObject;
  readonly kinds: readonly SlotKind[];
  /** For each value of the data: numbers, booleans as 0 and 1, or indices in `texts`. */
  readonly columns: readonly Float64Array[];
  readonly texts: readonly string[];
}

export interface ScannedSamples {
  readonly samples: SampleColumns;
  /** Offset behind the last sample. A comma or a closing bracket follows, maybe behind white space. */
  readonly end: number;
}

export interface SampleScanner {
  /**
   * Reads samples from `from` on, up to `max` and to the first that differs, is not in the bytes as a whole, or is not followed by a
   * comma or a closing bracket. Undefined when there is none of them.
   */
  readonly scan: (bytes: Buffer, from: number, max: number) => ScannedSamples | undefined;
}

const { quote, comma, backslash, closeBracket } = jsonBytes;
/** Forms that are learned from one body: a body of ever new forms goes the general way. */
const templatesMax = 16;
/** A number with more digits is left to a slower way, which rounds it correctly. */
const digitsMax = 15;
const powersOfTen = Float64Array.from({ length: digitsMax + 1 }, (_, i) => 10 ** i);

/** For one body: it keeps the form of the samples before. */
export function createSampleScanner(): SampleScanner {
  let template: SampleTemplate | undefined;
  let learned = 0;

  return {
    scan: (bytes, from, max) => {
      const found = template === undefined ? undefined : scanWith(template, bytes, from, max);
      if (found !== undefined || learned >= templatesMax) return found;
      const fresh = learnTemplate(bytes, skipWhitespace(bytes, from));
      if (fresh === undefined) return undefined;
      learned++;
      template = fresh;
      return scanWith(fresh, bytes, from, max);
    },
  };
}

function scanWith(
  template: SampleTemplate,
  bytes: Buffer,
  from: number,
  max: number,
): ScannedSamples | undefined {
  const reader = new SampleReader(template, bytes, max);
  let end = from;
  for (let at = from; reader.row < max; ) {
    reader.at = skipWhitespace(bytes, at);
    if (!reader.readSample()) break;
    const behind = skipWhitespace(bytes, reader.at);
    const isLast = bytes[behind] === closeBracket;
    if (!(isLast || bytes[behind] === comma) || !reader.take()) break;
    end = reader.at;
    if (isLast) break;
    at = behind + 1;
  }
  return reader.row === 0 ? undefined : { samples: reader.columns(), end };
}

function skipWhitespace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isJsonWhitespace(bytes[at])) at++;
  return at;
}

function isDigit(byte: number | undefined): byte is number {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

interface LastText {
  readonly bytes: Uint8Array;
  readonly id: number;
}

/** Reads sample by sample at `at`. A class whose fields are the state: it runs once for each byte of a body. */
class SampleReader {
  at = 0;
  /** The row under construction: as many are taken. */
  row = 0;
  readonly #bytes: Buffer;
  readonly #template: SampleTemplate;
  readonly #timestamps: Float64Array;
  readonly #deviceIds: Float64Array | undefined;
  readonly #columns: readonly Float64Array[];
  /** Where the value of each slot goes. */
  readonly #targets: readonly Float64Array[];
  readonly #topics: Float64Array;
  readonly #texts: string[] = [];
  readonly #ids = new Map<string, number>();
  readonly #lastTexts: (LastText | undefined)[];
  /** The date of the time before, as it is written, and its midnight. */
  readonly #lastDate = new Uint8Array(dateLength);
  #midnight: EpochMs | undefined;

  constructor(template: SampleTemplate, bytes: Buffer, max: number) {
    const { slots, columns } = template;
    this.#bytes = bytes;
    this.#template = template;
    this.#timestamps = new Float64Array(max);
    this.#topics = new Float64Array(1);
    const hasDevices = slots.some(({ role }) => role === 'deviceId');
    this.#deviceIds = hasDevices ? new Float64Array(max) : undefined;
    this.#columns = columns.map(() => new Float64Array(max));
    this.#targets = slots.map((slot) => this.#targetOf(slot));
    this.#lastTexts = slots.map(() => undefined);
  }

  #targetOf({ role, column }: Slot): Float64Array {
    if (role === 'timestamp') return this.#timestamps;
    if (role === 'deviceId' && this.#deviceIds !== undefined) return this.#deviceIds;
    return this.#columns[column] ?? new Float64Array(this.#timestamps.length);
  }

  /** True when the sample at `at` has the form; `at` is behind it then. */
  readSample(): boolean {
    const { slots, fixed } = this.#template;
    for (let i = 0; i < slots.length; i++)
      if (!this.#passFixed(fixed[i]!) || !this.#readSlot(slots[i]!, i)) return false;
    return this.#passFixed(fixed[slots.length]!);
  }

  /** Takes the row; false when it has another topic than the rows before. */
  take(): boolean {
    const topicSlot = this.#template.topicSlot;
    const topics = topicSlot < 0 ? this.#topics : this.#targets[topicSlot]!;
    if (topics[topicSlot < 0 ? 0 : this.row] !== topics[0]) return false;
    this.row++;
    return true;
  }

  columns(): SampleColumns {
    const length = this.row;
    const { topicSlot, example, columns } = this.#template;
    const topic = topicSlot < 0 ? undefined : this.#texts[this.#targets[topicSlot]![0]!];
    return {
      length,
      topic,
      example,
      timestamps: this.#timestamps.subarray(0, length),
      deviceIds: this.#deviceIds?.subarray(0, length),
      kinds: columns,
      columns: this.#columns.map((column) => column.subarray(0, length)),
      texts: this.#texts,
    };
  }

  #passFixed(fixed: Uint8Array): boolean {
    const bytes = this.#bytes;
    const { length } = fixed;
    let at = this.at;
    for (let i = 0; i < length; i++) if (bytes[at++] !== fixed[i]) return false;
    this.at = at;
    return true;
  }

  #readSlot({ role, kind }: Slot, slot: number): boolean {
    const target = this.#targets[slot]!;
    if (kind === 'number') {
      if (!this.#readNumber(target)) return false;
      return role !== 'timestamp' || Number.isInteger(target[this.row]);
    }
    if (kind === 'boolean') return this.#readBoolean(target);
    return role === 'timestamp' ? this.#readTime() : this.#readText(target, slot);
  }

  /** Up to 15 digits without exponent: an integer divided by a power of ten rounds as the parser does. */
  #readNumber(target: Float64Array): boolean {
    const bytes = this.#bytes;
    let at = this.at;
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
      return this.#readLongNumber(target);
    if (decimals > 0) value /= powersOfTen[decimals]!;
    // A difference, so that -0 becomes the 0 that the store makes of it.
    target[this.row] = isNegative ? 0 - value : value;
    this.at = at;
    return true;
  }

  #readLongNumber(target: Float64Array): boolean {
    const bytes = this.#bytes;
    let end = this.at;
    while (end < bytes.length && !endsToken(bytes[end])) end++;
    const text = bytes.toString('latin1', this.at, end);
    // The grammar of JSON: Number() takes more than that.
    if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return false;
    const value = Number(text);
    target[this.row] = value + 0;
    this.at = end;
    return Number.isFinite(value);
  }

  #readBoolean(target: Float64Array): boolean {
    const isTrue = this.#bytes[this.at] === 0x74;
    target[this.row] = Number(isTrue);
    return this.#passFixed(isTrue ? trueBytes : falseBytes);
  }

  #readText(target: Float64Array, slot: number): boolean {
    const bytes = this.#bytes;
    const from = this.at;
    const last = this.#lastTexts[slot];
    if (last !== undefined && this.#passFixed(last.bytes) && bytes[this.at] === quote) {
      target[this.row] = last.id;
      return true;
    }
    let end = from;
    let isPlain = true;
    for (; bytes[end] !== quote; end++) {
      const byte = bytes[end];
      if (byte === undefined || byte < 0x20) return false;
      if (byte === backslash) {
        isPlain = false;
        end++;
      }
    }
    this.at = end;
    const written = bytes.toString('utf8', from, end);
    const text = isPlain ? written : unescaped(written);
    if (text === undefined) return false;
    const id = this.#textId(text);
    target[this.row] = id;
    if (isPlain) this.#lastTexts[slot] = { bytes: bytes.subarray(from, end), id };
    return true;
  }

  #textId(text: string): number {
    let id = this.#ids.get(text);
    if (id === undefined) {
      id = this.#texts.push(text) - 1;
      this.#ids.set(text, id);
    }
    return id;
  }

  #readTime(): boolean {
    const bytes = this.#bytes;
    const from = this.at;
    let end = from;
    while (bytes[end] !== quote) {
      if (end === bytes.length || bytes[end] === backslash) return false;
      end++;
    }
    const time = end - from === ownFormLength ? timeOfDay(bytes, from) : undefined;
    if (time === undefined || this.#midnight === undefined || !this.#isLastDate(from))
      return this.#readOtherTime(end, time !== undefined);
    this.#timestamps[this.row] = this.#midnight + time;
    this.at = end;
    return true;
  }

  #isLastDate(from: number): boolean {
    const bytes = this.#bytes;
    const date = this.#lastDate;
    for (let i = 0; i < dateLength; i++) if (bytes[from + i] !== date[i]) return false;
    return true;
  }

  #readOtherTime(end: number, isOwnForm: boolean): boolean {
    const bytes = this.#bytes;
    const from = this.at;
    const time = parseInstant(bytes.toString('latin1', from, end));
    if (time === undefined) return false;
    if (isOwnForm) {
      this.#lastDate.set(bytes.subarray(from, from + dateLength));
      this.#midnight = Math.floor(time / dayMs) * dayMs;
    }
    this.#timestamps[this.row] = time;
    this.at = end;
    return true;
  }
}

const trueBytes = Buffer.from('true');
const falseBytes = Buffer.from('false');

function unescaped(text: string): string | undefined {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return undefined;
  }
}

/** `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
const ownFormLength = 24;
const dateLength = 10;

/** Milliseconds since midnight of a time in that form; undefined for another form or a time that does not exist. */
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

/** NaN when one of them is no digit. */
function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = bytes[at]! - 0x30;
  const ones = bytes[at + 1]! - 0x30;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}
