// Line reader: reads points of InfluxDB line protocol from a body. It knows nothing of devices.
import { isLongName, longNameReason } from '../../model/ids.ts';
import { type EpochMs, isInstant } from '../../model/instant.ts';
import { giveBack } from '../../structures/bytes.ts';

// Line values: numbers, flags and timestamps of InfluxDB line protocol, from their characters.

/** An integer that a number cannot hold exactly is a string. */
export type FieldValue = number | boolean | string;

const flags: ReadonlyMap<string, boolean> = new Map([
  ...['t', 'T', 'true', 'True', 'TRUE'].map((text) => [text, true] as const),
  ...['f', 'F', 'false', 'False', 'FALSE'].map((text) => [text, false] as const),
]);
const floatPattern = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const integerPattern = /^([+-]?\d+)([iu])$/;
/** Leading zeros included. */
const digitsMax = 100;
const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const uint64 = { min: 0n, max: 2n ** 64n - 1n };

/** The value of a field that is not a string; undefined when it is not valid. */
function fieldValueOf(text: string): FieldValue | undefined {
  if (floatPattern.test(text)) {
    const value = Number(text);
    return Number.isFinite(value) ? value : undefined;
  }
  const [, digits, kind] = integerPattern.exec(text) ?? [];
  if (digits === undefined) return flags.get(text);
  const value = Number(digits);
  if (Number.isSafeInteger(value) && (kind === 'i' || value >= 0)) return value + 0;
  // Reading a number of any length takes a time that grows faster than the length.
  if (digits.length > digitsMax) return undefined;
  const exact = BigInt(digits.startsWith('+') ? digits.slice(1) : digits);
  const { min, max } = kind === 'i' ? int64 : uint64;
  return exact < min || exact > max ? undefined : String(exact);
}

/** By precision: the milliseconds of a unit, or the digits to drop. */
const precisions: ReadonlyMap<string, { readonly drop: number; readonly ms: number }> = new Map([
  ['n', { drop: 6, ms: 1 }],
  ['ns', { drop: 6, ms: 1 }],
  ['u', { drop: 3, ms: 1 }],
  ['us', { drop: 3, ms: 1 }],
  ['µ', { drop: 3, ms: 1 }],
  ['ms', { drop: 0, ms: 1 }],
  ['s', { drop: 0, ms: 1_000 }],
  ['m', { drop: 0, ms: 60_000 }],
  ['h', { drop: 0, ms: 3_600_000 }],
]);

export type ReadTime = (text: string) => EpochMs | undefined;

const timePattern = /^-?\d{1,19}$/;

/** Reads timestamps of the precision; undefined for a precision that does not exist. */
export function timeReader(precision: string): ReadTime | undefined {
  const unit = precisions.get(precision);
  if (unit === undefined) return undefined;
  const { drop, ms } = unit;
  return (text) => {
    if (!timePattern.test(text)) return undefined;
    const value = drop === 0 ? Number(text) * ms : wholeUnits(text, drop);
    return isInstant(value) ? value + 0 : undefined;
  };
}

/** Without the last digits, rounded down. Times in nanoseconds have more digits than a number. */
function wholeUnits(text: string, drop: number): number {
  const whole = Number(text.slice(0, -drop));
  if (!text.startsWith('-')) return whole;
  const isRounded = /[1-9]/.test(text.slice(-drop));
  // Of a short one the sign is left, or nothing.
  return (Number.isNaN(whole) ? 0 : whole) - Number(isRounded);
}

/** One point; the reader fills the same object for every line. */
export interface Point {
  /** Measurement and tags as they were written: equal ones name the same series. */
  series: string;
  readonly keys: string[];
  readonly values: FieldValue[];
  /** Places of values that are strings because a number does not hold them exactly. */
  readonly inexact: number[];
  /** Without one it is ''. */
  timestamp: string;
}

/** What a series is called: a point repeats it, so that callers read it once. */
export interface Series {
  readonly measurement: string;
  readonly tags: ReadonlyMap<string, string>;
}

export interface LineFault {
  readonly reason: string;
}

export interface LineReader {
  /**
   * Reads the next line that is neither blank nor a comment into `point`. Undefined at the end of
   * the body; a fault for a line that is not valid, after which reading continues.
   */
  readonly next: () => Point | LineFault | undefined;
  /** Number of the line that was read last, from 1. A newline in a string counts. */
  readonly line: () => number;
  /** The line that was read last. */
  readonly text: () => string;
}

export function isFault<T extends object>(read: T | LineFault): read is LineFault {
  return 'reason' in read;
}

const tab = 0x09;
const newline = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const quote = 0x22;
const hash = 0x23;
const comma = 0x2c;
const equals = 0x3d;
const backslash = 0x5c;

const faults = {
  measurement: { reason: 'missing measurement' },
  tagKey: { reason: 'missing tag key' },
  tagValue: { reason: 'missing tag value' },
  tagFormat: { reason: 'invalid tag format' },
  tagTwice: { reason: 'duplicate tags' },
  fields: { reason: 'missing fields' },
  fieldKey: { reason: 'missing field key' },
  fieldValue: { reason: 'missing field value' },
  value: { reason: 'invalid field value' },
  quotes: { reason: 'unbalanced quotes' },
  timestamp: { reason: 'bad timestamp' },
} as const satisfies Record<string, LineFault>;

/** A blank between tokens. Servers accept NUL too. */
function isBlank(code: number): boolean {
  return code === space || code === tab || code === 0;
}

/** Decoded at once. V8 does not copy strings of this length when it collects garbage. */
const textBytesMin = 256 * 1024;

/**
 * The text of a body in parts that end behind a newline, but for the last one: the whole text of
 * many bodies would keep collections of garbage busy, and their bytes do not. The chunks must not be
 * used after they were read.
 */
export function* lineTexts(
  chunks: Iterable<Uint8Array>,
  bytesMin: number = textBytesMin,
): Generator<string> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for (const chunk of chunks) {
    held.push(chunk);
    bytes += chunk.length;
    const end = bytes < bytesMin ? 0 : chunk.lastIndexOf(newline) + 1;
    if (end === 0) continue;
    held[held.length - 1] = chunk.subarray(0, end);
    const rest = Uint8Array.from(chunk.subarray(end));
    yield textOf(held);
    giveBack(chunk);
    held = [rest];
    bytes = rest.length;
  }
  if (bytes > 0) yield textOf(held);
}

function textOf(chunks: readonly Uint8Array[]): string {
  return Buffer.concat(chunks).toString('utf8');
}

// A class, because the scan keeps its place between lines.
class Reader implements LineReader {
  readonly #texts: Iterator<string>;
  #text = '';
  readonly #point: Point = { series: '', keys: [], values: [], inexact: [], timestamp: '' };
  /** The next line begins here. */
  #at = 0;
  #start = 0;
  #end = 0;
  #line = 0;
  #linesOfLast = 1;
  /** The next quotation mark at or behind `#at`; most bodies have none. */
  #quote = 0;

  constructor(texts: Iterable<string>) {
    this.#texts = texts[Symbol.iterator]();
  }

  next = (): Point | LineFault | undefined => {
    while (this.#at < this.#text.length || this.#begin(this.#texts.next())) {
      this.#line += this.#linesOfLast;
      this.#linesOfLast = 1;
      let start = this.#at;
      while (isBlank(this.#text.charCodeAt(start))) start++;
      const isComment = this.#text.charCodeAt(start) === hash;
      let end = isComment ? placeOf(this.#text, '\n', start) : this.#lineEnd(start);
      this.#at = end + 1;
      while (end > start && isEnding(this.#text.charCodeAt(end - 1))) end--;
      if (isComment || start >= end) continue;
      this.#start = start;
      this.#end = end;
      return this.#read(start, end);
    }
    return undefined;
  };

  #begin({ done, value }: IteratorResult<string>): boolean {
    if (done === true) return false;
    this.#text = value;
    this.#at = 0;
    this.#quote = placeOf(value, '"', 0);
    return true;
  }

  /** Adds all that is left of the body; false when nothing is. */
  #addRest(): boolean {
    const rest: string[] = [];
    for (let next = this.#texts.next(); next.done !== true; next = this.#texts.next())
      rest.push(next.value);
    if (rest.length === 0) return false;
    this.#text += rest.join('');
    return true;
  }

  // The first line has number 1.
  line = (): number => this.#line;

  text = (): string => this.#text.slice(this.#start, this.#end);

  /** Strings contain newlines. They begin behind the first blank that no backslash precedes. */
  #lineEnd(start: number): number {
    const end = placeOf(this.#text, '\n', start);
    if (this.#quote < start) this.#quote = placeOf(this.#text, '"', start);
    return this.#quote > end ? end : this.#quotedLineEnd(start);
  }

  #quotedLineEnd(start: number): number {
    const text = this.#text;
    let isInFields = false;
    let isValue = false;
    for (let at = start; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === newline) return at;
      if (isValue && code === quote) {
        const close = nextUnescapedQuote(text, at + 1);
        // It may end in the next text, as far away as the end of the body.
        if (close < 0 && this.#addRest()) {
          this.#linesOfLast = 1;
          return this.#quotedLineEnd(start);
        }
        // Without an end the string does not take the lines that follow.
        if (close < 0) return placeOf(text, '\n', start);
        for (let i = placeOf(text, '\n', at); i < close; i = placeOf(text, '\n', i + 1))
          this.#linesOfLast++;
        at = close;
      } else if (code === backslash && text.charCodeAt(at + 1) !== newline) at++;
      else if (isBlank(code)) isInFields = true;
      isValue = isInFields && code === equals;
    }
    return text.length;
  }

  #read(start: number, end: number): Point | LineFault {
    const point = this.#point;
    const seriesEnd = unescapedBlank(this.#text, start, end);
    point.series = this.#text.slice(start, seriesEnd);
    if (this.#text.charCodeAt(start) === comma) return faults.measurement;
    let at = seriesEnd;
    while (at < end && isBlank(this.#text.charCodeAt(at))) at++;
    if (at === end) return faults.fields;
    const after = this.#readFields(at, end);
    if (typeof after !== 'number') return after;
    at = after;
    while (at < end && isBlank(this.#text.charCodeAt(at))) at++;
    point.timestamp = this.#text.slice(at, end);
    return point;
  }

  /** Where the fields end, or a fault. */
  #readFields(from: number, end: number): number | LineFault {
    const { keys, values, inexact } = this.#point;
    const text = this.#text;
    keys.length = 0;
    values.length = 0;
    inexact.length = 0;
    for (let at = from; ; at++) {
      const keyEnd = unescapedEquals(text, at, end);
      if (keyEnd < 0) return at < end && keys.length === 0 ? faults.fieldValue : faults.fieldKey;
      if (keyEnd === at) return faults.fieldKey;
      keys.push(unescaped(text.slice(at, keyEnd)));
      at = keyEnd + 1;
      const isText = text.charCodeAt(at) === quote;
      const valueEnd = isText ? closingQuote(text, at + 1, end) + 1 : tokenEnd(text, at, end);
      if (valueEnd === 0) return faults.quotes;
      if (valueEnd === at) return faults.fieldValue;
      const value = isText
        ? unquoted(text.slice(at + 1, valueEnd - 1))
        : fieldValueOf(text.slice(at, valueEnd));
      if (value === undefined) return faults.value;
      if (!isText && typeof value === 'string') inexact.push(values.length);
      values.push(value);
      at = valueEnd;
      if (at === end || isBlank(text.charCodeAt(at))) return at;
      if (text.charCodeAt(at) !== comma) return faults.value;
    }
  }
}

/** Reads the texts one after the other; each but the last one must end behind a newline. A single string is refused, because it iterates over its characters. */
export function createLineReader(texts: Iterable<string> & object): LineReader {
  return new Reader(texts);
}

export const timestampFault: LineFault = faults.timestamp;

/** The names of a series. A name that is too long is a fault. */
export function seriesOf(text: string): Series | LineFault {
  const parts = splitUnescaped(text, ',');
  const measurement = parts[0]?.replaceAll(/\\([, ])/g, '$1') ?? '';
  if (isLongName(measurement)) return longName('the measurement', measurement);
  const tags = new Map<string, string>();
  for (const part of parts.slice(1)) {
    const [key = '', value, ...more] = splitUnescaped(part, '=');
    if (key === '') return faults.tagKey;
    if (value === undefined || value === '') return faults.tagValue;
    if (more.length > 0) return faults.tagFormat;
    const name = unescaped(key);
    if (isLongName(name)) return longName('a tag key', name);
    if (tags.has(name)) return faults.tagTwice;
    const tag = unescaped(value);
    if (isLongName(tag)) return longName(`the tag ${name.slice(0, nameShownMax)}`, tag);
    tags.set(name, tag);
  }
  return { measurement, tags };
}

const nameShownMax = 40;

function longName(member: string, name: string): LineFault {
  return { reason: longNameReason(member, name) };
}

/** The parts between separators that no backslash precedes. */
function splitUnescaped(text: string, separator: string): string[] {
  if (!text.includes('\\')) return text.split(separator);
  const parts: string[] = [];
  let start = 0;
  for (let at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, at + 1)) {
    if (text.charCodeAt(at - 1) === backslash) continue;
    parts.push(text.slice(start, at));
    start = at + 1;
  }
  parts.push(text.slice(start));
  return parts;
}

/** Of tag keys, tag values and field keys. Elsewhere a backslash is itself. */
function unescaped(text: string): string {
  return text.includes('\\') ? text.replaceAll(/\\([,= ])/g, '$1') : text;
}

function unquoted(text: string): string {
  return text.includes('\\') ? text.replaceAll(/\\(["\\])/g, '$1') : text;
}

/** The end of the text when it is not in there. */
function placeOf(text: string, found: string, from: number): number {
  const at = text.indexOf(found, from);
  return at < 0 ? text.length : at;
}

function unescapedBlank(text: string, from: number, end: number): number {
  for (let at = from; at < end; at++) {
    const code = text.charCodeAt(at);
    if (isBlank(code) && text.charCodeAt(at - 1) !== backslash) return at;
  }
  return end;
}

/** -1 when a blank, a comma or the end comes first. */
function unescapedEquals(text: string, from: number, end: number): number {
  for (let at = from; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code !== equals && code !== comma && !isBlank(code)) continue;
    if (at > from && text.charCodeAt(at - 1) === backslash) continue;
    return code === equals ? at : -1;
  }
  return -1;
}

/** As `closingQuote` up to the end of the text, which may be megabytes away. */
function nextUnescapedQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let start = at;
    while (start > from && text.charCodeAt(start - 1) === backslash) start--;
    if ((at - start) % 2 === 0) return at;
  }
  return -1;
}

/** -1 without one. */
function closingQuote(text: string, from: number, end: number): number {
  for (let at = from; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === backslash) at++;
    else if (code === quote) return at;
  }
  return -1;
}

function tokenEnd(text: string, from: number, end: number): number {
  let at = from;
  for (; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === comma || isBlank(code)) return at;
  }
  return at;
}

/** Blanks behind the last token, and the carriage return of some senders. */
function isEnding(code: number): boolean {
  return isBlank(code) || code === carriageReturn;
}
