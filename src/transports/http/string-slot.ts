// String slots: JSON strings of a column, stored as indices of the distinct strings of a body.
import { jsonBytes } from '../../model/json.ts';
import { textKey } from '../../structures/hash-tables.ts';

const { quote, backslash } = jsonBytes;

/** Counts the tables, so that a kept string knows whether its number is one of this table. */
let tables = 0;

/** The distinct strings of all slots, numbered in the order of their first use. */
export class StringTable {
  readonly strings: string[] = [];
  readonly id = ++tables;
  readonly #ids = new Map<string, number>();

  idOf(string: string): number {
    const key = textKey(string);
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = this.strings.push(string) - 1;
      this.#ids.set(key, id);
    }
    return id;
  }
}

/** Longer strings are not kept. */
const keptBytesMax = 64;
/** Enough for the ids of a fleet of 100,000: about 40 MB with all strings. */
const keptMax = 1 << 18;

/**
 * Strings of ASCII that were read before, by a hash of their bytes: bodies bring the same device ids
 * and words again and again. A string with the hash of another takes its place.
 */
class KeptStrings {
  // Memory that is never used is never taken from the system.
  readonly #strings: (string | undefined)[] = Array.from({ length: keptMax });
  readonly #lengths = new Uint8Array(keptMax);
  readonly #bytes = new Uint8Array(keptMax * keptBytesMax);
  readonly #view = new DataView(this.#bytes.buffer);
  /** The table that asked last, and the number of the string in it. */
  readonly #tables = new Float64Array(keptMax);
  readonly #ids = new Int32Array(keptMax);

  idOf(
    { bytes, view }: ByteCursor,
    from: number,
    end: number,
    hash: number,
    table: StringTable,
  ): number {
    const place = (hash ^ (hash >>> 15)) & (keptMax - 1);
    const kept = this.#strings[place];
    if (kept === undefined || !this.#isSame(place, { bytes, view }, from, end)) {
      const string = bytes.toString('utf8', from, end);
      // Only strings of ASCII have as many characters as bytes.
      if (string.length !== end - from || end - from > keptBytesMax) return table.idOf(string);
      this.#keep(place, string, bytes.subarray(from, end));
      return this.#noteId(place, string, table);
    }
    return this.#tables[place] === table.id ? this.#ids[place]! : this.#noteId(place, kept, table);
  }

  #isSame(
    place: number,
    { bytes, view }: Pick<ByteCursor, 'bytes' | 'view'>,
    from: number,
    end: number,
  ): boolean {
    if (this.#lengths[place] !== end - from) return false;
    let at = from;
    let keptAt = place * keptBytesMax;
    for (; at + 4 <= end; at += 4, keptAt += 4)
      if (view.getInt32(at) !== this.#view.getInt32(keptAt)) return false;
    for (; at < end; at++, keptAt++) if (bytes[at] !== this.#bytes[keptAt]) return false;
    return true;
  }

  #keep(place: number, string: string, bytes: Uint8Array): void {
    this.#strings[place] = string;
    this.#lengths[place] = bytes.length;
    this.#bytes.set(bytes, place * keptBytesMax);
  }

  #noteId(place: number, string: string, table: StringTable): number {
    const id = table.idOf(string);
    this.#tables[place] = table.id;
    this.#ids[place] = id;
    return id;
  }
}

let keptStrings: KeptStrings | undefined;

const ones = 0x0101_0101;
const highBits = 0x8080_8080 | 0;

/** Whether one of four bytes is a quote, a backslash or a control character. */
function isAnySpecial(word: number): boolean {
  const quotes = word ^ (ones * quote);
  const backslashes = word ^ (ones * backslash);
  const found =
    ((quotes - ones) & ~quotes) |
    ((backslashes - ones) & ~backslashes) |
    ((word - ones * 0x20) & ~word);
  return (found & highBits) !== 0;
}

/** A string that repeats the one before in the same bytes is compared with it and not decoded. */
export class StringSlot implements SlotReader {
  readonly #target: Float64Array;
  readonly #table: StringTable;
  #lastFrom = 0;
  /** Without a string before, no string repeats it. */
  #lastLength = Number.POSITIVE_INFINITY;
  #lastId = 0;

  constructor(target: Float64Array, table: StringTable) {
    this.#target = target;
    this.#table = table;
  }

  read(cursor: ByteCursor, row: number): boolean {
    const { bytes, at: from } = cursor;
    if (this.#repeatsLast(bytes, from)) {
      cursor.at = from + this.#lastLength;
      this.#target[row] = this.#lastId;
      return true;
    }
    const { view } = cursor;
    let end = from;
    let isPlain = true;
    let hash = 0;
    for (const last = bytes.length - 4; end <= last; end += 4) {
      const word = view.getInt32(end);
      if (isAnySpecial(word)) break;
      hash = Math.imul(hash ^ word, 0x0100_0193);
      hash ^= hash >>> 13;
    }
    for (; bytes[end] !== quote; end++) {
      const byte = bytes[end];
      if (byte === undefined || byte < 0x20) return false;
      hash = Math.imul(hash ^ byte, 0x0100_0193);
      if (byte === backslash) {
        isPlain = false;
        end++;
      }
    }
    cursor.at = end;
    keptStrings ??= new KeptStrings();
    const id = isPlain
      ? keptStrings.idOf(cursor, from, end, hash, this.#table)
      : this.#idOfEscaped(bytes.toString('utf8', from, end));
    if (id === undefined) return false;
    this.#target[row] = id;
    if (isPlain) {
      this.#lastFrom = from;
      this.#lastLength = end - from;
      this.#lastId = id;
    }
    return true;
  }

  #idOfEscaped(written: string): number | undefined {
    const string = unescaped(written);
    return string === undefined ? undefined : this.#table.idOf(string);
  }

  #repeatsLast(bytes: Uint8Array, from: number): boolean {
    const length = this.#lastLength;
    if (bytes[from + length] !== quote) return false;
    const before = this.#lastFrom;
    for (let i = 0; i < length; i++) if (bytes[from + i] !== bytes[before + i]) return false;
    return true;
  }
}

/** Undefined for an escape that JSON does not have. */
function unescaped(written: string): string | undefined {
  try {
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return undefined;
  }
}

// Byte cursor: a position in the bytes of a body that the readers of values move forward, and their contract.

/** Bytes that a body is compared with: four at a time, then the rest. */
export class FixedBytes {
  readonly length: number;
  /** The first bytes, as words; the others are behind them. */
  readonly words: Int32Array;
  readonly rest: Uint8Array;

  constructor(bytes: Uint8Array) {
    const { length } = bytes;
    const view = new DataView(bytes.buffer, bytes.byteOffset, length);
    this.length = length;
    this.words = Int32Array.from({ length: length >> 2 }, (_, i) => view.getInt32(i * 4, true));
    // A slice of a buffer would keep its body in memory.
    this.rest = Uint8Array.from(bytes.subarray(length & ~3));
  }
}

/** A class, so that every cursor has the same hidden class: it is read once per byte of a body. */
export class ByteCursor {
  readonly bytes: Buffer;
  /** The same bytes, for reads of words. */
  readonly view: DataView;
  at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** Moves behind `expected` when it follows at the cursor; returns whether it does. */
  skip({ length, words, rest }: FixedBytes): boolean {
    const { bytes, view } = this;
    let at = this.at;
    if (at + length > bytes.length) return false;
    for (let i = 0; i < words.length; i++, at += 4)
      if (view.getInt32(at, true) !== words[i]) return false;
    for (let i = 0; i < rest.length; i++, at++) if (bytes[at] !== rest[i]) return false;
    this.at = at;
    return true;
  }
}

// Slot reader: the contract of the classes that read one value of a sample into a column.

/** The readers of numbers, booleans, strings and times implement it. */
export interface SlotReader {
  /**
   * Reads the value at the cursor into `row` of the column and moves the cursor behind the value.
   * Returns false for a value of another form; the cursor may have moved then.
   */
  read(cursor: ByteCursor, row: number): boolean;
}
