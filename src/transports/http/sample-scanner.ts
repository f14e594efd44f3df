// Sample scanner: reads samples of one form from bytes into columns, without an object for each.
import { dayMs, type EpochMs, parseInstant } from '../../model/instant.ts';
import { isEpochMs } from '../../model/timestamp.ts';
import {
  isJsonObject,
  isJsonWhitespace,
  type Json,
  jsonBytes,
  type JsonObject,
} from '../../model/json.ts';
import { missing } from '../../structures/missing.ts';
import { ByteCursor, FixedBytes, type SlotReader, StringSlot, StringTable } from './string-slot.ts';
import type { JsonGroupLimits } from './json-groups.ts';
import { parsedJson } from '../../model/json-keys.ts';

// Sample template: the form of the samples of a body, learned from one: fixed bytes with slots for values.

/** What a slot has: the time of the sample, its topic or device, or a value of its data. */
type SlotRole = 'timestamp' | 'topic' | 'deviceId' | 'data';
type SlotKind = 'number' | 'boolean' | 'text';

interface Slot {
  readonly role: SlotRole;
  readonly kind: SlotKind;
  /** Place among the slots of the data, in the order of their keys; -1 for the others. */
  readonly column: number;
  /** The fixed bytes between the slot before and this one, with the opening quote of a string. */
  readonly before: FixedBytes;
}

interface SampleTemplate {
  readonly slots: readonly Slot[];
  /** The fixed bytes behind the last slot. */
  readonly after: FixedBytes;
  /** No sample is shorter. */
  readonly bytesMin: number;
  /** The data of the sample that it was learned from. */
  readonly example: JsonObject;
  readonly columns: readonly SlotKind[];
}

const {
  quote: quoteByte,
  comma: commaByte,
  backslash: backslashByte,
  openBracket,
  openBrace,
  closeBrace,
} = jsonBytes;
const colon = 0x3a;
/** Samples with more values than this go the general way. */
const slotsMax = 64;
/** Deeper samples too: the parser has a limit for them. */
const levelsMax = 6;
const members: ReadonlySet<string> = new Set(['data', 'timestamp', 'topic', 'deviceId']);

/**
 * Learns from the sample that begins at `from`. Undefined when it does not end in the bytes, is not a
 * valid sample, or has what only the parser reads: arrays, nulls, escapes in keys, a key twice,
 * further members, or keys whose order an object changes.
 */
function learnTemplate(bytes: Buffer, from: number): SampleTemplate | undefined {
  const parts = readParts(bytes, from);
  if (parts === undefined) return undefined;
  const sample = parsed(bytes.toString('utf8', from, parts.end));
  if (sample === undefined || !isJsonObject(sample['data'])) return undefined;
  const slots: Slot[] = [];
  const columns: SlotKind[] = [];
  for (const { path, kind, before } of parts.slots) {
    const role = roleOf(path, kind);
    if (role === undefined) return undefined;
    slots.push({ role, kind, column: role === 'data' ? columns.push(kind) - 1 : -1, before });
  }
  const isComplete =
    leafCount(sample) === slots.length &&
    slots.some(({ role }) => role === 'timestamp') &&
    Object.keys(sample).every((member) => members.has(member));
  if (!isComplete || columns.length === 0 || slots.length > slotsMax) return undefined;
  const { after } = parts;
  const bytesMin = slots.reduce((sum, { before }) => sum + before.length, after.length);
  return { slots, after, bytesMin, example: sample['data'], columns };
}

function roleOf(path: readonly string[], kind: SlotKind): SlotRole | undefined {
  const [member] = path;
  if (member === 'data') return path.length > 1 ? 'data' : undefined;
  if (path.length > 1) return undefined;
  if (member === 'timestamp') return kind === 'boolean' ? undefined : 'timestamp';
  if (member === 'topic' || member === 'deviceId') return kind === 'text' ? member : undefined;
  return undefined;
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value = parsedJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Fewer than the slots when a key occurs twice: the object keeps one of them. */
function leafCount(value: Json): number {
  if (!isJsonObject(value)) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + leafCount(inner), 0);
}

interface SampleParts {
  readonly slots: {
    readonly kind: SlotKind;
    readonly before: FixedBytes;
    readonly path: readonly string[];
  }[];
  readonly after: FixedBytes;
  readonly end: number;
}

/** Finds the values. Whether it is JSON, the parser says afterwards. */
function readParts(bytes: Buffer, from: number): SampleParts | undefined {
  const slots: SampleParts['slots'] = [];
  const path: string[] = [];
  let key: string | undefined;
  let fixedFrom = from;
  let at = from;

  function endFixed(to: number, kind: SlotKind): void {
    slots.push({
      path: [...path, key ?? ''],
      kind,
      before: new FixedBytes(bytes.subarray(fixedFrom, to)),
    });
    key = undefined;
  }

  for (let depth = 0; at < bytes.length; ) {
    const byte = bytes[at]!;
    if (byte === openBrace) {
      if (depth === levelsMax) return undefined;
      if (depth++ > 0) path.push(key ?? '');
      key = undefined;
      at++;
    } else if (byte === closeBrace) {
      at++;
      if (--depth === 0)
        return { slots, after: new FixedBytes(bytes.subarray(fixedFrom, at)), end: at };
      path.pop();
    } else if (byte === commaByte || byte === colon || isJsonWhitespace(byte)) at++;
    else if (byte === openBracket || depth === 0) return undefined;
    else if (byte === quoteByte) {
      const end = endOfText(bytes, at + 1);
      if (end === undefined) return undefined;
      if (key === undefined) {
        key = plainKey(bytes, at + 1, end);
        if (key === undefined) return undefined;
      } else {
        endFixed(at + 1, 'text');
        fixedFrom = end;
      }
      at = end + 1;
    } else {
      const kind = kindOfToken(byte);
      if (kind === undefined || key === undefined) return undefined;
      endFixed(at, kind);
      while (at < bytes.length && !endsToken(bytes[at])) at++;
      fixedFrom = at;
    }
  }
  return undefined;
}

/** Offset of the quote that ends the string; undefined when it is not in the bytes. */
function endOfText(bytes: Uint8Array, from: number): number | undefined {
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] === quoteByte) return at;
    if (bytes[at] === backslashByte) at++;
  }
  return undefined;
}

/** Undefined for a key with escapes, and for one that an object reorders. */
function plainKey(bytes: Buffer, from: number, to: number): string | undefined {
  const text = bytes.toString('utf8', from, to);
  return text.includes('\\') || text === '__proto__' || /^\d+$/.test(text) ? undefined : text;
}

function kindOfToken(byte: number): SlotKind | undefined {
  if (byte === 0x74 || byte === 0x66) return 'boolean';
  return byte === 0x2d || (byte >= 0x30 && byte <= 0x39) ? 'number' : undefined;
}

/** Whether a number or a word ends before the byte. */
function endsToken(byte: number | undefined): boolean {
  return byte === commaByte || byte === closeBrace || byte === 0x5d || isJsonWhitespace(byte);
}

// Time slots: the times of samples that are written as strings.

const { quote, backslash } = jsonBytes;
/** `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
const ownFormLength = 24;
const dateLength = 10;

/** A time on the same date as the one before is computed without the parser. */
class TimeSlot implements SlotReader {
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

// Number slots: JSON numbers and booleans of a column, read from bytes without a string for each.

/** A number with more digits is read by `Number`, which rounds it correctly. */
const digitsMax = 15;
const powersOfTen = Float64Array.from({ length: digitsMax + 1 }, (_, i) => 10 ** i);

/** With `isTime`, only epoch milliseconds are taken. */
class NumberSlot implements SlotReader {
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
class BooleanSlot implements SlotReader {
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
  /** Where the samples were written; undefined unless asked for. */
  readonly written?: WrittenSamples;
}

/** Elements or lines with what separates them. */
export interface WrittenSamples {
  readonly form: BodyForm;
  readonly bytes: Buffer;
}

interface ScannedSamples {
  readonly samples: SampleColumns;
  /** Offset behind the separator of the last sample, or of the bracket that ends the array. */
  readonly end: number;
  /** Lines that ended, or elements. */
  readonly lines: number;
  /** Whether the array or the body ends at `end`. */
  readonly isLast: boolean;
  /** Whether a group of parsed elements that begins there has the same elements. */
  readonly isWhole: boolean;
}

/** The elements of an array, or one on each line. */
export type BodyForm = 'array' | 'lines';

const { comma, closeBracket, newline } = jsonBytes;
/** Forms that are learned from one body: a body of ever new forms goes the general way. */
const templatesMax = 16;

/** For one body: it keeps the form of the samples before. */
export class SampleScanner {
  readonly #form: BodyForm;
  readonly #limits: JsonGroupLimits;
  #template: SampleTemplate | undefined;
  #learned = 0;

  constructor(form: BodyForm, limits: JsonGroupLimits) {
    this.#form = form;
    this.#limits = limits;
  }

  /**
   * Reads samples from `from` on, as many as a group has, up to the first that differs, is
   * incomplete or has no separator behind it; the parser reads the rest. `isEnded` when no bytes
   * follow: then the last line needs no separator. Undefined without any sample.
   */
  scan(bytes: Buffer, from: number, isEnded: boolean): ScannedSamples | undefined {
    const context = { form: this.#form, limits: this.#limits, from, isEnded };
    const found =
      this.#template === undefined ? undefined : scanWith(this.#template, bytes, context);
    if (found !== undefined || this.#learned >= templatesMax) return found;
    const fresh = learnTemplate(...firstElement(bytes, from, this.#form));
    if (fresh === undefined) return undefined;
    this.#learned++;
    this.#template = fresh;
    return scanWith(fresh, bytes, context);
  }
}

/** The bytes that have the first element, and where it begins; a line has no newline within. */
function firstElement(bytes: Buffer, from: number, form: BodyForm): [Buffer, number] {
  let at = from;
  while (isJsonWhitespace(bytes[at])) at++;
  const end = form === 'lines' ? bytes.indexOf(newline, at) : -1;
  return [end < 0 ? bytes : bytes.subarray(0, end), at];
}

/** A group ends where one of parsed elements does, unless the samples of the form end before. */
function scanWith(
  template: SampleTemplate,
  bytes: Buffer,
  {
    form,
    limits,
    from,
    isEnded,
  }: {
    readonly form: BodyForm;
    readonly limits: JsonGroupLimits;
    readonly from: number;
    readonly isEnded: boolean;
  },
): ScannedSamples | undefined {
  const { groupElementsMax, groupBytes, elementBytesMax } = limits;
  const isLines = form === 'lines';
  const rowsMax = Math.min(groupElementsMax, Math.ceil((bytes.length - from) / template.bytesMin));
  const reader = new SampleReader(template, bytes, rowsMax);
  let at = from;
  let lines = 0;
  let isLast = false;
  while (reader.row < rowsMax && lines < groupElementsMax && at - from < groupBytes && !isLast) {
    const start = skipWhitespace(bytes, at, isLines);
    const isBlank = isLines && bytes[start] === newline;
    if (!isBlank && !reader.readSample(start)) break;
    const behind = isBlank ? start : skipWhitespace(bytes, reader.end, isLines);
    if (behind - at > elementBytesMax) break;
    isLast = isLines ? isEnded && behind === bytes.length : bytes[behind] === closeBracket;
    const isSeparated = isLast || bytes[behind] === (isLines ? newline : comma);
    if (!isSeparated || (!isBlank && !reader.take())) {
      isLast = false;
      break;
    }
    at = isLast ? behind : behind + 1;
    lines++;
  }
  if (reader.row === 0) return undefined;
  isLast ||= isLines && isEnded && at === bytes.length;
  const isWhole = isLast || lines === groupElementsMax || at - from >= groupBytes;
  return { samples: reader.columns(), end: at, lines, isLast, isWhole };
}

function skipWhitespace(bytes: Uint8Array, from: number, isLines: boolean): number {
  let at = from;
  while (isJsonWhitespace(bytes[at]) && !(isLines && bytes[at] === newline)) at++;
  return at;
}

/**
 * Reads sample after sample. A class whose fields are the state, because it runs once per byte of a
 * body.
 */
class SampleReader {
  /** The row under construction: as many are taken. */
  row = 0;
  readonly #template: SampleTemplate;
  readonly #cursor: ByteCursor;
  readonly #slots: readonly { readonly before: FixedBytes; readonly reader: SlotReader }[];
  readonly #timestamps: Float64Array;
  readonly #deviceIds: Float64Array | undefined;
  readonly #topics: Float64Array | undefined;
  readonly #columns: readonly Float64Array[];
  readonly #table = new StringTable();

  constructor(template: SampleTemplate, bytes: Buffer, max: number) {
    const { slots, columns } = template;
    // One piece of memory: each is registered with the collector of garbage.
    const memory = new Float64Array(slots.length * max);
    let taken = 0;
    const column = (): Float64Array => memory.subarray(taken, (taken += max));
    const ofRole = (role: Slot['role']): Float64Array | undefined =>
      slots.some((slot) => slot.role === role) ? column() : undefined;
    this.#template = template;
    this.#cursor = new ByteCursor(bytes);
    this.#timestamps = column();
    this.#deviceIds = ofRole('deviceId');
    this.#topics = ofRole('topic');
    this.#columns = columns.map(column);
    this.#slots = slots.map((slot) => ({
      before: slot.before,
      reader: this.#readerOf(slot, this.#targetOf(slot)),
    }));
  }

  #targetOf({ role, column }: Slot): Float64Array {
    const target = {
      timestamp: this.#timestamps,
      deviceId: this.#deviceIds,
      topic: this.#topics,
      data: this.#columns[column],
    }[role];
    return target ?? missing('column');
  }

  #readerOf({ role, kind }: Slot, target: Float64Array): SlotReader {
    const isTime = role === 'timestamp';
    if (kind === 'number') return new NumberSlot(target, isTime);
    if (isTime) return new TimeSlot(target);
    return kind === 'boolean' ? new BooleanSlot(target) : new StringSlot(target, this.#table);
  }

  /** Offset behind the sample that was read. */
  get end(): number {
    return this.#cursor.at;
  }

  /** True when the sample at `from` has the form; `end` is behind it then. */
  readSample(from: number): boolean {
    const cursor = this.#cursor;
    cursor.at = from;
    for (const { before, reader } of this.#slots)
      if (!cursor.skip(before) || !reader.read(cursor, this.row)) return false;
    return cursor.skip(this.#template.after);
  }

  /** Takes the row; false when it has another topic than the rows before. */
  take(): boolean {
    const topics = this.#topics;
    if (topics !== undefined && topics[this.row] !== topics[0]) return false;
    this.row++;
    return true;
  }

  columns(): SampleColumns {
    const length = this.row;
    const { example, columns } = this.#template;
    const topic = this.#topics?.[0];
    return {
      length,
      topic: topic === undefined ? undefined : this.#table.strings[topic],
      example,
      timestamps: this.#timestamps.subarray(0, length),
      deviceIds: this.#deviceIds?.subarray(0, length),
      kinds: columns,
      columns: this.#columns.map((column) => column.subarray(0, length)),
      texts: this.#table.strings,
    };
  }
}
