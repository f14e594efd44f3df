// Values in statements of ClickHouse: rows in the format RowBinary, which keeps every double, and literals of SQL.
import { ByteWriter } from '../../structures/bytes.ts';

// SQL literals of ClickHouse, because 18.16 has no parameters over HTTP.

/** As a literal. */
export function quoted(text: string): string {
  return `'${text.replaceAll(/[\\'\0\b\f\n\r\t]/g, escaped)}'`;
}

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '\0': '\\0',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

function escaped(character: string): string {
  return escapes[character] ?? character;
}

/** A list for `in`, which must not be empty. */
export function listOf(texts: readonly string[]): string {
  return `(${texts.map(quoted).join(',')})`;
}

export function arrayOf(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(',')}]`;
}

/** A whole number as Int64; times that are out of its range become its bounds. */
export function int64(value: number): string {
  if (value >= 2 ** 63) return 'toInt64(9223372036854775807)';
  if (value < -(2 ** 53)) return 'toInt64(-9223372036854775807)';
  return `toInt64(${Math.ceil(value)})`;
}

/** A class, because it is used for every value. Values are given in the order of the columns. */
export class RowBinary {
  readonly #to = new ByteWriter(64 * 1024);
  #rows = 0;

  get rows(): number {
    return this.#rows;
  }

  get bytes(): Buffer {
    return this.#to.written();
  }

  endRow(): void {
    this.#rows += 1;
  }

  uint8(value: number): void {
    this.#to.byte(value);
  }

  uint16(value: number): void {
    this.#to.byte(value & 255);
    this.#to.byte(value >>> 8);
  }

  uint32(value: number): void {
    this.#to.word(value);
  }

  /** Also UInt64. Whole numbers from -2^53 to 2^53. */
  int64(value: number): void {
    this.#to.word(value >>> 0);
    this.#to.word(Math.floor(value / 2 ** 32));
  }

  float64(value: number): void {
    this.#to.double(value);
  }

  string(text: string): void {
    this.#to.string(text);
  }
}
