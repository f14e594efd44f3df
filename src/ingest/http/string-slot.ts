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

interface LastString {
  readonly bytes: Uint8Array;
  readonly id: number;
}

/** A string that repeats the one before is compared as bytes and not decoded. */
export class StringSlot implements SlotReader {
  readonly #target: Float64Array;
  readonly #table: StringTable;
  #last: LastString | undefined;

  constructor(target: Float64Array, table: StringTable) {
    this.#target = target;
    this.#table = table;
  }

  read(cursor: ByteCursor, row: number): boolean {
    const { bytes, at: from } = cursor;
    const last = this.#last;
    if (last !== undefined && cursor.skip(last.bytes) && bytes[cursor.at] === quote) {
      this.#target[row] = last.id;
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
    cursor.at = end;
    const written = bytes.toString('utf8', from, end);
    const string = isPlain ? written : unescaped(written);
    if (string === undefined) return false;
    const id = this.#table.idOf(string);
    this.#target[row] = id;
    if (isPlain) this.#last = { bytes: bytes.subarray(from, end), id };
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
