// Sample groups: the elements of a JSON array, samples of one form as columns, all others parsed as they arrive.
import { isJsonWhitespace, jsonBytes } from '../../model/json-bytes.ts';
import type { Json } from '../../model/json.ts';
import { jsonArrayGroups } from './json-array.ts';
import { BrokenJson, byteOrderMark, type JsonGroupLimits, jsonGroupLimits } from './json-groups.ts';
import { createSampleScanner, type SampleColumns } from './sample-scanner.ts';

export type SampleGroup = SampleColumns | readonly Json[];

export function isColumns(group: SampleGroup): group is SampleColumns {
  return 'timestamps' in group;
}

const { comma, openBracket, closeBracket } = jsonBytes;

/**
 * As `jsonArrayGroups`, but groups of samples of one form come as columns. From the first element
 * on that the scanner does not take, all are parsed. Throws BrokenJson.
 */
export async function* sampleGroups(
  chunks: AsyncIterable<Uint8Array>,
  limits: JsonGroupLimits = jsonGroupLimits,
): AsyncGenerator<SampleGroup> {
  const reader = new ColumnReader(limits);
  const body = chunks[Symbol.asyncIterator]();
  for (let isEnded = false; !isEnded && !reader.isOther && !reader.hasEnd; ) {
    const next = await body.next();
    isEnded = next.done === true;
    if (next.done !== true) reader.add(next.value);
    for (let group = reader.next(isEnded); group !== undefined; group = reader.next(isEnded))
      yield group;
  }
  if (reader.hasEnd) await reader.passEnd(body);
  else yield* jsonArrayGroups(reader.rest(body), limits, reader.place);
}

// A class, because the scan keeps its place between chunks.
class ColumnReader {
  /** The scanner does not take what comes next. */
  isOther = false;
  /** The bracket that ends the array is what comes next. */
  hasEnd = false;
  readonly #limits: JsonGroupLimits;
  readonly #scanner = createSampleScanner();
  #held: Buffer = Buffer.alloc(0);
  /** Behind the bracket or the comma before the next element. */
  #at = 0;
  #isInside = false;
  /** Bytes of the body before those held. */
  #dropped = 0;
  #given = 0;

  constructor(limits: JsonGroupLimits) {
    this.#limits = limits;
  }

  add(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const left = this.#held.subarray(this.#at);
    this.#dropped += this.#at;
    this.#at = 0;
    this.#held = left.length === 0 ? bytes : Buffer.concat([left, bytes]);
  }

  /** The next group; undefined when more bytes are needed or the scanner does not take them. */
  next(isEnded: boolean): SampleColumns | undefined {
    if (this.isOther || this.hasEnd || (!this.#isInside && !this.#findStart())) return undefined;
    const { groupElementsMax, groupBytes, elementBytesMax } = this.#limits;
    const held = this.#held.length - this.#at;
    // A group is as large as one of parsed elements.
    if (!isEnded && held < groupBytes) return undefined;
    const found = this.#scanner.scan(this.#held, this.#at, groupElementsMax);
    if (found === undefined) {
      // The element may continue in the next chunk.
      this.isOther = isEnded || held > elementBytesMax;
      return undefined;
    }
    this.#given += found.samples.length;
    this.#passSeparator(found.end);
    return found.samples;
  }

  /** The first element that `rest` begins with, and where. */
  get place(): { readonly index: number; readonly byte: number } {
    return { index: this.#given, byte: this.#isInside ? this.#dropped + this.#at - 1 : 0 };
  }

  /** What was not taken, as a separate array. */
  async *rest(body: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
    if (this.#isInside) yield Buffer.from('[');
    yield this.#held.subarray(this.#at);
    for (let next = await body.next(); next.done !== true; next = await body.next())
      yield next.value;
  }

  /** Throws BrokenJson when there is more behind the array. */
  async passEnd(body: AsyncIterator<Uint8Array>): Promise<void> {
    this.#at++;
    for (;;) {
      this.#at = this.#passWhitespace(this.#at);
      if (this.#at < this.#held.length) {
        const place = { index: this.#given, byte: this.#dropped + this.#at };
        throw new BrokenJson('there is more behind the array', place);
      }
      const next = await body.next();
      if (next.done === true) return;
      this.add(next.value);
    }
  }

  #findStart(): boolean {
    let at = this.#dropped === 0 && this.#startsMarked() ? byteOrderMark.length : 0;
    while (isJsonWhitespace(this.#held[at])) at++;
    if (at === this.#held.length) return false;
    this.isOther = this.#held[at] !== openBracket;
    if (this.isOther) return false;
    this.#at = at + 1;
    this.#isInside = true;
    return true;
  }

  #startsMarked(): boolean {
    return byteOrderMark.every((byte, i) => this.#held[i] === byte);
  }

  #passSeparator(end: number): void {
    this.#at = this.#passWhitespace(end);
    this.hasEnd = this.#held[this.#at] === closeBracket;
    if (this.#held[this.#at] === comma) this.#at++;
  }

  #passWhitespace(from: number): number {
    let at = from;
    while (isJsonWhitespace(this.#held[at])) at++;
    return at;
  }
}
