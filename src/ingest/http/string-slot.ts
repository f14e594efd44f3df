// String slots: JSON strings of a column, stored as indices of the distinct strings of a body.
import { jsonBytes } from '../../model/json-bytes.ts';
import type { ByteCursor } from './byte-cursor.ts';
import type { SlotReader } from './slot-reader.ts';

const { quote, backslash } = jsonBytes;

/** The distinct strings of all slots, numbered in the order of their first use. */
export class StringTable {
  readonly strings: string[] = [];
  readonly #ids = new Map<string, number>();

  idOf(string: string): number {
    let id = this.#ids.get(string);
    if (id === undefined) {
      id = this.strings.push(string) - 1;
      this.#ids.set(string, id);
    }
    return id;
  }
}

/** Longer strings are not kept. */
const keptCharsMax = 64;
/** Enough for the ids of a fleet of 100,000: about 20 MB with all strings. */
const keptMax = 1 << 18;

/**
 * Strings of ASCII that were read before, by a hash of their bytes: bodies bring the same device ids
 * and words again and again. A string with the hash of another takes its place.
 */
class KeptStrings {
  /** Empty until the first body. */
  #strings: (string | undefined)[] = [];

  read(bytes: Buffer, from: number, end: number, hash: number): string {
    if (this.#strings.length === 0) this.#strings = Array.from({ length: keptMax });
    const place = (hash ^ (hash >>> 15)) & (keptMax - 1);
    const kept = this.#strings[place];
    if (kept !== undefined && isSame(kept, bytes, from, end)) return kept;
    const string = bytes.toString('utf8', from, end);
    // Only strings of ASCII have as many characters as bytes.
    if (end - from <= keptCharsMax && string.length === end - from) this.#strings[place] = string;
    return string;
  }
}

function isSame(string: string, bytes: Uint8Array, from: number, end: number): boolean {
  if (string.length !== end - from) return false;
  for (let i = 0; i < string.length; i++)
    if (string.charCodeAt(i) !== bytes[from + i]) return false;
  return true;
}

const keptStrings = new KeptStrings();

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
    let end = from;
    let isPlain = true;
    let hash = 0;
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
    const written = keptStrings.read(bytes, from, end, hash);
    const string = isPlain ? written : unescaped(written);
    if (string === undefined) return false;
    const id = this.#table.idOf(string);
    this.#target[row] = id;
    if (isPlain) {
      this.#lastFrom = from;
      this.#lastLength = end - from;
      this.#lastId = id;
    }
    return true;
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
