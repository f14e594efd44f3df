// NDJSON reader: parses groups of lines while they arrive. Memory contains one group.
import { parseReadings } from '../../model/exact-json.ts';
import type { Json } from '../../model/json.ts';
import {
  BrokenJson,
  byteOrderMark,
  type JsonGroupLimits,
  jsonGroupLimits,
  parseFault,
} from './json-groups.ts';

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
): AsyncGenerator<readonly Json[]> {
  const reader = new LineReader(limits, start);
  for await (const chunk of chunks) {
    reader.add(chunk);
    yield* groupsOf(() => reader.next());
  }
  yield* groupsOf(() => reader.end());
}

/** Where the lines are in their body: the values, bytes and lines before them. */
interface LinesStart {
  readonly index: number;
  readonly byte: number;
  readonly line: number;
}

function* groupsOf(read: () => Json[] | undefined): Generator<readonly Json[]> {
  for (let group = read(); group !== undefined; group = read()) if (group.length > 0) yield group;
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
