// Row binary: rows in the format RowBinary of ClickHouse, which keeps every double exactly.
import { ByteWriter } from '../../structures/bytes.ts';

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
