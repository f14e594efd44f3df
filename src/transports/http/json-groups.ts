// JSON groups: the limits and the error of readers that parse a body of many values while it arrives.
import { parseReadings } from '../../model/json-keys.ts';
import { isJsonWhitespace, type Json, jsonBytes } from '../../model/json.ts';
import { largeWorkLimits } from '../large-work.ts';
import { atOnce, type InTurn } from '../../structures/turns.ts';

export interface JsonGroupLimits {
  /** A group ends with the element that makes it this long, or this many. */
  readonly groupBytes: number;
  readonly groupElementsMax: number;
  /** A longer element breaks the body. */
  readonly elementBytesMax: number;
  /** Levels of nesting. The array around the elements is the first, also in NDJSON. */
  readonly depthMax: number;
}

export const jsonGroupLimits: JsonGroupLimits = {
  groupBytes: 256 * 1024,
  groupElementsMax: 1_000,
  elementBytesMax: 1024 * 1024,
  depthMax: 64,
};

/** Some clients send it before a body. */
export const byteOrderMark: readonly number[] = [0xef, 0xbb, 0xbf];

interface BrokenPlace {
  /** Number of the element, from 0. */
  readonly index: number;
  /** Position in the body, in bytes from 0, as exact as the parser reports it. */
  readonly byte: number;
  /** Number of the line, from 1, where elements are lines. */
  readonly line?: number;
}

/**
 * The bytes are not valid or exceed the limits. The elements before the place were returned
 * already.
 */
export class BrokenJson extends Error {
  override readonly name = 'BrokenJson';
  readonly place: BrokenPlace;

  constructor(reason: string, place: BrokenPlace) {
    super(reason);
    this.place = place;
  }
}

/**
 * The reason of a message of JSON.parse, and the number of bytes before the fault in the element.
 */
function parseFault(
  message: string,
  text: string,
): { readonly reason: string; readonly offset: number } {
  const reason = message.replace(/ (?:in|after) JSON at position .*$/s, '');
  const parsed = / (?:in|after) JSON at position (\d+)/.exec(message);
  if (parsed === null) return { reason, offset: text.length - text.trimStart().length };
  return { reason, offset: Buffer.byteLength(text.slice(0, Number(parsed[1]))) };
}

// NDJSON reader: parses groups of lines while they arrive. Memory contains one group.

/**
 * The values of the lines in order, group by group, none of them empty. Blank lines are ignored.
 * The next chunk is requested when the lines before it were taken. Groups depend on the bytes only,
 * not on the chunks. Throws BrokenJson at the first line that is not valid, after the values before
 * it.
 */
export async function* jsonLineGroups(
  chunks: AsyncIterable<Uint8Array>,
  limits: JsonGroupLimits = jsonGroupLimits,
  start: LinesStart = { index: 0, byte: 0, line: 0 },
  inTurn: InTurn = atOnce,
): AsyncGenerator<readonly Json[]> {
  yield* readGroups(new LineReader(limits, start), chunks, inTurn);
}

/** In slices, but for a short body. */
async function* readGroups(
  reader: {
    /** Bytes that it holds and has not given out. */
    readonly heldBytes: number;
    add(chunk: Uint8Array): void;
    /** The next group; undefined when more bytes are needed. */
    next(): Json[] | undefined;
    /** The next group of a body that has ended; undefined when nothing is left. */
    end(): Json[] | undefined;
  },
  chunks: AsyncIterable<Uint8Array>,
  inTurn: InTurn,
): AsyncGenerator<readonly Json[]> {
  async function* groups(read: () => Json[] | undefined): AsyncGenerator<readonly Json[]> {
    for (;;) {
      const isLong = reader.heldBytes > largeWorkLimits.bytesMin;
      const group = isLong ? await inTurn(read) : read();
      if (group === undefined) return;
      if (group.length > 0) yield group;
    }
  }
  for await (const chunk of chunks) {
    reader.add(chunk);
    yield* groups(() => reader.next());
  }
  yield* groups(() => reader.end());
}

/** Where the lines are in their body: the values, bytes and lines before them. */
interface LinesStart {
  readonly index: number;
  readonly byte: number;
  readonly line: number;
}

const newline = 0x0a;
const byteOrderMarkLength = byteOrderMark.length;

// A class, because the scan keeps its place between chunks.
class LineReader {
  readonly #limits: JsonGroupLimits;
  #held: Buffer = Buffer.alloc(0);
  /** Bytes of the body before those held. */
  #dropped = 0;
  /** The scan continues here. */
  #at = 0;
  #groupStart = 0;
  #lineStart = 0;
  /** Ended lines of the group, blank ones included. */
  #inGroup = 0;
  /** Lines and values before the group. */
  #linesBefore = 0;
  #given = 0;
  /** Thrown after the values before it were returned. */
  #broken: BrokenJson | undefined;
  #ended = false;

  constructor(limits: JsonGroupLimits, { index, byte, line }: LinesStart) {
    this.#limits = limits;
    this.#given = index;
    this.#dropped = byte;
    this.#linesBefore = line;
  }

  get heldBytes(): number {
    return this.#held.length - this.#groupStart;
  }

  add(chunk: Uint8Array): void {
    const start = this.#groupStart;
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (start !== this.#held.length) bytes = Buffer.concat([this.#held.subarray(start), bytes]);
    this.#held = bytes;
    this.#dropped += start;
    this.#at -= start;
    this.#lineStart -= start;
    this.#groupStart = 0;
  }

  /** The next complete group; undefined when more bytes are needed. */
  next(): Json[] | undefined {
    if (this.#broken !== undefined) throw this.#broken;
    const { groupElementsMax, groupBytes } = this.#limits;
    while (this.#at < this.#held.length) {
      const found = this.#held.indexOf(newline, this.#at);
      this.#at = found < 0 ? this.#held.length : found + 1;
      if (this.#isTooLong(found)) return this.#breakOff();
      if (found < 0) return undefined;
      this.#inGroup++;
      this.#lineStart = this.#at;
      if (this.#inGroup >= groupElementsMax || this.#at - this.#groupStart >= groupBytes)
        return this.#takeGroup(this.#at);
    }
    return undefined;
  }

  /** Call it after the last byte until it returns undefined. */
  end(): Json[] | undefined {
    if (this.#broken !== undefined) throw this.#broken;
    if (this.#ended) return undefined;
    this.#ended = true;
    return this.#takeGroup(this.#held.length);
  }

  /**
   * Whether the line, which ends at `end` or has no end yet (-1), is longer than an element may be.
   */
  #isTooLong(end: number): boolean {
    const to = end < 0 ? this.#held.length : end;
    return to - this.#lineStart > this.#limits.elementBytesMax;
  }

  /** Returns the lines before the one that is too long. */
  #breakOff(): Json[] {
    const place = {
      line: this.#linesBefore + this.#inGroup,
      byte: this.#dropped + this.#lineStart,
    };
    const lines = this.#takeGroup(this.#lineStart);
    this.#broken ??= new BrokenJson(`it is longer than ${this.#limits.elementBytesMax} bytes`, {
      index: this.#given,
      byte: place.byte,
      line: place.line + 1,
    });
    return lines;
  }

  /**
   * Parses the lines from the group's start to `end`. Those before a line that is not valid are
   * returned.
   */
  #takeGroup(end: number): Json[] {
    const values: Json[] = [];
    const isStart = this.#dropped + this.#groupStart === 0;
    // A byte order mark is permitted at the start of the body.
    let text = this.#held.toString('utf8', this.#groupStart, end);
    const isMarked = isStart && text.startsWith('\ufeff');
    if (isMarked) text = text.slice(1);
    for (const [i, line] of text.split('\n').entries()) {
      const value = this.#valueOf(line);
      if (value instanceof Error) {
        const marked = isMarked && i === 0 ? byteOrderMarkLength : 0;
        this.#broken = this.#brokenAt(
          i,
          this.#given + values.length,
          parsedAs(value, line, marked),
        );
        break;
      }
      if (value !== undefined) values.push(value);
    }
    this.#given += values.length;
    this.#linesBefore += this.#inGroup;
    this.#inGroup = 0;
    this.#groupStart = end;
    return values;
  }

  /** Undefined for a blank line; the error of a line that is not valid. */
  #valueOf(line: string): Json | undefined | Error {
    if (isBlank(line)) return undefined;
    const levels = this.#limits.depthMax - 1;
    try {
      const value = parseReadings(line);
      // A shorter line cannot open and close this number of levels.
      if (line.length > 2 * levels && nestsDeeper(value, levels))
        return new Error(`it nests deeper than ${this.#limits.depthMax} levels`);
      return value;
    } catch (error) {
      return error as Error;
    }
  }

  #brokenAt(
    lineInGroup: number,
    index: number,
    { reason, offset }: ReturnType<typeof parseFault>,
  ): BrokenJson {
    let start = this.#groupStart;
    for (let i = 0; i < lineInGroup; i++) start = this.#held.indexOf(newline, start) + 1;
    const byte = this.#dropped + start + offset;
    return new BrokenJson(reason, { index, byte, line: this.#linesBefore + lineInGroup + 1 });
  }
}

function parsedAs(error: Error, line: string, bytesBefore: number): ReturnType<typeof parseFault> {
  const { reason, offset } = parseFault(error.message, line);
  return { reason, offset: offset + bytesBefore };
}

/** Contains only what JSON permits between tokens. */
function isBlank(line: string): boolean {
  return /^[ \t\r]*$/.test(line);
}

/** Stops at the first place that is too deep, so that the recursion has a limit. */
function nestsDeeper(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((each) => nestsDeeper(each, levels - 1));
}

// JSON array reader: cuts the bytes between elements as they arrive, and parses groups of elements.
// Only one group is in memory. The reader finds brackets and strings; the JSON parser validates
// each group.

/**
 * The elements of the array in order, group by group, none of them empty. The next chunk is asked
 * for when the elements before it were taken. Throws BrokenJson at the first place that breaks the
 * array, after the elements before it.
 */
export async function* jsonArrayGroups(
  chunks: AsyncIterable<Uint8Array>,
  limits: JsonGroupLimits = jsonGroupLimits,
  start: ArrayStart = { index: 0, byte: 0 },
  inTurn: InTurn = atOnce,
): AsyncGenerator<readonly Json[]> {
  yield* readGroups(new ArrayReader(limits, start), chunks, inTurn);
}

/** Where the array is in its body: the number of its first element, and of its first byte. */
interface ArrayStart {
  readonly index: number;
  readonly byte: number;
}

const { quote, comma, backslash, openBracket, closeBracket, openBrace, closeBrace } = jsonBytes;

// A class, because the scan keeps its place between chunks.
class ArrayReader {
  readonly #limits: JsonGroupLimits;
  #held: Buffer = Buffer.alloc(0);
  /** Bytes of the body before those held. */
  #dropped = 0;
  /** The scan goes on here. */
  #at = 0;
  #groupStart = 0;
  #elementStart = 0;
  /** Elements given out, and ended elements of the group. */
  #given = 0;
  #inGroup = 0;
  /** 0 before the array and after it. */
  #depth = 0;
  #inString = false;
  #escaped = false;
  #ended = false;
  /** Found behind elements that are given out first. */
  #broken: BrokenJson | undefined;

  constructor(limits: JsonGroupLimits, { index, byte }: ArrayStart) {
    this.#limits = limits;
    this.#given = index;
    this.#dropped = byte;
  }

  get heldBytes(): number {
    return this.#held.length - this.#groupStart;
  }

  add(chunk: Uint8Array): void {
    const start = this.#groupStart;
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (start !== this.#held.length) bytes = Buffer.concat([this.#held.subarray(start), bytes]);
    this.#held = bytes;
    this.#dropped += start;
    this.#at -= start;
    this.#elementStart -= start;
    this.#groupStart = 0;
  }

  /** The next group that is whole; undefined when more bytes are needed. */
  next(): Json[] | undefined {
    if (this.#broken !== undefined) throw this.#broken;
    if (this.#depth === 0 && !this.#findStart()) return undefined;
    const group = this.#scan();
    if (group !== undefined) return group;
    if (this.#ended) this.#findStart();
    else if (this.#held.length - this.#elementStart > this.#limits.elementBytesMax)
      return this.#breakOff(
        `it is longer than ${this.#limits.elementBytesMax} bytes`,
        this.#elementStart,
      );
    return undefined;
  }

  /** To be called when there are no more bytes, until it has no more elements to give. */
  end(): Json[] | undefined {
    if (this.#broken !== undefined) throw this.#broken;
    if (this.#ended) return undefined;
    if (this.#depth === 0) return this.#breakOff('expected an array', this.#held.length);
    return this.#breakOff('the array is not terminated', this.#held.length);
  }

  /** Passes over what may stand before and after the array; whether the scan is inside it now. */
  #findStart(): boolean {
    while (this.#at < this.#held.length) {
      const byte = this.#held[this.#at]!;
      const place = this.#dropped + this.#at;
      if (byte === openBracket && !this.#ended) {
        this.#depth = 1;
        this.#at++;
        this.#groupStart = this.#at;
        this.#elementStart = this.#at;
        return true;
      }
      const passed =
        isJsonWhitespace(byte) || (place < byteOrderMark.length && byte === byteOrderMark[place]);
      if (!passed)
        throw this.#error(
          this.#ended ? 'unexpected data after the array' : 'it must be a JSON array',
          this.#at,
        );
      this.#at++;
    }
    this.#groupStart = this.#held.length;
    this.#elementStart = this.#held.length;
    return false;
  }

  /** Scans on to the end of a group or of what is held. */
  #scan(): Json[] | undefined {
    const held = this.#held;
    const { depthMax, groupElementsMax, groupBytes } = this.#limits;
    let depth = this.#depth;
    let at = this.#at;
    while (at < held.length) {
      if (this.#inString) {
        at = this.#passString(at);
        continue;
      }
      const byte = held[at++]!;
      if (byte === quote) this.#inString = true;
      else if (byte === openBrace || byte === openBracket) {
        if (++depth > depthMax)
          return this.#breakOff(`it nests deeper than ${depthMax} levels`, at - 1);
      } else if (byte === closeBrace || byte === closeBracket) {
        if (--depth === 0) return this.#endArray(at, byte);
      } else if (byte === comma && depth === 1) {
        this.#inGroup++;
        this.#elementStart = at;
        if (this.#inGroup < groupElementsMax && at - this.#groupStart < groupBytes) continue;
        this.#depth = depth;
        this.#at = at;
        return this.#takeGroup(at - 1);
      }
    }
    this.#depth = depth;
    this.#at = at;
    return undefined;
  }

  /** The place behind the string, or behind what is held of it. */
  #passString(from: number): number {
    const held = this.#held;
    let at = from;
    if (this.#escaped) {
      this.#escaped = false;
      at++;
    }
    while (at < held.length) {
      const byte = held[at++]!;
      if (byte === quote) {
        this.#inString = false;
        return at;
      }
      if (byte !== backslash) continue;
      // What is escaped may come with the next chunk.
      if (at === held.length) this.#escaped = true;
      else at++;
    }
    return at;
  }

  #endArray(at: number, byte: number): Json[] | undefined {
    this.#at = at;
    this.#depth = 0;
    this.#ended = true;
    if (byte !== closeBracket) return this.#breakOff('unexpected closing brace', at - 1);
    const isBlank = this.#held.subarray(this.#elementStart, at - 1).every(isJsonWhitespace);
    if (isBlank && this.#given + this.#inGroup > 0)
      return this.#breakOff('unexpected end after a comma', at - 1);
    if (isBlank) {
      this.#groupStart = at;
      return undefined;
    }
    this.#inGroup++;
    return this.#takeGroup(at - 1);
  }

  /**
   * The array is broken in the element that began last; the ended ones of its group are given out
   * before that is told.
   */
  #breakOff(reason: string, at: number): Json[] {
    this.#broken = this.#error(reason, at);
    if (this.#inGroup === 0) throw this.#broken;
    return this.#takeGroup(this.#elementStart - 1);
  }

  /**
   * Parses the elements from the group's start to `end`; those before a broken one are given out
   * before it is told.
   */
  #takeGroup(end: number): Json[] {
    const start = this.#groupStart;
    const text = this.#held.toString('utf8', start, end);
    let elements: Json[] | undefined;
    try {
      elements = parseReadings(`[${text}]`) as Json[];
    } catch {
      elements = undefined;
    }
    if (elements === undefined || elements.length !== this.#inGroup)
      elements = this.#soundElements(start, end);
    this.#given += elements.length;
    this.#inGroup = 0;
    this.#groupStart = end + 1;
    if (elements.length === 0 && this.#broken !== undefined) throw this.#broken;
    return elements;
  }

  /** Parses a broken group one by one: rare, so that it may be slow. */
  #soundElements(start: number, end: number): Json[] {
    const elements: Json[] = [];
    for (const [from, to] of elementBounds(this.#held, start, end)) {
      try {
        elements.push(parseReadings(this.#held.toString('utf8', from, to)));
      } catch (error) {
        this.#broken = this.#errorOf(elements.length, (error as Error).message, from, to);
        return elements;
      }
    }
    throw new Error('A group of sound elements could not be parsed');
  }

  #errorOf(inGroup: number, message: string, from: number, to: number): BrokenJson {
    const { reason, offset } = parseFault(message, this.#held.toString('utf8', from, to));
    const index = this.#given + inGroup;
    return new BrokenJson(reason, { index, byte: this.#dropped + from + offset });
  }

  #error(reason: string, at: number): BrokenJson {
    const index = this.#given + this.#inGroup;
    return new BrokenJson(reason, { index, byte: this.#dropped + at });
  }
}

/**
 * Where the elements between the places begin and end; the bytes were scanned before, so brackets
 * and strings are whole.
 */
function* elementBounds(
  held: Buffer,
  start: number,
  end: number,
): Generator<[from: number, to: number]> {
  let from = start;
  let depth = 0;
  let inString = false;
  for (let at = start; at < end; at++) {
    const byte = held[at]!;
    if (inString) {
      if (byte === backslash) at++;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === openBrace || byte === openBracket) depth++;
    else if (byte === closeBrace || byte === closeBracket) depth--;
    else if (byte === comma && depth === 0) {
      yield [from, at];
      from = at + 1;
    }
  }
  yield [from, end];
}
