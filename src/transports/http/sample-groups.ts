// Sample groups: the elements of an array or of lines, samples of one form as columns, all others parsed.
import {
  isJsonObject,
  isJsonWhitespace,
  type Json,
  jsonBytes,
  type JsonObject,
} from '../../model/json.ts';
import {
  BrokenJson,
  byteOrderMark,
  jsonArrayGroups,
  jsonGroupLimits,
  type JsonGroupLimits,
  jsonLineGroups,
} from './json-groups.ts';
import {
  type BodyForm,
  type SampleColumns,
  SampleScanner,
  type WrittenSamples,
} from './sample-scanner.ts';
import { largeWorkLimits } from '../large-work.ts';
import { giveBack } from '../../structures/bytes.ts';
import { atOnce, type InTurn } from '../../structures/turns.ts';
import { parseReadings } from '../../model/json-keys.ts';
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import { isEpochMs } from '../../model/timestamp.ts';
import { missing } from '../../structures/missing.ts';

export type SampleGroup = SampleColumns | readonly Json[];

export function isColumns(group: SampleGroup): group is SampleColumns {
  return 'timestamps' in group;
}

const { openBracket } = jsonBytes;

/**
 * Free groups of columns also end where the form of the samples or a chunk does. Fixed ones are those
 * of parsed elements, for any chunks, and have the bytes of their samples.
 */
type Grouping = 'free' | 'fixed';

/**
 * As `jsonArrayGroups`, but groups of samples of one form come as columns. From the first element
 * on that the scanner does not take, all are parsed. Throws BrokenJson.
 */
export async function* sampleGroups(
  chunks: AsyncIterable<Uint8Array>,
  grouping: Grouping = 'free',
  limits: JsonGroupLimits = jsonGroupLimits,
  inTurn: InTurn = atOnce,
): AsyncGenerator<SampleGroup> {
  const reader = new ColumnReader('array', grouping, limits);
  const body = chunks[Symbol.asyncIterator]();
  yield* columnGroups(reader, body, inTurn);
  if (reader.isLast) await passEnd(reader, body);
  else yield* jsonArrayGroups(reader.rest(body), limits, reader.place, inTurn);
}

/** The same for `jsonLineGroups`. */
export async function* sampleLineGroups(
  chunks: AsyncIterable<Uint8Array>,
  grouping: Grouping = 'free',
  limits: JsonGroupLimits = jsonGroupLimits,
  inTurn: InTurn = atOnce,
): AsyncGenerator<SampleGroup> {
  const reader = new ColumnReader('lines', grouping, limits);
  const body = chunks[Symbol.asyncIterator]();
  yield* columnGroups(reader, body, inTurn);
  if (!reader.isLast) yield* jsonLineGroups(reader.rest(body), limits, reader.place, inTurn);
}

type Chunks = AsyncIterator<Uint8Array>;

async function* columnGroups(
  reader: ColumnReader,
  body: Chunks,
  inTurn: InTurn,
): AsyncGenerator<SampleColumns> {
  for (let isEnded = false; !isEnded && !reader.isOther && !reader.isLast; ) {
    const next = await body.next();
    isEnded = next.done === true;
    if (next.done !== true) reader.add(next.value);
    for (;;) {
      const group = reader.isLong ? await inTurn(() => reader.next(isEnded)) : reader.next(isEnded);
      if (group === undefined) break;
      yield group;
    }
  }
}

/** Throws BrokenJson when unexpected data after the array. */
async function passEnd(reader: ColumnReader, body: Chunks): Promise<void> {
  reader.passByte();
  while (!reader.hasMore) {
    const next = await body.next();
    if (next.done === true) return;
    reader.add(next.value);
  }
  throw new BrokenJson('unexpected data after the array', reader.moreAt);
}

/** Bytes beyond those of a group before a scan, so that the last sample of the group is complete. */
const moreBytesShare = 1 / 8;

// A class, because the scan keeps its place between chunks.
class ColumnReader {
  /** The scanner does not take what comes next. */
  isOther = false;
  /** The bracket that ends the array comes next, or nothing. */
  isLast = false;
  readonly #form: BodyForm;
  readonly #isFixed: boolean;
  readonly #limits: JsonGroupLimits;
  readonly #scanner: SampleScanner;
  #held: Buffer = Buffer.alloc(0);
  /** Chunks behind those bytes: they are joined when there is enough for a group. */
  #chunks: Buffer[] = [];
  #chunkBytes = 0;
  /** Behind the bracket or the separator before the next element. */
  #at = 0;
  #isInside = false;
  /** Bytes of the body before those held. */
  #dropped = 0;
  #given = 0;
  #lines = 0;

  constructor(form: BodyForm, grouping: Grouping, limits: JsonGroupLimits) {
    this.#form = form;
    this.#isFixed = grouping === 'fixed';
    this.#limits = limits;
    this.#scanner = new SampleScanner(form, limits);
  }

  add(chunk: Uint8Array): void {
    this.#chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    this.#chunkBytes += chunk.byteLength;
  }

  #join(): void {
    if (this.#chunkBytes === 0) return;
    const left = this.#held.subarray(this.#at);
    const parts = left.length === 0 ? this.#chunks : [left, ...this.#chunks];
    const [only] = parts;
    this.#dropped += this.#at;
    this.#at = 0;
    const joined = only !== undefined && parts.length === 1 ? only : Buffer.concat(parts);
    // Fixed groups have the bytes of their samples.
    if (parts.length > 1 && !this.#isFixed)
      for (const one of [this.#held, ...this.#chunks]) giveBack(one);
    this.#held = joined;
    this.#chunks = [];
    this.#chunkBytes = 0;
  }

  /** Whether the next group is, or may be, work for a slice. */
  get isLong(): boolean {
    return this.#held.length - this.#at + this.#chunkBytes > largeWorkLimits.bytesMin;
  }

  /** The next group; undefined when more bytes are needed or the scanner does not take them. */
  next(isEnded: boolean): SampleColumns | undefined {
    if (this.isOther || this.isLast) return undefined;
    const { groupBytes } = this.#limits;
    const enough = groupBytes * (1 + moreBytesShare);
    if (!isEnded && this.#held.length - this.#at + this.#chunkBytes < enough) return undefined;
    this.#join();
    if (!this.#findStart(isEnded)) return undefined;
    const held = this.#held.length - this.#at;
    const from = this.#at;
    const found = this.#scanner.scan(this.#held, from, isEnded);
    if (found === undefined || (this.#isFixed && !found.isWhole)) {
      // The element may continue in the next chunk.
      const left = held - ((found?.end ?? from) - from);
      this.isOther = isEnded || left > groupBytes;
      return undefined;
    }
    this.#given += found.samples.length;
    this.#lines += found.lines;
    this.#at = found.end;
    this.isLast = found.isLast;
    if (!this.#isFixed) return found.samples;
    const bytes = this.#held.subarray(from, found.end);
    return { ...found.samples, written: { form: this.#form, bytes } };
  }

  /** The first element that `rest` begins with, and where. */
  get place() {
    const byte = this.#isInside ? this.#dropped + this.#at - this.#opening.length : 0;
    return { index: this.#given, byte, line: this.#lines };
  }

  /** What was not taken, as a separate body. */
  async *rest(body: Chunks): AsyncGenerator<Uint8Array> {
    this.#join();
    if (this.#isInside) yield this.#opening;
    yield this.#held.subarray(this.#at);
    for (let next = await body.next(); next.done !== true; next = await body.next())
      yield next.value;
  }

  passByte(): void {
    this.#at++;
  }

  /** Whether anything but white space is held. */
  get hasMore(): boolean {
    this.#join();
    while (isJsonWhitespace(this.#held[this.#at])) this.#at++;
    return this.#at < this.#held.length;
  }

  get moreAt() {
    return { index: this.#given, byte: this.#dropped + this.#at };
  }

  get #opening(): Uint8Array {
    return this.#form === 'array' ? Buffer.from('[') : Buffer.alloc(0);
  }

  #findStart(isEnded: boolean): boolean {
    if (this.#isInside) return true;
    const start = this.#form === 'array' ? this.#arrayStart() : this.#lineStart(isEnded);
    if (start === undefined) return false;
    this.#at = start;
    this.#isInside = true;
    return true;
  }

  #arrayStart(): number | undefined {
    let at = this.#dropped === 0 && this.#startsMarked() ? byteOrderMark.length : 0;
    while (isJsonWhitespace(this.#held[at])) at++;
    if (at === this.#held.length) return undefined;
    this.isOther = this.#held[at] !== openBracket;
    return this.isOther ? undefined : at + 1;
  }

  /** A byte order mark, which few clients send before lines, is left to the parser. */
  #lineStart(isEnded: boolean): number | undefined {
    if (this.#held.length < byteOrderMark.length && !isEnded) return undefined;
    this.isOther = this.#startsMarked();
    return this.isOther ? undefined : 0;
  }

  #startsMarked(): boolean {
    return byteOrderMark.every((byte, i) => this.#held[i] === byte);
  }
}

// Sample elements: samples that were read as columns, as the elements of the request that they were.

/**
 * The samples of the rows, or all, as elements of a request: exactly those that were sent when their
 * bytes were kept.
 */
export function elementsOf(
  samples: SampleColumns,
  rows: Iterable<number> = samples.timestamps.keys(),
): Json[] {
  if (samples.written === undefined) return elementsOfColumns(samples, rows);
  const elements = parsed(samples.written);
  return Array.from(rows, (row) => elements[row] ?? missing('element'));
}

function parsed({ form, bytes }: WrittenSamples): Json[] {
  const written = bytes.toString();
  const elements = form === 'array' ? withoutComma(written) : joinedLines(written);
  return parseReadings(`[${elements}]`) as Json[];
}

function withoutComma(written: string): string {
  return written.endsWith(',') ? written.slice(0, -1) : written;
}

function joinedLines(written: string): string {
  return written
    .split('\n')
    .filter((line) => line.trim() !== '')
    .join(',');
}

function elementsOfColumns(
  { timestamps, topic, example, ...rest }: SampleColumns,
  rows: Iterable<number>,
): Json[] {
  return Array.from(rows, (row) => ({
    timestamp: timeText(timestamps[row] ?? missing('time')),
    data: dataOf(example, rest, row, { column: 0 }),
    ...(topic !== undefined && { topic }),
    ...(rest.deviceIds !== undefined && { deviceId: textOf(rest, rest.deviceIds[row]) }),
  }));
}

/** A number, unless it was written as a date that has no such number. */
function timeText(at: EpochMs): Json {
  return isEpochMs(at) ? at : formatInstant(at);
}

/** The data of a row: an object like the example, with the values of the columns in their order. */
function dataOf(
  example: JsonObject,
  samples: Pick<SampleColumns, 'columns' | 'kinds' | 'texts'>,
  row: number,
  next: { column: number },
): JsonObject {
  const data: Record<string, Json> = {};
  for (const key in example) {
    const value = example[key];
    if (isJsonObject(value)) {
      data[key] = dataOf(value, samples, row, next);
      continue;
    }
    const column = next.column++;
    const number = samples.columns[column]?.[row] ?? missing('value');
    const kind = samples.kinds[column];
    if (kind === 'text') data[key] = textOf(samples, number);
    else data[key] = kind === 'boolean' ? number === 1 : number;
  }
  return data;
}

function textOf(
  { texts }: { readonly texts: readonly string[] },
  index: number | undefined,
): string {
  return texts[index ?? -1] ?? missing('string');
}
